from collections import Counter
from itertools import combinations

import numpy as np
import pytest
import spacy
import strategies
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc, Span

from spacy_klsh.pipeline.candidates import Candidates
from spacy_klsh.pipeline.entity_pairs import EntityPairs

VOCAB = spacy.blank("en").vocab
LABELS = ("A", "B")


def make(n, spans, starts=None, key=None):
    """`n` tokens with spans (start, end, label, id) as entities, or as ``doc.spans[key]``."""
    doc = Doc(VOCAB, words=["w"] * n, sent_starts=starts)
    spans = [Span(doc, s, e, label=label, span_id=name) for s, e, label, name in spans]
    if key is None:
        doc.ents = spans
    else:
        doc.spans[key] = spans
    return doc


def entities(*places):
    return [(start, end, "A", f"e{i}") for i, (start, end) in enumerate(places)]


def named(candidates):
    """Pairs of (start, end, label, id)."""
    spans = [(s.start, s.end, s.label_, s.id_) for s in candidates.entities]
    return [tuple(spans[i] for i in row) for row in candidates.arguments.tolist()]


def naive_pairs(doc, spans, settings, ordered):
    """Pairs and counts of what is skipped, from the definitions."""
    number = {token.i: i for i, sent in enumerate(doc.sents) for token in sent}
    allowed = settings["entity_pairs"]
    rows, skipped = [], Counter()
    for x, y in combinations(sorted(spans, key=lambda s: (s[0], -s[1], *s[2:])), 2):
        orders = [
            pair for pair in ((x, y), (y, x)) if not allowed or [pair[0][2], pair[1][2]] in allowed
        ]
        if not ordered and orders:
            orders = [(x, y)]
        touched = max(number[x[1] - 1], number[y[1] - 1]) - number[x[0]] + 1
        if touched > settings["max_sentences"]:
            skipped["cross_sentence"] += 1
        elif settings["max_tokens"] is not None and y[0] - x[1] > settings["max_tokens"]:
            skipped["max_tokens"] += 1
        elif not orders:
            skipped["entity_labels"] += 1
        elif len(rows) + len(orders) > settings["max_candidates"]:
            skipped["max_candidates"] += 1
        else:
            rows += orders
    return rows, dict(skipped)


@st.composite
def problems(draw):
    """Tokens, sentence starts, and spans, some of them across sentences."""
    n = draw(st.integers(1, 9))
    starts = [True, *(draw(st.booleans()) for _ in range(n - 1))]
    spans = []
    for i in range(draw(st.integers(0, 6))):
        start = draw(st.integers(0, n - 1))
        end = draw(st.integers(start + 1, n))
        spans.append((start, end, draw(st.sampled_from(LABELS)), f"e{i}"))
    return n, starts, spans


SETTINGS = st.fixed_dictionaries(
    {
        "max_tokens": st.one_of(st.none(), st.integers(1, 4)),
        "max_sentences": st.integers(1, 3),
        "max_candidates": st.integers(1, 12),
        "entity_pairs": st.lists(
            st.lists(st.sampled_from(LABELS), min_size=2, max_size=2), max_size=2
        ),
    }
)


@strategies.THOROUGH
@given(problems(), SETTINGS, st.booleans())
def test_pairs_and_all_counts_equal_a_double_loop(problem, settings, ordered):
    n, starts, spans = problem
    doc = make(n, spans, starts, key="e")
    candidates = EntityPairs(spans_key="e", **settings)(doc, ordered=ordered)
    assert (named(candidates), candidates.skipped) == naive_pairs(doc, spans, settings, ordered)


@strategies.THOROUGH
@given(problems(), st.randoms())
def test_the_order_of_the_spans_changes_nothing(problem, random):
    n, starts, spans = problem
    shuffled = random.sample(spans, len(spans))
    first, second = (
        EntityPairs(spans_key="e")(make(n, order, starts, key="e")) for order in (spans, shuffled)
    )
    assert named(first) == named(second)


def test_entities_of_the_doc_are_the_default():
    doc = make(4, entities((0, 1), (3, 4)))
    doc.spans["e"] = [doc[0:1], doc[1:2], doc[2:3]]
    assert EntityPairs().entities(doc) == doc.ents
    assert len(EntityPairs(spans_key="e").entities(doc)) == 3


def test_a_missing_span_group_means_no_entities():
    candidates = EntityPairs(spans_key="e")(make(4, entities((0, 1), (3, 4))))
    assert len(candidates) == 0 and candidates.entities == ()


def test_of_nested_spans_with_one_start_the_longer_comes_first():
    doc = make(4, entities((0, 1), (0, 3)), key="e")
    (pair,) = named(EntityPairs(spans_key="e")(doc, ordered=False))
    assert pair == ((0, 3, "A", "e1"), (0, 1, "A", "e0"))


def test_spans_that_differ_in_their_id_alone_are_two_entities():
    doc = make(3, entities((1, 2), (1, 2)), key="e")
    assert named(EntityPairs(spans_key="e")(doc)) == [
        ((1, 2, "A", "e0"), (1, 2, "A", "e1")),
        ((1, 2, "A", "e1"), (1, 2, "A", "e0")),
    ]


@pytest.mark.parametrize(
    ("allowed", "ordered", "found"),
    [
        ([["B", "A"]], True, ["BA"]),
        ([["A", "B"]], True, ["AB"]),
        ([["B", "A"], ["A", "B"]], True, ["BA", "AB"]),
        ([["A", "B"]], False, ["BA"]),
        ([["A", "A"]], True, []),
    ],
)
def test_entity_pairs_are_head_and_tail_in_either_order_of_the_text(allowed, ordered, found):
    doc = make(3, [(0, 1, "B", ""), (2, 3, "A", "")])
    candidates = EntityPairs(entity_pairs=allowed)(doc, ordered=ordered)
    assert [head[2] + tail[2] for head, tail in named(candidates)] == found
    assert candidates.skipped == ({} if found else {"entity_labels": 1})


@pytest.mark.parametrize(("max_tokens", "n"), [(None, 1), (3, 1), (2, 0)])
def test_max_tokens_counts_the_tokens_between_the_two(max_tokens, n):
    doc = make(5, entities((0, 1), (4, 5)))
    candidates = EntityPairs(max_tokens=max_tokens)(doc, ordered=False)
    assert len(candidates) == n
    assert candidates.skipped == ({} if n else {"max_tokens": 1})


@pytest.mark.parametrize(("max_sentences", "n"), [(1, 0), (2, 2), (3, 3)])
def test_max_sentences_counts_the_sentences_touched(max_sentences, n):
    doc = make(3, entities((0, 1), (1, 2), (2, 3)), [True] * 3)
    candidates = EntityPairs(max_sentences=max_sentences)(doc, ordered=False)
    assert len(candidates) == n
    assert candidates.skipped.get("cross_sentence", 0) == 3 - n


@pytest.mark.parametrize(
    ("max_sentences", "found"), [(1, ["cd"]), (2, ["ab", "ac", "ad", "bc", "bd", "cd"])]
)
def test_an_entity_across_a_sentence_boundary_touches_both_sentences(max_sentences, found):
    starts = [True, False, False, False, True, False]
    spans = [(0, 2, "a", ""), (3, 5, "b", ""), (5, 6, "c", ""), (5, 6, "d", "")]
    doc = make(6, spans, starts, key="e")
    candidates = EntityPairs(spans_key="e", max_sentences=max_sentences)(doc, ordered=False)
    assert [head[2] + tail[2] for head, tail in named(candidates)] == found
    assert candidates.skipped.get("cross_sentence", 0) == 6 - len(found)


def test_without_known_sentences_the_doc_is_one():
    assert len(EntityPairs()(make(3, entities((0, 1), (2, 3))))) == 2


@pytest.mark.parametrize(("ordered", "kept"), [(True, 4), (False, 5)])
def test_pairs_over_the_cap_are_counted_once_each(ordered, kept):
    doc = make(4, entities((0, 1), (1, 2), (2, 3), (3, 4)))
    candidates = EntityPairs(max_candidates=5)(doc, ordered=ordered)
    assert len(candidates) == kept
    assert candidates.skipped == {"max_candidates": 6 - kept // (1 + ordered)}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_tokens": 0}, "max_tokens is 0; give at least 1"),
        ({"max_sentences": 0}, "max_sentences is 0"),
        ({"max_candidates": -1}, "max_candidates is -1"),
        ({"entity_pairs": [["A"]]}, "head label, tail label"),
        ({"entity_pairs": [["A", "B", "C"]]}, "head label, tail label"),
    ],
)
def test_bad_settings_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        EntityPairs(**settings)


@pytest.mark.parametrize("n", [0, 1])
def test_fewer_than_two_entities_give_no_candidates(n):
    candidates = EntityPairs()(make(2, entities((0, 1))[:n]))
    assert len(candidates) == 0
    assert candidates.arguments.shape == (0, 2) and candidates.spans.shape == (0, 4)


def test_spans_hold_token_offsets_and_minus_one_for_an_absent_role():
    doc = make(5, entities((0, 2), (3, 4)))
    rows = np.array([[1, 0, -1], [0, -1, 1]], np.int32)
    candidates = Candidates(("head", "tail", "place"), doc.ents, rows)
    assert candidates.spans.tolist() == [[3, 4, 0, 2, -1, -1], [0, 2, -1, -1, 3, 4]]
    assert candidates.spans.dtype == np.int32


def test_stored_arguments_name_role_offsets_label_and_id_and_skip_absent_roles():
    doc = make(3, [(0, 1, "A", "x"), (1, 3, "B", "y")])
    candidates = Candidates(("head", "tail", "place"), doc.ents, np.zeros((0, 3), np.int32))
    assert candidates.record_arguments([1, -1, 0]) == (
        ("head", 2, 5, "B", "y"),
        ("place", 0, 1, "A", "x"),
    )


def test_an_empty_doc_has_no_candidates():
    assert len(EntityPairs()(Doc(VOCAB, words=[]))) == 0


def test_a_pair_in_another_sentence_is_counted_as_that_and_not_as_far():
    starts = [True, False, False, False, False, False, False, False, True]
    spans = [(0, 1, "A", "e0"), (3, 4, "A", "e1"), (8, 9, "A", "e2")]
    doc = make(9, spans, starts, key="e")
    candidates = EntityPairs(spans_key="e", max_tokens=1)(doc)
    assert candidates.skipped == {"max_tokens": 1, "cross_sentence": 2}
