from dataclasses import replace

import numpy as np
import pytest
import spacy
import strategies
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc, Span

from spacy_klsh.pipeline.candidates import EntityPairs
from spacy_klsh.pipeline.labels import DIRECTIONS, LabelScheme, best_threshold
from spacy_klsh.pipeline.relations import Argument, Record

DOC = Doc(spacy.blank("en").vocab, words=["a", "b", "c"])
DOC.ents = [Span(DOC, i, i + 1, label="E") for i in range(3)]
A, B, C = (Argument.of("", span) for span in DOC.ents)
PAIRS = [(A, B), (A, C), (B, C)]
LABELS = ("FOUNDED", "LIKES")
directions = pytest.mark.parametrize("direction", DIRECTIONS)


def relation(label, head, tail):
    return Record(label, 1.0, (head._replace(role="head"), tail._replace(role="tail")))


def scheme_and_candidates(direction, labels=LABELS):
    return LabelScheme(labels, direction), EntityPairs()(DOC, ordered=direction == "ordered")


def targets(direction, *gold):
    """Class of each candidate that is not "no relation", by (first, second) of a pair."""
    scheme, candidates = scheme_and_candidates(direction)
    y, lost = scheme.targets(candidates, gold)
    words = [span.text for span in candidates.entities]
    rows = candidates.arguments.tolist()
    found = {
        words[i] + words[j]: scheme.classes[c] for (i, j), c in zip(rows, y.tolist(), strict=True)
    }
    return {pair: c for pair, c in found.items() if c[0]}, lost


@pytest.mark.parametrize(
    ("direction", "forward", "backward"),
    [
        ("ordered", {"ab": ("FOUNDED", False)}, {"ba": ("FOUNDED", False)}),
        ("label", {"ab": ("FOUNDED", False)}, {"ab": ("FOUNDED", True)}),
        ("none", {"ab": ("FOUNDED", False)}, {"ab": ("FOUNDED", False)}),
    ],
)
def test_each_direction_has_its_own_targets(direction, forward, backward):
    nothing = {"unreachable": 0, "second_label": 0}
    assert targets(direction, relation("FOUNDED", A, B)) == (forward, nothing)
    assert targets(direction, relation("FOUNDED", B, A)) == (backward, nothing)


@directions
def test_class_zero_is_no_relation_and_labels_double_with_their_direction(direction):
    classes = LabelScheme(LABELS, direction).classes
    assert classes[0] == ("", False)
    assert len(classes) == (5 if direction == "label" else 3)
    assert len(set(classes)) == len(classes)


@directions
def test_a_pair_keeps_its_first_label_and_the_second_is_counted(direction):
    found, lost = targets(direction, relation("FOUNDED", A, B), relation("LIKES", A, B))
    assert list(found.values()) == [("FOUNDED", False)]
    assert lost == {"unreachable": 0, "second_label": 1}


@directions
def test_the_same_label_twice_is_not_a_second_label(direction):
    _, lost = targets(direction, *[relation("FOUNDED", A, B)] * 2)
    assert lost["second_label"] == 0


@pytest.mark.parametrize(("direction", "n"), [("ordered", 0), ("label", 1), ("none", 0)])
def test_a_label_in_both_directions_is_too_much_for_direction_label_alone(direction, n):
    _, lost = targets(direction, relation("FOUNDED", A, B), relation("FOUNDED", B, A))
    assert lost == {"unreachable": 0, "second_label": n}


ELSEWHERE = A._replace(start=0, end=3)


@directions
@pytest.mark.parametrize(
    "gold",
    [
        relation("FOUNDED", A, ELSEWHERE),
        relation("FOUNDED", A, A),
        relation("UNKNOWN", A, B),
        Record("FOUNDED", 1.0, (A._replace(role="head"),)),
    ],
    ids=["no such entity", "with itself", "no such label", "no tail"],
)
def test_gold_without_a_candidate_is_counted_as_unreachable(direction, gold):
    found, lost = targets(direction, gold)
    assert found == {}
    assert lost == {"unreachable": 1, "second_label": 0}


def test_ordered_gold_never_takes_the_candidate_of_the_other_order():
    scheme = LabelScheme(LABELS)
    both = EntityPairs()(DOC)
    forward = replace(both, arguments=both.arguments[:1])
    y, lost = scheme.targets(forward, [relation("FOUNDED", B, A)])
    assert y.tolist() == [0]
    assert lost == {"unreachable": 1, "second_label": 0}


@strategies.THOROUGH
@given(st.sampled_from(DIRECTIONS), st.data())
def test_targets_of_what_was_predicted_are_the_predicted_classes(direction, data):
    scheme, candidates = scheme_and_candidates(direction)
    n = len(scheme.classes)
    y = np.array([data.draw(st.integers(0, n - 1)) for _ in range(len(candidates))])
    records = scheme.records(candidates, np.eye(n, dtype=np.float32)[y], dict.fromkeys(LABELS, 0.5))
    found, lost = scheme.targets(candidates, records)
    assert len(records) == (y > 0).sum()
    assert not any(lost.values())
    assert found.dtype == np.int64 and found.tolist() == y.tolist()


def predicted(rows, thresholds, direction="none"):
    scheme, candidates = scheme_and_candidates(direction)
    probabilities = np.zeros((len(candidates), len(scheme.classes)), np.float32)
    probabilities[: len(rows)] = rows
    records = scheme.records(candidates, probabilities, thresholds)
    return [(r.label, round(r.score, 3), r.arguments[0].start // 2) for r in records]


@pytest.mark.parametrize(
    ("thresholds", "found"),
    [
        ((0.6, 0.3), [("FOUNDED", 0.6, 0), ("LIKES", 0.3, 0)]),
        ((0.61, 0.31), []),
        ((0.7, 0.2), [("LIKES", 0.3, 0)]),
        ((0.0, 1.0), [("FOUNDED", 0.6, 0), ("FOUNDED", 0.0, 1)]),
    ],
)
def test_the_best_label_is_attached_where_it_reaches_its_own_threshold(thresholds, found):
    rows = [(0.1, 0.6, 0.3), (0.5, 0.2, 0.3)]
    assert predicted(rows, dict(zip(LABELS, thresholds, strict=True))) == found


def test_scores_are_plain_floats_for_json():
    scheme, candidates = scheme_and_candidates("none")
    rows = np.full((3, 3), 1 / 3, np.float32)
    (record, *_) = scheme.records(candidates, rows, dict.fromkeys(LABELS, 0.1))
    assert type(record.score) is float


def test_no_labels_or_no_candidates_give_no_records():
    scheme, candidates = scheme_and_candidates("none", labels=())
    assert scheme.records(candidates, np.ones((3, 1), np.float32), {}) == []
    scheme, none = LabelScheme(LABELS), EntityPairs(entity_pairs=[["X", "X"]])(DOC)
    assert scheme.records(none, np.zeros((0, 3), np.float32), dict.fromkeys(LABELS, 0.0)) == []


def f1(scores, correct, n_gold, threshold):
    """F1 of the predictions that `LabelScheme.records` attaches."""
    kept = scores >= np.float32(threshold)
    right = int((kept & correct).sum())
    return 2 * right / (int(kept.sum()) + n_gold) if right else 0.0


GRID = np.array([0, 0.25, 0.5, 1], np.float32)
NEIGHBOURS = np.nextafter(GRID, np.float32(0.3))
SCORES = st.sampled_from([*GRID.tolist(), *NEIGHBOURS.tolist()])


@strategies.THOROUGH
@given(st.lists(st.tuples(SCORES, st.booleans()), max_size=8), st.integers(0, 3))
def test_the_threshold_has_the_best_f1_of_all(pairs, missed):
    scores = np.array([score for score, _ in pairs], np.float32)
    correct = np.array([right for _, right in pairs], bool) & (scores > 0)
    n_gold = int(correct.sum()) + missed
    best = max((f1(scores, correct, n_gold, t) for t in scores), default=0.0)
    threshold = best_threshold(scores, correct, n_gold)
    assert f1(scores, correct, n_gold, threshold) == best
    assert 0 < threshold <= 1


@pytest.mark.parametrize(
    ("scores", "correct", "threshold"),
    [
        ((0.9, 0.7, 0.1), (True, True, False), 0.4),
        ((0.1, 0.9, 0.7), (False, True, True), 0.4),
        ((0.8, 0.6), (True, True), 0.3),
        ((0.8, 0.8, 0.8, 0.2), (True, False, False, False), 0.5),
        ((0.8, 0.2), (False, False), 0.5),
        ((), (), 0.5),
        ((0.0, 0.0), (True, True), 0.5),
    ],
    ids=["between", "unsorted", "all kept", "ties stay together", "none right", "none", "zeros"],
)
def test_the_threshold_lies_half_way_to_the_first_one_left_out(scores, correct, threshold):
    scores, correct = np.array(scores, np.float32), np.array(correct, bool)
    found = best_threshold(scores, correct, n_gold=int(correct.sum()))
    assert type(found) is float
    assert found == pytest.approx(threshold)
