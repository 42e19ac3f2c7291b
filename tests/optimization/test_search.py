"""Searches for kernel parameters beside all of their values tried, and walks beside their odds."""

from collections import Counter
from copy import copy
from dataclasses import replace
from itertools import product
from math import exp

import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

from spacy_klsh.hashing.klsh import KLSH
from spacy_klsh.kernels.combine import CombinedKernel
from spacy_klsh.kernels.common_paths import CommonPathsKernel
from spacy_klsh.kernels.graph import GraphKernel
from spacy_klsh.kernels.shortest_path import ShortestPathKernel
from spacy_klsh.kernels.subsequence import SubsequenceKernel
from spacy_klsh.optimization import alternation, search
from spacy_klsh.optimization.alternation import STAGES, optimize
from spacy_klsh.optimization.kernel_parameters import (
    Slot,
    changed,
    edge_labels,
    learned,
    parameter_slots,
    sigma_slots,
    value_of,
    with_learned,
)
from spacy_klsh.optimization.leave_one_out import LeaveOneOut
from spacy_klsh.optimization.search import give_kernel, grid, metropolis, neighbour
from spacy_klsh.views import take

WORDS, VECTORS = strategies.corpus(80)
VIEWS = {"path": strategies.pack(WORDS, VECTORS)}
Y = np.array([sum("lemma=1" in word for _, word in path) % 2 for path in WORDS])
MEASURE = LeaveOneOut()
KERNELS = [
    SubsequenceKernel(),
    SubsequenceKernel(tokens="gaussian", length_weights=(1.0, 2.0, 0.5, 1.0)),
    GraphKernel(view="path", decay=0.4),
    CommonPathsKernel(view="path"),
    ShortestPathKernel(),
    CombinedKernel(kernels={"a": SubsequenceKernel(), "b": GraphKernel(view="path")}),
]


def fitted(kernel=None):
    kernel = kernel or SubsequenceKernel(max_length=2)
    return KLSH(kernel, n_references=8, n_bits=40).fit(VIEWS)


def fresh(hashing, kernel, rows):
    """The objective of a new hashing with `kernel` on the same references."""
    other = KLSH(kernel, n_references=8, n_bits=40)
    other.fit_reference(take(VIEWS, hashing.reference_rows_))
    return MEASURE(other.transform(take(VIEWS, rows)).bits(), Y[rows])


def test_a_grid_finds_the_best_of_all_combinations():
    hashing = fitted()
    slots = [Slot("decay", (0.3, 0.9)), Slot("max_length", (1, 2, 3))]
    rows = np.sort(np.random.default_rng([0, 3]).permutation(len(Y))[:60])
    records = list(grid(hashing, VIEWS, Y, slots, MEASURE, n_samples=60))
    expected = {
        (decay, length): fresh(hashing, SubsequenceKernel(decay=decay, max_length=length), rows)
        for decay, length in product(*(slot.ladder for slot in slots))
    }
    found = {tuple(record["change"].values()): record["objective"] for record in records[1:]}
    assert found == pytest.approx(expected)
    best = max(expected.values())
    assert records[-1]["best"] == pytest.approx(max(best, records[0]["objective"]))
    if best > records[0]["objective"]:
        kernel = hashing.kernel
        assert expected[kernel.decay, kernel.max_length] == pytest.approx(best)


def test_a_grid_that_is_too_large_is_refused():
    slots = [Slot(f"sigma/{k}", (0.0, 1.0)) for k in range(10)]
    with pytest.raises(ValueError, match=r"1,024 combinations, at most 1000.*metropolis"):
        list(grid(fitted(), VIEWS, Y, slots, MEASURE))


def test_a_walk_keeps_the_best_that_it_saw_and_says_what_it_saw():
    hashing = fitted()
    slots = parameter_slots(hashing.kernel, VIEWS) + sigma_slots(hashing.kernel, VIEWS)
    walk = list(metropolis(hashing, VIEWS, Y, slots, MEASURE, n_steps=60, n_samples=50))
    rng = np.random.default_rng([0, 4])
    rows = np.sort(rng.permutation(len(Y))[:50])
    last = fresh(hashing, hashing.kernel, rows)
    assert last > walk[-1]["best"] - len(slots) * MEASURE.temperature
    assert max(record["objective"] for record in walk) == pytest.approx(walk[-1]["best"])
    assert any(record["accepted"] for record in walk)
    assert not all(record["accepted"] for record in walk)


def test_a_walk_is_as_often_in_a_state_as_it_should_be(monkeypatch):
    """Against exp(objective / temperature) of all states: proposals are symmetric."""
    heights = {1: 0.0, 2: 0.002, 3: 0.001, 4: 0.0015}
    slot = Slot("max_length", tuple(heights))
    monkeypatch.setattr(search, "judge", lambda _, kernel, *__: heights[kernel.max_length])
    monkeypatch.setattr(search, "give_kernel", lambda *_: None)
    hashing, n_steps = fitted(), 20_000
    walk = metropolis(hashing, VIEWS, Y, [slot], MEASURE, n_steps=n_steps, patience=n_steps)
    state, seen, moves = 2, Counter(), {}
    moves = {r["step"]: r["change"]["max_length"] for r in walk if r["accepted"]}
    for step in range(n_steps):
        state = moves.get(step, state)
        seen[state] += 1
    total = sum(exp(height / MEASURE.temperature) for height in heights.values())
    for length, height in heights.items():
        odds = exp(height / MEASURE.temperature) / total
        assert seen[length] / n_steps == pytest.approx(odds, abs=0.03)


def test_a_walk_that_reaches_nothing_new_ends():
    walk = list(
        metropolis(fitted(), VIEWS, Y, [Slot("sigma/none", (0.0, 1.0))], MEASURE, patience=5)
    )
    assert len(walk) <= 6
    assert list(metropolis(fitted(), VIEWS, Y, [], MEASURE)) == []


def test_values_without_effect_go_back_to_what_they_were():
    hashing = fitted()
    slots = sigma_slots(hashing.kernel, VIEWS)
    list(metropolis(hashing, VIEWS, Y, slots, MEASURE, n_steps=80, n_samples=80))
    given = replace(hashing.kernel, sigma=None)
    rows = np.sort(np.random.default_rng([0, 4]).permutation(len(Y))[:80])
    present = fresh(hashing, hashing.kernel, rows)
    zeros = [label for label, value in (hashing.kernel.sigma or {}).items() if value == 0]
    assert fresh(hashing, given, rows) <= present + MEASURE.temperature
    for label in zeros:
        without = replace(hashing.kernel, sigma={**hashing.kernel.sigma, label: 1.0})
        assert fresh(hashing, without, rows) <= present + len(zeros) * MEASURE.temperature


@given(st.lists(st.floats(0, 10), min_size=2, max_size=6, unique=True).map(sorted), st.data())
def test_a_step_and_its_reverse(ladder, data):
    slot = Slot("decay", tuple(ladder))
    value = data.draw(st.sampled_from(ladder))
    direction = data.draw(st.sampled_from([-1, 1]))
    new = neighbour(slot, value, direction)
    if new is not None:
        assert new in ladder and new != value
        assert value in (neighbour(slot, new, -1), neighbour(slot, new, 1))


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: type(kernel).__name__)
def test_every_slot_can_be_set_is_learned_and_restored(kernel):
    slots = parameter_slots(kernel, VIEWS) + sigma_slots(kernel, VIEWS)
    assert len({slot.name for slot in slots}) == len(slots) > 0
    for slot in slots:
        for value in slot.ladder:
            if slot.name.endswith("weights/0") and value == 0:
                continue  # all weights 0 is refused
            other = changed(kernel, slot.name, value, VIEWS)
            assert value_of(other, slot.name) == value
            assert with_learned(kernel, learned(kernel, other)) == other
    assert learned(kernel, copy(kernel)) == {} and with_learned(kernel, {}) == kernel


def test_what_cannot_matter_is_no_slot():
    bare = {"path": strategies.pack(WORDS, {})}
    names = [slot.name for slot in parameter_slots(SubsequenceKernel(), bare)]
    assert names == ["decay", "max_length"]
    names = [slot.name for slot in parameter_slots(SubsequenceKernel(), VIEWS)]
    assert names == ["decay", "max_length", "threshold"]
    equal = SubsequenceKernel(tokens="equality")
    assert [slot.name for slot in parameter_slots(equal, VIEWS)] == ["decay", "max_length"]


def test_edge_labels_have_no_direction():
    assert edge_labels(VIEWS["path"]) == sorted(
        {edge.strip("<>")[4:] for path in WORDS for edge, _ in path} - {""}
    )


@pytest.mark.parametrize(
    "values",
    [
        {"view": "words"},
        {"decay": 7.0},
        {"decay": "a"},
        {"sigma": 3},
        {"max_length": 10**9},
        {"a/decay": 0.5},
        {"": 1},
    ],
)
def test_learned_values_that_do_not_fit_are_refused(values):
    with pytest.raises(ValueError):
        with_learned(SubsequenceKernel(), values)


def test_another_kernel_on_the_same_references():
    hashing = fitted()
    rows = hashing.reference_rows_
    give_kernel(hashing, SubsequenceKernel(decay=0.2))
    assert (hashing.reference_rows_ == rows).all()
    other = KLSH(SubsequenceKernel(decay=0.2), n_references=8, n_bits=40).fit(VIEWS)
    np.testing.assert_array_equal(hashing.transform(VIEWS).words, other.transform(VIEWS).words)


@pytest.mark.parametrize("what", STAGES)
def test_a_stage_is_kept_only_if_other_structures_confirm_it(what, monkeypatch):
    monkeypatch.setattr(alternation, "MAX_GRID", 20)
    hashing, before = fitted(), fitted()
    trace = list(optimize(hashing, VIEWS, Y, what, seed=1))
    checks = [record for record in trace if record["stage"] == "check"]
    assert {record["of"] for record in checks} == set(STAGES[what])
    for check in checks:
        assert check["accepted"] == (check["after"] > check["before"])
    same = (hashing.transform(VIEWS).words == before.transform(VIEWS).words).all()
    assert same == (not any(check["accepted"] for check in checks))
    again = KLSH(hashing.kernel, n_references=8, n_bits=40)
    again.fit_reference(take(VIEWS, hashing.reference_rows_))
    np.testing.assert_array_equal(again.transform(VIEWS).words, hashing.transform(VIEWS).words)


def test_what_does_not_help_is_undone(monkeypatch):
    monkeypatch.setattr(alternation, "_steps", lambda h, *_: iter(give_kernel(h, WORSE) or ()))
    hashing = fitted(SubsequenceKernel(max_length=3))
    before = hashing.transform(VIEWS).words
    (check,) = optimize(hashing, VIEWS, Y, "kernel")
    assert not check["accepted"] and check["before"] > check["after"]
    assert hashing.kernel.max_length == 3
    np.testing.assert_array_equal(hashing.transform(VIEWS).words, before)


LABELS = {edge.strip("<>")[4:] for path in WORDS for edge, _ in path}
WORSE = SubsequenceKernel(interleaved=False, sigma=dict.fromkeys(LABELS, 0.0))  # nothing is alike
