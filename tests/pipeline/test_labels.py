from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import spacy
import strategies
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc, Span

from spacy_klsh.pipeline.candidates import Candidates
from spacy_klsh.pipeline.entity_pairs import EntityPairs
from spacy_klsh.pipeline.labels import DIRECTIONS, LabelScheme
from spacy_klsh.pipeline.relations import Argument, Record
from spacy_klsh.pipeline.thresholds import MIN_GOLD, best_threshold, choose_thresholds

DOC = Doc(spacy.blank("en").vocab, words=["a", "b", "c"])
DOC.ents = [Span(DOC, i, i + 1, label="E") for i in range(3)]
A, B, C = (Argument.of("", span) for span in DOC.ents)
PAIRS = [(A, B), (A, C), (B, C)]
LABELS = ("FOUNDED", "LIKES")
directions = pytest.mark.parametrize("direction", DIRECTIONS)


def relation(label, head, tail):
    return Record(label, 1.0, (head._replace(role="head"), tail._replace(role="tail")))


def scheme_and_candidates(direction, labels=LABELS, **settings):
    scheme = LabelScheme(labels, direction, **settings)
    return scheme, EntityPairs()(DOC, ordered=scheme.ordered)


def targets(direction, *gold, **settings):
    """Classes of each candidate that are not "no relation", by (first, second) of a pair."""
    scheme, candidates = scheme_and_candidates(direction, **settings)
    y, lost = scheme.targets(candidates, gold)
    assert y.dtype == bool and y.any(axis=1).all()
    words = [span.text for span in candidates.entities]
    found = {}
    for (i, j), row in zip(candidates.arguments.tolist(), y, strict=True):
        assert row[0] == (not row[1:].any())
        if not row[0]:
            found[words[i] + words[j]] = [scheme.classes[k] for k in np.flatnonzero(row)]
    return found, lost


@pytest.mark.parametrize(
    ("direction", "forward", "backward"),
    [
        ("ordered", {"ab": [("FOUNDED", False)]}, {"ba": [("FOUNDED", False)]}),
        ("label", {"ab": [("FOUNDED", False)]}, {"ab": [("FOUNDED", True)]}),
        ("none", {"ab": [("FOUNDED", False)]}, {"ab": [("FOUNDED", False)]}),
    ],
)
def test_each_direction_has_its_own_targets(direction, forward, backward):
    assert targets(direction, relation("FOUNDED", A, B)) == (forward, {})
    assert targets(direction, relation("FOUNDED", B, A)) == (backward, {})


@directions
def test_class_zero_is_no_relation_and_labels_double_with_their_direction(direction):
    classes = LabelScheme(LABELS, direction).classes
    assert classes[0] == ("", False)
    assert len(classes) == (5 if direction == "label" else 3)
    assert len(set(classes)) == len(classes)


@directions
def test_a_pair_keeps_its_first_label_and_the_second_is_counted(direction):
    found, lost = targets(direction, relation("FOUNDED", A, B), relation("LIKES", A, B))
    assert list(found.values()) == [[("FOUNDED", False)]]
    assert lost == {("second_label", "LIKES"): 1}


@directions
def test_the_same_label_twice_is_not_a_second_label(direction):
    _, lost = targets(direction, *[relation("FOUNDED", A, B)] * 2)
    assert lost == {}


@pytest.mark.parametrize(("direction", "n"), [("ordered", 0), ("label", 1), ("none", 0)])
def test_a_label_in_both_directions_is_too_much_for_direction_label_alone(direction, n):
    _, lost = targets(direction, relation("FOUNDED", A, B), relation("FOUNDED", B, A))
    assert lost == ({("second_label", "FOUNDED"): n} if n else {})


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
    assert lost == {("unreachable", gold.label): 1}


def test_ordered_gold_never_takes_the_candidate_of_the_other_order():
    scheme = LabelScheme(LABELS)
    both = EntityPairs()(DOC)
    forward = replace(both, arguments=both.arguments[:1])
    y, lost = scheme.targets(forward, [relation("FOUNDED", B, A)])
    assert y.tolist() == [[True, False, False]]
    assert lost == {("unreachable", "FOUNDED"): 1}


def attached(scheme, candidates, probabilities, thresholds):
    """Records, and rows of their candidates; what is turned names its spans turned."""
    (found,) = scheme.attached([candidates], probabilities, thresholds)
    for record, row, turned in found:
        named = candidates.record_arguments(candidates.arguments[row])
        order = [a.start for a in (named[::-1] if turned else named)]
        plain = [a.start for a in record.arguments]
        assert plain == (sorted(order) if scheme.is_symmetric(record.label) else order)
    return [each.record for each in found], [each.row for each in found]


SETTINGS = st.fixed_dictionaries(
    {
        "exclusive": st.booleans(),
        "symmetric": st.sets(st.sampled_from(LABELS)).map(frozenset),
    }
)


@strategies.THOROUGH
@given(st.sampled_from(DIRECTIONS), SETTINGS, st.data())
def test_what_was_predicted_is_what_its_targets_predict(direction, settings, data):
    scheme, candidates = scheme_and_candidates(direction, **settings)
    shape = len(candidates), len(scheme.classes)
    drawn = data.draw(st.lists(st.floats(0, 1, width=32), min_size=shape[0] * shape[1]))
    probabilities = np.array(drawn[: shape[0] * shape[1]], np.float32).reshape(shape)
    limits = dict.fromkeys(LABELS, 0.5)
    records, rows = attached(scheme, candidates, probabilities, limits)
    y, lost = scheme.targets(candidates, records)
    again, _ = attached(scheme, candidates, y.astype(np.float32), limits)
    if not lost:  # both orders of a symmetric label may compete with others for their pair
        assert {r._replace(score=1.0) for r in records} == set(again)
    assert not (lost and (not settings["exclusive"] or not settings["symmetric"]))
    assert len(records) == len(rows)


@directions
def test_without_exclusive_classes_a_pair_keeps_every_label(direction):
    gold = relation("FOUNDED", A, B), relation("LIKES", A, B)
    found, lost = targets(direction, *gold, exclusive=False)
    assert found == {"ab": [("FOUNDED", False), ("LIKES", False)]}
    assert lost == {}


def test_a_symmetric_label_is_gold_in_both_orders_and_predicted_once():
    found, _ = targets("ordered", relation("LIKES", B, A), symmetric=frozenset(["LIKES"]))
    assert found == {"ab": [("LIKES", False)], "ba": [("LIKES", False)]}
    scheme, candidates = scheme_and_candidates("ordered", symmetric=frozenset(["LIKES"]))
    probabilities = np.zeros((6, 3), np.float32)
    words = [span.text for span in candidates.entities]
    pairs = [words[i] + words[j] for i, j in candidates.arguments.tolist()]
    probabilities[pairs.index("ab"), 2], probabilities[pairs.index("ba"), 2] = 0.6, 0.9
    records, rows = attached(scheme, candidates, probabilities, dict.fromkeys(LABELS, 0.5))
    assert records == [relation("LIKES", A, B)._replace(score=pytest.approx(0.9))]
    assert rows == [pairs.index("ba")]


def test_a_symmetric_label_is_one_class_with_direction_label():
    scheme = LabelScheme(LABELS, "label", symmetric=frozenset(["LIKES"]))
    assert scheme.classes == [("", False), ("FOUNDED", False), ("FOUNDED", True), ("LIKES", False)]
    found, _ = targets("label", relation("LIKES", B, A), symmetric=frozenset(["LIKES"]))
    assert found == {"ab": [("LIKES", False)]}


def test_gold_of_a_negative_label_is_no_relation():
    scheme = LabelScheme(LABELS, negative=frozenset(["NOT"]))
    kept = relation("LIKES", A, B)
    assert scheme.gold([relation("NOT", A, C), kept, relation("NOT", A, B)]) == [kept]
    assert targets("ordered", relation("NOT", A, B), negative=frozenset(["NOT"])) == ({}, {})


def test_a_label_cannot_be_symmetric_and_negative():
    with pytest.raises(ValueError, match=r"\['NOT'\] stand in symmetric_labels and in negative"):
        LabelScheme(symmetric=frozenset(["NOT"]), negative=frozenset(["NOT", "X"]))


def test_each_label_on_its_own_is_attached_without_exclusive_classes():
    scheme, candidates = scheme_and_candidates("none", exclusive=False)
    probabilities = np.array([(0, 0.6, 0.7), (0, 0.6, 0.2), (0, 0.1, 0.2)], np.float32)
    thresholds = {"FOUNDED": 0.5, "LIKES": 0.65}
    records, rows = attached(scheme, candidates, probabilities, thresholds)
    assert [record.label for record in records] == ["FOUNDED", "LIKES", "FOUNDED"]
    assert rows == [0, 0, 1]


def chosen(n, lost=(), **settings):
    """Thresholds where FOUNDED is right from .4 on and LIKES, with n gold, from .8 on."""
    scores = np.linspace(0, 1, 101).astype(np.float32)
    nothing = np.zeros_like(scores)
    likes = np.flatnonzero(scores >= 0.8)[-n:] if n else []
    y = np.zeros((202, 3), bool)
    y[:101, 1] = scores >= 0.4
    y[101 + np.array(likes, int), 2] = True
    y[:, 0] = ~y.any(axis=1)
    first = np.stack([nothing, scores, nothing], axis=1)
    second = np.stack([nothing, nothing, scores], axis=1)
    probabilities = np.concatenate([first, second])
    scheme = LabelScheme(LABELS, **settings)
    return choose_thresholds(scheme, probabilities, y, Counter(lost))


def test_a_label_with_enough_gold_has_a_threshold_of_its_own():
    found = chosen(MIN_GOLD, exclusive=False)
    assert found == {"FOUNDED": pytest.approx(0.395), "LIKES": pytest.approx(0.805)}


def test_a_label_with_little_gold_shares_the_threshold_of_all():
    found = chosen(MIN_GOLD - 1, exclusive=False)
    assert 0.39 < found["LIKES"] < 0.79
    lost = {("unreachable", "LIKES"): 1}
    assert chosen(MIN_GOLD - 1, lost, exclusive=False)["LIKES"] == pytest.approx(0.815)


def test_exclusive_labels_share_one_threshold():
    (threshold,) = set(chosen(MIN_GOLD).values())
    assert threshold == chosen(MIN_GOLD - 1, exclusive=False)["LIKES"] != pytest.approx(0.805)


def predicted(rows, thresholds, direction="none"):
    scheme, candidates = scheme_and_candidates(direction)
    probabilities = np.zeros((len(candidates), len(scheme.classes)), np.float32)
    probabilities[: len(rows)] = rows
    records, _ = attached(scheme, candidates, probabilities, thresholds)
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
    (record, *_), _ = attached(scheme, candidates, rows, dict.fromkeys(LABELS, 0.1))
    assert type(record.score) is float


def test_no_labels_or_no_candidates_give_no_records():
    scheme, candidates = scheme_and_candidates("none", labels=())
    assert scheme.attached([candidates], np.ones((3, 1), np.float32), {}) == [[]]
    scheme, none = LabelScheme(LABELS), EntityPairs(entity_pairs=[["X", "X"]])(DOC)
    nothing = np.zeros((0, 3), np.float32)
    assert scheme.attached([none], nothing, dict.fromkeys(LABELS, 0.0)) == [[]]
    assert scheme.attached([], nothing, dict.fromkeys(LABELS, 0.0)) == []


@pytest.mark.parametrize("direction", ["ordered", "label", "none"])
def test_many_docs_at_once_have_what_each_has_alone(direction):
    scheme, candidates = scheme_and_candidates(direction)
    nothing = candidates.where(np.zeros(len(candidates), bool), "no_path")
    docs = [nothing, candidates, candidates, nothing, candidates]
    n = sum(map(len, docs))
    rows = np.random.default_rng(0).random((n, len(scheme.classes))).astype(np.float32)
    thresholds = dict.fromkeys(LABELS, 0.5)
    together, start = scheme.attached(docs, rows, thresholds), 0
    for found, doc in zip(together, docs, strict=True):
        alone = rows[start : start + len(doc)]
        assert [found] == scheme.attached([doc], alone, thresholds)
        start += len(doc)
    assert sum(map(len, together)) > 2


def f1(scores, correct, n_gold, threshold):
    """F1 of the predictions that `LabelScheme.attached` attaches."""
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


ROLES = ("trigger", "Theme", "Theme2", "Cause")
SWAPS = {"interchangeable": (("Theme", "Theme2"),)}


def event(label, **roles):
    return Record(label, 1.0, tuple(a._replace(role=role) for role, a in roles.items()))


def events(*rows):
    return Candidates(ROLES, DOC.ents, np.array(rows, np.int32).reshape(-1, len(ROLES)))


@pytest.mark.parametrize(
    ("gold", "row"),
    [
        (event("FOUNDED", trigger=B, Theme=A), 0),
        (event("FOUNDED", Theme=A, trigger=B), 0),
        (event("FOUNDED", trigger=B, Theme2=A), 0),
        (event("FOUNDED", trigger=B, Theme=A, Theme2=C), 1),
        (event("FOUNDED", trigger=B, Theme2=A, Theme=C), 1),
        (event("FOUNDED", trigger=B, Theme=A, Cause=C), 2),
        (event("FOUNDED", trigger=B, Theme=C, Cause=A), None),
        (event("FOUNDED", trigger=B, Theme=A, Cause=C._replace(end=99)), None),
        (event("FOUNDED", trigger=B, Theme=A, Site=C), None),
        (event("FOUNDED", head=B, tail=A), None),
    ],
)
def test_an_event_is_the_candidate_with_its_entities_in_its_roles(gold, row):
    scheme = LabelScheme(LABELS, **SWAPS)
    y, lost = scheme.targets(events((1, 0, -1, -1), (1, 0, 2, -1), (1, 0, -1, 2)), [gold])
    assert np.flatnonzero(y[:, 1]).tolist() == ([] if row is None else [row])
    assert lost == ({("unreachable", "FOUNDED"): 1} if row is None else {})


def test_attached_events_name_the_roles_that_are_there():
    scheme, candidates = LabelScheme(LABELS), events((1, 0, -1, 2), (1, 0, -1, -1))
    rows = np.array([(0.1, 0.7, 0.2), (0.1, 0.2, 0.7)], np.float32)
    records, _ = attached(scheme, candidates, rows, dict.fromkeys(LABELS, 0.5))
    assert [record._replace(score=1.0) for record in records] == [
        event("FOUNDED", trigger=B, Theme=A, Cause=C),
        event("LIKES", trigger=B, Theme=A),
    ]


def test_interchangeable_roles_are_one_gold_relation_in_either_order():
    one = event("LIKES", trigger=B, Theme=A, Theme2=C)
    other = event("LIKES", trigger=B, Theme=C, Theme2=A)
    assert LabelScheme(LABELS, **SWAPS).gold([other, one]) == [one]
    assert LabelScheme(LABELS).gold([other, one]) == [other, one]


@pytest.mark.parametrize(
    "settings", [{"direction": "label"}, {"direction": "none"}, {"symmetric": frozenset(["LIKES"])}]
)
def test_more_than_two_roles_must_be_ordered(settings):
    scheme = LabelScheme(LABELS, **settings)
    with pytest.raises(ValueError, match=r"roles trigger, Theme, Theme2, Cause.*set direction"):
        scheme.targets(events((1, 0, -1, -1)), [])
