from collections import deque

import numpy as np
import pytest
import spacy
import strategies
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc, Span

from spacy_klsh.pipeline import extraction
from spacy_klsh.pipeline.candidates import Candidates
from spacy_klsh.pipeline.extraction import ATTRIBUTES, ViewExtractor

VOCAB = spacy.blank("en").vocab
#                0       1      2        3       4     5      6      7
WORDS = ("The", "Board", "of", "Lumen", "hired", "Ada", "Park", "today")
HEADS = (1, 4, 1, 2, 4, 6, 4, 4)
DEPS = ("det", "nsubj", "prep", "pobj", "ROOT", "compound", "dobj", "npadvmod")


def make(words=WORDS, heads=HEADS, deps=DEPS, vocab=VOCAB, **annotation):
    return Doc(vocab, words=list(words), heads=list(heads), deps=list(deps), **annotation)


def candidates(doc, *places, rows=((0, 1),)):
    """Pairs of the spans (start, end[, label]) that `rows` name."""
    spans = tuple(Span(doc, s, e, label=(*label, "X")[0]) for s, e, *label in places)
    return Candidates(("head", "tail"), spans, np.array(rows, np.int32).reshape(-1, 2))


def paths(doc, *places, rows=((0, 1),), **settings):
    found = candidates(doc, *places, rows=rows)
    structures = ViewExtractor(**{"blind": False, **settings})([doc], [found])["path"]
    assert len(structures) == len(found)
    return [structures.words(i) for i in range(len(structures))]


def path(*arguments, **settings):
    return paths(*arguments, **settings)[0]


def edges(nodes):
    return [edge.removeprefix("dep=") for edge, *_ in nodes]


def lemmas(nodes):
    return [node[1].removeprefix("lemma=") for node in nodes]


BOARD, LUMEN, HIRED, PARK, ADA = (1, 2), (3, 4), (4, 5), (5, 7), (5, 6)


@pytest.mark.parametrize(
    ("head", "tail", "words", "arcs"),
    [
        (BOARD, PARK, ["board", "hired", "park"], ["", "nsubj<", "dobj>"]),
        (PARK, BOARD, ["park", "hired", "board"], ["", "dobj<", "nsubj>"]),
        (LUMEN, HIRED, ["lumen", "of", "board", "hired"], ["", "pobj<", "prep<", "nsubj<"]),
        (HIRED, LUMEN, ["hired", "board", "of", "lumen"], ["", "nsubj>", "prep>", "pobj>"]),
        (PARK, (6, 7), ["park"], [""]),
        (PARK, ADA, ["park", "ada"], ["", "compound>"]),
        (BOARD, BOARD, ["board"], [""]),
    ],
    ids=["siblings", "turned", "tail above", "head above", "one root", "nested", "same"],
)
def test_a_path_names_each_arc_and_its_direction(head, tail, words, arcs):
    found = path(make(), head, tail)
    assert (lemmas(found), edges(found)) == (words, arcs)


def test_a_span_with_two_roots_stands_where_spacy_says():
    doc = make(["a", "b", "c", "d"], (1, 3, 3, 3), ("w", "x", "y", "ROOT"))
    assert doc[0:3].root.i == 1
    assert edges(path(doc, (0, 3), (3, 4))) == ["", "x<"]


def test_a_pair_without_a_connecting_path_has_length_zero_and_keeps_its_place():
    doc = make(["a", "b", "c", "d"], (0, 0, 2, 2), ("ROOT", "x", "ROOT", "y"))
    found = paths(doc, (1, 2), (3, 4), (2, 3), rows=[(0, 1), (1, 2), (0, 2)])
    assert list(map(edges, found)) == [[], ["", "y<"], []]


def test_blinded_ends_show_their_label_alone():
    found = path(make(), (1, 2, "ORG"), (5, 7, "PERSON"), blind=True)
    assert found == [
        ("dep=", "label=ORG"),
        ("dep=nsubj<", "lemma=hired"),
        ("dep=dobj>", "label=PERSON"),
    ]


def test_blinded_paths_do_not_depend_on_the_words_of_the_entities():
    other = make(("Our", "Team", "of", "Orbit", "hired", "Bo", "Xu", "today"))
    places = (3, 4, "ORG"), (5, 7, "PERSON"), (1, 2, "ORG")
    assert path(make(), *places, blind=True) == path(other, *places, blind=True)


def test_a_blinded_entity_inside_the_path_shows_its_label():
    places = (3, 4, "ORG"), (5, 7, "PERSON"), (0, 2, "TEAM"), (1, 2, "INNER")
    nodes = path(make(), *places, blind=True)
    assert [node[1] for node in nodes] == [
        "label=ORG",
        "lemma=of",
        "label=TEAM",
        "lemma=hired",
        "label=PERSON",
    ]


def test_a_label_fills_every_attribute():
    nodes = path(make(), (1, 2, "ORG"), (5, 7), blind=True, attributes=("lemma", "pos"))
    assert nodes[0] == ("dep=", "label=ORG", "label=ORG")


def test_each_attribute_describes_a_node():
    doc = make(
        pos=["X", "X", "X", "X", "VERB", "X", "X", "X"],
        tags=["T", "T", "T", "T", "VBD", "T", "T", "T"],
        lemmas=["l", "l", "l", "l", "hire", "l", "l", "l"],
    )
    doc[4].norm_ = "engaged"
    doc.ents = [Span(doc, 4, 5, label="EVENT")]
    (_, hired, _) = path(doc, BOARD, PARK, attributes=tuple(ATTRIBUTES))
    assert dict(pair.split("=") for pair in hired) == {
        "dep": "nsubj<",
        "lemma": "hire",
        "lower": "hired",
        "norm": "engaged",
        "pos": "VERB",
        "tag": "VBD",
        "ent_type": "EVENT",
    }


def test_a_missing_lemma_is_the_lower_case_word():
    lemma = ["", "", "", "", "hire", "", "", ""]
    assert lemmas(path(make(lemmas=lemma), BOARD, PARK)) == ["board", "hire", "park"]


def test_a_doc_without_a_parse_asks_for_a_parser():
    doc = Doc(VOCAB, words=["a", "b"])
    with pytest.raises(ValueError, match=r"no dependency parse.*add a parser"):
        ViewExtractor()([doc], [candidates(doc, (0, 1), (1, 2))])


def test_a_doc_without_candidates_needs_no_parse():
    doc = Doc(VOCAB, words=["a", "b"])
    views = ViewExtractor(attributes=("lemma", "pos"))([doc], [candidates(doc, (0, 1), rows=())])
    assert len(views["path"]) == 0
    assert views["path"].nodes.shape == (0, 3)


@pytest.mark.parametrize(
    "settings",
    [{"names": ("beside",)}, {"names": ()}, {"attributes": ("shape",)}, {"attributes": ()}],
)
def test_unknown_or_no_names_are_refused(settings):
    with pytest.raises(ValueError, match="choose at least one of"):
        ViewExtractor(**settings)


@pytest.fixture
def vocab():
    return with_vectors()


def with_vectors(**changes):
    vocab = spacy.blank("en").vocab
    vectors = {"lumen": (3, 4), "hired": (0, 2), "Park": (1, 0), "park": (0, 1), **changes}
    for word, vector in vectors.items():
        vocab.set_vector(word, np.array(vector, np.float32))
    return vocab


def vectors(doc, *places, extractor=None, **settings):
    """Rows of the symbols on the path, by symbol."""
    extractor = extractor or ViewExtractor(**{"blind": False, **settings})
    structures = extractor([doc], [candidates(doc, *places)])["path"]
    assert structures.vectors.shape[1] == doc.vocab.vectors_length
    return dict(zip(structures.symbols, structures.vectors.tolist(), strict=True))


def test_words_carry_unit_vectors_and_fall_back_to_lower_case(vocab):
    rows = vectors(make(vocab=vocab), LUMEN, PARK, attributes=("lower", "pos"))
    assert rows["lower=lumen"] == pytest.approx([0.6, 0.8])
    assert rows["lower=hired"] == [0, 1] and rows["lower=park"] == [0, 1]
    others = {symbol for symbol, row in rows.items() if row == [0, 0]}
    assert others >= {"lower=of", "lower=board", "dep=", "dep=dobj>", "pos="}


def test_a_word_with_its_own_vector_does_not_fall_back(vocab):
    lemmas = ["The", "Board", "of", "LUMEN", "hired", "Ada", "Park", "today"]
    rows = vectors(make(vocab=vocab, lemmas=lemmas), LUMEN, PARK)
    assert rows["lemma=LUMEN"] == pytest.approx([0.6, 0.8])
    assert rows["lemma=Park"] == [1, 0]


def test_labels_carry_no_vector_even_if_they_are_words(vocab):
    rows = vectors(make(vocab=vocab), (3, 4, "lumen"), PARK, blind=True)
    assert rows["label=lumen"] == [0, 0]


def test_without_word_vectors_the_dimension_is_zero():
    assert set(map(len, vectors(make(), LUMEN, PARK).values())) == {0}


def test_another_vocab_brings_its_own_vectors(vocab):
    other = spacy.blank("en").vocab
    other.set_vector("lumen", np.array([5, 0], np.float32))
    extractor = ViewExtractor(blind=False)
    for table, expected in ((vocab, [0.6, 0.8]), (other, [1, 0]), (vocab, [0.6, 0.8])):
        rows = vectors(make(vocab=table), LUMEN, HIRED, extractor=extractor)
        assert rows["lemma=lumen"] == pytest.approx(expected)


def test_the_bound_of_the_vector_cache_changes_nothing(vocab, monkeypatch):
    expected = vectors(make(vocab=vocab), LUMEN, PARK)
    monkeypatch.setattr(extraction, "MAX_CACHED_VECTORS", 1)
    extractor = ViewExtractor(blind=False)
    for _ in range(3):
        assert vectors(make(vocab=vocab), LUMEN, PARK, extractor=extractor) == expected


def words(structures):
    return [structures.words(i) for i in range(len(structures))]


@pytest.mark.parametrize("blind", [False, True])
def test_many_docs_at_once_give_what_each_gives_alone(vocab, blind):
    docs = [
        make(vocab=vocab),
        Doc(vocab, words=[]),
        make(vocab=vocab, heads=(1, 4, 1, 2, 4, 4, 5, 4), pos=["NOUN"] * 8),
        make(vocab=with_vectors()),
        make(vocab=vocab),
    ]
    found = [
        candidates(doc, (0, 4, "A"), LUMEN, PARK, rows=((0, 1), (1, 2), (2, 0)))
        if len(doc)
        else candidates(doc, rows=())
        for doc in docs
    ]
    extractor = ViewExtractor(attributes=("lemma", "pos"), blind=blind)
    joined = extractor(docs, found)["path"]
    alone = [
        words(extractor([doc], [pairs])["path"]) for doc, pairs in zip(docs, found, strict=True)
    ]
    assert words(joined) == [path for part in alone for path in part]
    assert len(joined) == 12


def test_docs_whose_vocabs_disagree_on_a_vector_are_refused(vocab):
    docs = [make(vocab=vocab), make(vocab=with_vectors(lumen=(0, 7)))]
    with pytest.raises(ValueError, match="two different vectors"):
        ViewExtractor(blind=False)(docs, [candidates(doc, LUMEN, HIRED) for doc in docs])


def naive_path(doc, start, end):
    """Shortest path by breadth-first search on the undirected tree, or no node."""
    arcs = [[] for _ in doc]
    for token in doc:
        if token.head.i != token.i:
            arcs[token.i].append((token.head.i, f"dep={token.dep_}<"))
            arcs[token.head.i].append((token.i, f"dep={token.dep_}>"))
    queue, seen = deque([[("dep=", start)]]), {start}
    while queue:
        nodes = queue.popleft()
        if nodes[-1][1] == end:
            return [(edge, f"lemma={doc[i].lower_}") for edge, i in nodes]
        for i, edge in arcs[nodes[-1][1]]:
            if i not in seen:
                seen.add(i)
                queue.append([*nodes, (edge, i)])
    return []


@st.composite
def forests(draw):
    """A Doc whose tokens hang in one or more random, not always projective, trees."""
    heads = draw(strategies.governors())
    n = len(heads)
    deps = [f"d{i % 3}" for i in range(n)]
    return make([f"W{i}" for i in range(n)], heads, deps)


@st.composite
def spans(draw, doc):
    start = draw(st.integers(0, len(doc) - 1))
    return start, draw(st.integers(start + 1, len(doc)))


@strategies.THOROUGH
@given(st.data())
def test_paths_equal_a_breadth_first_search(data):
    doc = data.draw(forests())
    places = [data.draw(spans(doc)) for _ in range(3)]
    rows = [(i, j) for i in range(3) for j in range(3)]
    roots = [doc[start:end].root.i for start, end in places]
    assert paths(doc, *places, rows=rows) == [naive_path(doc, roots[i], roots[j]) for i, j in rows]
