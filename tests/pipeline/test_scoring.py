import naive_scoring
import pytest
import spacy
import strategies
from hypothesis import given
from hypothesis import strategies as st
from pipeline import sentences
from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.vocab import Vocab

from spacy_klsh import Relation, register_extensions
from spacy_klsh.pipeline.entity_pairs import EntityPairs
from spacy_klsh.pipeline.labels import DIRECTIONS, LabelScheme
from spacy_klsh.pipeline.scoring import score_relations

VOCAB = Vocab()
WORDS = ("a", "b", "c", "d", "e")
LABELS = ("FOUNDED", "LIKES")
directions = pytest.mark.parametrize("direction", DIRECTIONS)


@pytest.fixture(autouse=True, scope="module")
def extensions():
    register_extensions()
    register_extensions("links")


def make(relations, entities=(), attr="relations"):
    """A Doc of `WORDS` with relations (label, head, tail) between (start, end)."""
    doc = Doc(VOCAB, words=WORDS, spaces=[False] * len(WORDS))
    doc.ents = [Span(doc, *place, label="E") for place in entities]
    if relations is not None:
        found = [Relation(r[0], head=doc[slice(*r[1])], tail=doc[slice(*r[2])]) for r in relations]
        doc._.set(attr, found)
    return doc


def scores(*docs, attr="relations", **settings):
    """Scores of (gold, found) relations, without the prefix."""
    examples = [Example(make(found, attr=attr), make(gold, attr=attr)) for gold, found in docs]
    found = score_relations(examples, attr=attr, **settings)
    prefix = "rel_" if attr == "relations" else f"{attr}_"
    return {name.removeprefix(prefix): value for name, value in found.items()}


def prf(found, prefix="micro"):
    return [round(found[f"{prefix}_{name}"], 4) for name in "prf"]


def as_characters(relations):
    """The same relations as the naive twin wants them."""
    doc = Doc(VOCAB, words=WORDS, spaces=[False] * len(WORDS))
    spans = [(r[0], doc[slice(*r[1])], doc[slice(*r[2])]) for r in relations]
    return [
        (label, {"head": (h.start_char, h.end_char), "tail": (t.start_char, t.end_char)})
        for label, h, t in spans
    ]


PLACES = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (3, 5)]
RELATIONS = st.lists(
    st.tuples(st.sampled_from(LABELS), st.sampled_from(PLACES), st.sampled_from(PLACES)),
    max_size=4,
)
DOCS = st.lists(st.tuples(RELATIONS, RELATIONS), min_size=1, max_size=2)


@st.composite
def schemes(draw):
    kinds = {label: draw(st.sampled_from(["plain", "symmetric", "negative"])) for label in LABELS}
    symmetric, negative = (
        frozenset(label for label, kind in kinds.items() if kind == wanted)
        for wanted in ("symmetric", "negative")
    )
    direction = draw(st.sampled_from(DIRECTIONS))
    return LabelScheme(direction=direction, symmetric=symmetric, negative=negative)


SCHEMES = schemes()


@strategies.THOROUGH
@given(DOCS, SCHEMES)
def test_scores_equal_the_naive_twin(docs, scheme):
    expected = naive_scoring.scores([tuple(map(as_characters, doc)) for doc in docs], scheme)
    found = scores(*docs, scheme=scheme)
    assert found.pop("per_type") == {
        label: pytest.approx(value) for label, value in expected.pop("per_type").items()
    }
    assert found == pytest.approx(expected)


@strategies.THOROUGH
@given(DOCS, SCHEMES)
def test_relaxed_scores_are_never_below_strict_ones(docs, scheme):
    found = scores(*docs, scheme=scheme)
    assert all(found[f"relaxed_micro_{name}"] >= found[f"micro_{name}"] for name in "prf")


@strategies.THOROUGH
@given(DOCS, st.randoms(), SCHEMES)
def test_the_order_of_relations_changes_nothing(docs, random, scheme):
    shuffled = [[random.sample(side, len(side)) for side in doc] for doc in docs]
    assert scores(*docs, scheme=scheme) == scores(*shuffled, scheme=scheme)


@strategies.THOROUGH
@given(st.lists(st.sampled_from(PLACES), max_size=4), RELATIONS, SCHEMES)
def test_candidate_recall_equals_the_naive_twin(entities, gold, scheme):
    doc = make([], ())
    doc.spans["e"] = [Span(doc, *place, label="E") for place in entities]
    generate = EntityPairs(spans_key="e", max_tokens=1)
    candidates = generate(doc, ordered=scheme.ordered)
    spans = [(s.start_char, s.end_char) for s in candidates.entities]
    offered = {tuple(spans[i] for i in row) for row in candidates.arguments.tolist()}
    if not scheme.ordered:
        offered |= {pair[::-1] for pair in offered}
    expected = naive_scoring.scores([(as_characters(gold), [])], scheme, [offered])
    found = score_relations([Example(doc, make(gold))], scheme=scheme, candidates=generate)
    assert found["rel_candidate_recall"] == pytest.approx(expected["candidate_recall"])


A, B, C = (0, 1), (1, 2), (3, 5)


def test_one_right_one_wrong_one_missed():
    gold, found = [("FOUNDED", A, B), ("LIKES", A, C)], [("FOUNDED", A, B), ("LIKES", B, C)]
    result = scores((gold, found))
    assert prf(result) == [0.5, 0.5, 0.5]
    assert result["per_type"]["FOUNDED"]["f"] == 1 and result["per_type"]["LIKES"]["f"] == 0
    assert result["macro_f"] == 0.5


def test_macro_f_is_the_mean_over_labels_in_gold_or_prediction():
    result = scores(([("FOUNDED", A, B)], [("FOUNDED", A, B), ("NEW", A, C)]))
    assert result["macro_f"] == 0.5
    assert result["per_type"]["NEW"] == {"p": 0.0, "r": 0.0, "f": 0.0}


@pytest.mark.parametrize(
    ("found", "strict", "relaxed"),
    [
        (("LIKES", (0, 2), (3, 5)), 1, 1),
        (("LIKES", (1, 2), (3, 4)), 0, 1),
        (("LIKES", (2, 3), (3, 5)), 0, 0),  # starts where the gold one ends
        (("FOUNDED", (0, 2), (3, 5)), 0, 0),
        (("LIKES", (3, 5), (0, 2)), 0, 0),
    ],
    ids=["same", "overlapping", "beside", "other label", "turned"],
)
def test_strict_wants_equal_offsets_and_relaxed_overlapping_ones(found, strict, relaxed):
    result = scores(([("LIKES", (0, 2), (3, 5))], [found]))
    assert (result["micro_f"], result["relaxed_micro_f"]) == (strict, relaxed)


def test_relaxed_matches_each_gold_relation_once():
    result = scores(([("LIKES", (0, 2), C)], [("LIKES", A, C), ("LIKES", B, C)]))
    assert prf(result, "relaxed_micro") == [0.5, 1.0, 0.6667]


@pytest.mark.parametrize(("direction", "f"), [("ordered", 0), ("label", 0), ("none", 1)])
def test_roles_may_be_swapped_only_where_the_direction_is_none(direction, f):
    assert (
        scores(([("LIKES", A, B)], [("LIKES", B, A)]), scheme=LabelScheme(direction=direction))[
            "micro_f"
        ]
        == f
    )


def test_without_direction_both_orders_are_one_relation():
    both = [("LIKES", A, B), ("LIKES", B, A)]
    assert prf(scores((both, both[:1]), scheme=LabelScheme(direction="none"))) == [1, 1, 1]
    assert prf(scores((both[1:], both), scheme=LabelScheme(direction="none"))) == [1, 1, 1]


def test_repeated_relations_count_once():
    assert prf(scores(([("LIKES", A, B)] * 2, [("LIKES", A, B)] * 3))) == [1, 1, 1]


def test_unannotated_docs_give_none_for_every_score():
    found = scores((None, [("LIKES", A, B)]))
    assert len(found) == 9 and set(found.values()) == {None}
    assert set(scores().values()) == {None}


def test_an_unannotated_doc_beside_others_is_left_out():
    annotated = ([("LIKES", A, B)], [("LIKES", A, B)])
    assert scores(annotated, (None, [("LIKES", A, C)])) == scores(annotated)


def test_docs_annotated_with_nothing_count_false_positives():
    assert prf(scores(([], [("LIKES", A, B)]))) == [0, 0, 0]
    both = scores(([], [("LIKES", A, B)]), ([("LIKES", A, B)], [("LIKES", A, B)]))
    assert prf(both) == [0.5, 1, 0.6667]


def test_another_attr_has_its_own_prefix_and_relations():
    examples = [Example(make([("LIKES", A, B)], attr="links"), make([], attr="links"))]
    found = score_relations(examples, attr="links")
    assert {name.split("_")[0] for name in found} == {"links"}
    assert scores(([("LIKES", A, B)], [("LIKES", A, B)]), attr="links")["micro_f"] == 1


@directions
def test_recall_of_candidates_counts_missed_entities_and_pairs_out_of_reach(direction):
    gold = make([("LIKES", A, B), ("LIKES", A, C), ("LIKES", B, (4, 5))])
    example = Example(make([], entities=[A, B, C]), gold)
    near, far = EntityPairs(max_tokens=1), EntityPairs()
    for generate, recall in ((near, 1 / 3), (far, 2 / 3)):
        found = score_relations(
            [example], scheme=LabelScheme(direction=direction), candidates=generate
        )
        assert found["rel_candidate_recall"] == pytest.approx(recall)
        assert found["rel_micro_r"] == 0


def with_entities(doc, chosen):
    """A prediction with these entities and every right relation between them."""
    found = sentences.bare(doc)
    found.ents = [Span(found, s.start, s.end, label=s.label_) for s in chosen]
    left = {(span.start, span.end) for span in found.ents}
    places = [
        (r.label, (r.head.start, r.head.end), (r.tail.start, r.tail.end)) for r in doc._.relations
    ]
    found._.relations = [
        Relation(label, head=found[slice(*head)], tail=found[slice(*tail)])
        for label, head, tail in places
        if {head, tail} <= left
    ]
    return found


MISSED = st.sets(st.tuples(st.integers(0, 6), st.integers(0, 3)))  # (Doc, entity)


@strategies.THOROUGH
@given(MISSED, MISSED, st.sampled_from(DIRECTIONS))
def test_missing_more_entities_never_raises_any_score(missed, more, direction):
    docs = sentences.corpus(VOCAB, 7)
    found = []
    for dropped in (missed, missed | more):
        kept = [
            [e for j, e in enumerate(d.ents) if (i, j) not in dropped] for i, d in enumerate(docs)
        ]
        examples = [Example(with_entities(*pair), pair[0]) for pair in zip(docs, kept, strict=True)]
        found.append(
            score_relations(
                examples, scheme=LabelScheme(direction=direction), candidates=EntityPairs()
            )
        )
    for name in ("micro_r", "micro_f", "macro_f", "relaxed_micro_f", "candidate_recall"):
        assert found[1][f"rel_{name}"] <= found[0][f"rel_{name}"]
    assert found[0]["rel_candidate_recall"] == found[0]["rel_micro_r"]


def test_the_pipeline_scores_missed_entities_as_missed_relations(trained):
    docs = sentences.corpus(trained.vocab, 7)
    examples = sentences.examples(docs)
    complete = trained.evaluate(examples)
    assert complete["rel_micro_f"] == 1
    examples = sentences.examples(docs)
    examples[0].predicted.ents = []
    found = trained.evaluate(examples)
    n_gold = sum(len(doc._.relations) for doc in docs)
    expected = 1 - len(docs[0]._.relations) / n_gold
    assert found["rel_micro_r"] == pytest.approx(expected)
    assert found["rel_candidate_recall"] == pytest.approx(expected)
    assert found["rel_micro_p"] == 1


def test_the_pipeline_without_a_scorer_has_no_scores():
    component = spacy.blank("en").add_pipe("klsh_relations", config={"scorer": None})
    assert component.score([]) == {}
