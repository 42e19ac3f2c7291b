from itertools import combinations

import naive_paths
import numpy as np
import pytest
import spacy
import strategies
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc, Span

from spacy_klsh.pipeline.candidates import Candidates
from spacy_klsh.pipeline.extraction import ViewExtractor
from spacy_klsh.structures import concat_views

VOCAB = spacy.blank("en").vocab
ROLES = ("trigger", "Theme", "Theme2", "Cause")
#          0       1             2       3     4       5     6
WORDS = ("Zap2", "facilitates", "bond", "of", "Zap1", "to", "actin")
HEADS, DEPS = (1, 1, 1, 2, 3, 2, 5), ("nsubj", "ROOT", "dobj", "prep", "pobj", "prep", "pobj")
PLACES = ((0, 1, "P"), (2, 3, "Binding"), (4, 5, "P"), (6, 7, "P"))


def make(words=WORDS, heads=HEADS, deps=DEPS):
    return Doc(VOCAB, words=list(words), heads=list(heads), deps=list(deps))


def candidates(doc, rows, places=PLACES, roles=ROLES):
    spans = tuple(Span(doc, a, b, label=label) for a, b, label in places)
    return Candidates(roles, spans, np.array(rows, np.int32).reshape(-1, len(roles)))


def views(doc, found, **settings):
    extractor = ViewExtractor(**{"names": ("path", "subtree"), "blind": False, **settings})
    return extractor([doc], [found])


def words(structures):
    """Nodes of each structure as (edge, word), or (edge, word, parent) of a tree."""
    found = []
    for i in range(len(structures)):
        nodes = [
            (edge.removeprefix("dep="), word.partition("=")[2])
            for edge, word in structures.words(i)
        ]
        if structures.parents is not None:
            a, b = structures.offsets[i : i + 2]
            nodes = [(*n, p) for n, p in zip(nodes, structures.parents[a:b].tolist(), strict=True)]
        found.append(nodes)
    return found


EVENT = (1, 2, 3, 0)


def test_a_path_is_the_way_from_the_trigger_to_each_role_in_turn():
    (path,) = words(views(make(), candidates(make(), [EVENT]))["path"])
    assert path == [
        ("", "bond"),
        ("role=Theme", "bond"),
        ("prep>", "of"),
        ("pobj>", "zap1"),
        ("role=Theme2", "bond"),
        ("prep>", "to"),
        ("pobj>", "actin"),
        ("role=Cause", "bond"),
        ("dobj<", "facilitates"),
        ("nsubj>", "zap2"),
    ]


def test_a_subtree_is_rooted_at_the_trigger_and_names_each_role_in_a_leaf():
    (tree,) = words(views(make(), candidates(make(), [EVENT]))["subtree"])
    assert tree == [
        ("", "bond", -1),
        ("prep>", "of", 0),
        ("pobj>", "zap1", 1),
        ("role=Theme", "Theme", 2),
        ("prep>", "to", 0),
        ("pobj>", "actin", 4),
        ("role=Theme2", "Theme2", 5),
        ("dobj<", "facilitates", 0),
        ("nsubj>", "zap2", 7),
        ("role=Cause", "Cause", 8),
    ]


def test_the_ways_to_two_roles_share_their_beginning_in_a_subtree():
    (tree,) = words(views(make(), candidates(make(), [(0, 2, 3, -1)]))["subtree"])
    assert [(word, parent) for _, word, parent in tree] == [
        ("zap2", -1),
        ("facilitates", 0),
        ("bond", 1),
        ("of", 2),
        ("zap1", 3),
        ("Theme", 4),
        ("to", 2),
        ("actin", 6),
        ("Theme2", 7),
    ]


def test_one_entity_in_another_role_is_another_structure():
    found = views(make(), candidates(make(), [(1, 2, -1, -1), (1, -1, -1, 2)]), blind=True)
    for structures in found.values():
        first, second = words(structures)
        assert first != second
        assert len(first) == len(second)


def test_an_absent_trigger_leaves_the_first_role_that_is_there_as_the_start():
    path, tree = (words(v)[0] for v in views(make(), candidates(make(), [(-1, 0, -1, 1)])).values())
    assert path == [
        ("", "zap2"),
        ("role=Theme", "zap2"),
        ("role=Cause", "zap2"),
        ("nsubj<", "facilitates"),
        ("dobj>", "bond"),
    ]
    assert [node[1] for node in tree] == ["zap2", "Theme", "facilitates", "bond", "Cause"]


def test_blinded_ends_show_their_label():
    found = views(make(), candidates(make(), [EVENT]), blind=True)
    assert [word for _, word in words(found["path"])[0]][:4] == ["Binding", "Binding", "of", "P"]
    assert [word for _, word, _ in words(found["subtree"])[0]][:4] == [
        "Binding",
        "of",
        "P",
        "Theme",
    ]


def test_a_role_that_no_path_reaches_leaves_nothing_of_the_candidate():
    doc = make(WORDS[:4], (0, 0, 2, 2), ("ROOT", "a", "ROOT", "b"))
    places = [(i, i + 1, "P") for i in range(4)]
    rows = [(0, 1, 2, -1), (0, 1, -1, -1), (2, 1, 3, -1), (2, 3, -1, -1)]
    found = views(doc, candidates(doc, rows, places))
    assert found["path"].lengths.tolist() == [0, 3, 0, 3]
    assert found["subtree"].lengths.tolist() == [0, 3, 0, 3]


def test_each_attribute_of_a_leaf_is_the_role():
    found = views(make(), candidates(make(), [EVENT]), attributes=("lemma", "pos"))
    assert found["subtree"].words(0)[3] == ("role=Theme",) * 3


def test_a_doc_without_candidates_has_empty_views_that_can_be_joined_with_others():
    empty = views(Doc(VOCAB), candidates(Doc(VOCAB), [], places=()))
    found = views(make(), candidates(make(), [EVENT]))
    joined = concat_views([empty, found])
    assert {name: words(v) for name, v in joined.items()} == {
        name: words(v) for name, v in found.items()
    }


@pytest.mark.parametrize("names", [("path",), ("subtree",), ("subtree", "path")])
def test_only_the_named_views_are_given(names):
    assert tuple(views(make(), candidates(make(), [EVENT]), names=names)) == names


def test_word_vectors_stay_with_their_words_and_roles_have_none():
    vocab = spacy.blank("en").vocab
    vocab.set_vector("of", np.array([0, 2], np.float32))
    doc = Doc(vocab, words=list(WORDS), heads=list(HEADS), deps=list(DEPS))
    for structures in views(doc, candidates(doc, [EVENT])).values():
        rows = dict(zip(structures.symbols, structures.vectors.tolist(), strict=True))
        assert rows.pop("lemma=of") == [0, 1]
        assert set(map(tuple, rows.values())) == {(0, 0)} and "role=Cause" in rows


@st.composite
def problems(draw):
    """A Doc of random trees, spans, and candidates of some of them in some of the roles."""
    heads = draw(strategies.governors())
    n = len(heads)
    doc = make([f"W{i}" for i in range(n)], heads, [f"d{i % 3}" for i in range(n)])
    places = []
    for i in range(4):
        start = draw(st.integers(0, n - 1))
        places.append((start, draw(st.integers(start + 1, n)), f"L{i}"))
    n_roles = draw(st.integers(2, 4))
    lowest = -1 if n_roles > 2 else 0
    row = st.lists(st.integers(lowest, 3), min_size=n_roles, max_size=n_roles)
    drawn = draw(st.lists(row.filter(lambda row: max(row) >= 0), max_size=5))
    return doc, candidates(doc, drawn, places, ROLES[:n_roles])


def shown(doc, entities, token, blind):
    labels = [e.label_ for e in entities if e.start <= token < e.end] if blind else []
    return labels[0] if labels else doc[token].lower_


def naive_piece(doc, entities, a, b, blind):
    """[token, edge, word] of each node on the way from entity `a` to entity `b`."""
    governors = [token.head.i for token in doc]
    found = naive_paths.path(governors, entities[a].root.i, entities[b].root.i)
    nodes = []
    for token, arc in found:
        edge = f"{doc[arc].dep_}{'>' if arc == token else '<'}" if arc >= 0 else ""
        nodes.append([token, edge, shown(doc, entities, token, blind)])
    if nodes and blind:
        nodes[0][2], nodes[-1][2] = entities[a].label_, entities[b].label_
    if len(nodes) == 1 and blind:
        nodes[0][2] = entities[b].label_
    return nodes


def naive_views(doc, found, row, blind):
    """Nodes of the path and of the subtree, as `words` gives them."""
    entities, roles = found.entities, found.roles
    if len(roles) == 2:
        pieces = [("", naive_piece(doc, entities, *row, blind))]
    else:
        first = next(j for j in row if j >= 0)
        pieces = [("", naive_piece(doc, entities, first, first, blind))]
        for role, j in list(zip(roles, row, strict=True))[1:]:
            if j >= 0:
                piece = naive_piece(doc, entities, first, j, blind)
                pieces.append((f"role={role}", piece))
    if not all(piece for _, piece in pieces):
        return [], []
    path, tree, places = [], [], {}
    for name, piece in pieces:
        above = -1
        for k, (token, edge, word) in enumerate(piece):
            path.append((edge if k else name, word))
            if token not in places:
                places[token] = len(tree)
                tree.append((edge, word, above))
            above = places[token]
        if name:
            tree.append((name, name.removeprefix("role="), above))
    return path, tree


@strategies.THOROUGH
@given(problems(), st.booleans())
def test_views_equal_a_breadth_first_search(problem, blind):
    doc, found = problem
    both = views(doc, found, blind=blind)
    expected = [naive_views(doc, found, row, blind) for row in found.arguments.tolist()]
    assert words(both["path"]) == [path for path, _ in expected]
    assert words(both["subtree"]) == [tree for _, tree in expected]


@strategies.THOROUGH
@given(problems())
def test_a_subtree_holds_the_ways_between_any_two_roles_and_nothing_else(problem):
    doc, found = problem
    trees = words(views(doc, found)["subtree"])
    governors = [token.head.i for token in doc]
    for row, tree in zip(found.arguments.tolist(), trees, strict=True):
        roots = [found.entities[j].root.i for j in row if j >= 0]
        ways = [naive_paths.path(governors, a, b) for a, b in combinations(roots, 2)]
        tokens = {token for way in ways for token, _ in way} | set(roots)
        own = [word for edge, word, _ in tree if not edge.startswith("role=")]
        assert not tree or sorted(own) == sorted(f"w{i}" for i in tokens)
        assert bool(tree) == all(ways)
