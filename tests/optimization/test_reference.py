"""The choice of references beside one that refits everything for every choice."""

from copy import copy

import numpy as np
import pytest
import strategies
from hypothesis import given, settings
from hypothesis import strategies as st
from joblib import parallel_config
from naive_reference import greedy_step, leave_one_out, with_reference

from spacy_klsh.hashing.families import FAMILIES
from spacy_klsh.hashing.klsh import KLSH
from spacy_klsh.kernels.subsequence import SubsequenceKernel
from spacy_klsh.optimization.exchange import Exchange
from spacy_klsh.optimization.information import MutualInformation
from spacy_klsh.optimization.leave_one_out import LeaveOneOut
from spacy_klsh.optimization.objective import drawn_rows
from spacy_klsh.optimization.reference import choose_references
from spacy_klsh.views import take

WORDS, VECTORS = strategies.corpus(90)
VIEWS = {"path": strategies.pack(WORDS, VECTORS)}
Y = np.array([sum("lemma=1" in word for _, word in path) % 3 for path in WORDS])


def fitted(family="kulis", n_references=8, n_bits=40, **settings):
    kernel = SubsequenceKernel(max_length=2)
    return KLSH(kernel, family=family, n_references=n_references, n_bits=n_bits, **settings).fit(
        VIEWS
    )


@settings(deadline=None, max_examples=30)
@given(
    st.integers(0, 2**32 - 1), st.integers(3, 12), st.integers(1, 9), st.sampled_from((0.1, 1.0))
)
def test_leaving_one_out_is_refitting_without_it(seed, n, n_bits, penalty):
    rng = np.random.default_rng(seed)
    bits = rng.integers(0, 2, (n, n_bits)).astype(np.uint8)
    y = rng.integers(-1, 2, n)
    y[:2] = 0, 1
    expected = leave_one_out(bits, y, penalty)
    assert LeaveOneOut(penalty=penalty)(bits, y) == pytest.approx(expected, abs=1e-4)


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 2**32 - 1), st.integers(1, 8))
def test_other_bits_are_exact(seed, n_bits):
    rng = np.random.default_rng(seed)
    bits = rng.integers(0, 2, (15, n_bits)).astype(np.uint8)
    y = rng.integers(-1, 3, 15)
    changing = np.flatnonzero(rng.integers(0, 2, n_bits))
    choices = rng.integers(0, 2, (3, len(changing), 15)).astype(np.uint8)
    measure = LeaveOneOut()
    found = measure.hold(bits, y, changing).values(choices)
    for choice, value in zip(choices, found, strict=True):
        other = bits.copy()
        other[:, changing] = choice.T
        assert value == pytest.approx(measure(other, y), abs=1e-4)


def test_one_label_alone_cannot_be_foretold_better_or_worse():
    bits = np.eye(4, dtype=np.uint8)
    assert LeaveOneOut()(bits, np.zeros(4, np.int64)) == 0.0
    assert LeaveOneOut()(bits, np.full(4, -1)) == 0.0


@pytest.mark.parametrize("family", FAMILIES)
def test_bits_of_a_choice_are_those_of_a_hashing_that_is_fitted_to_it(family):
    hashing, samples = fitted(family), take(VIEWS, np.arange(50))
    j, rows = 3, [70, 5, 88]
    changing = np.flatnonzero((hashing.subsets_ == j).any(axis=(1, 2)))
    exchange = Exchange.of(
        hashing, j, changing, take(VIEWS, rows), samples, hashing.similarities(samples)
    )
    for choice, row in enumerate(rows):
        other = with_reference(hashing, j, take(VIEWS, [row]))
        expected = other.transform(samples).bits().T[changing]
        np.testing.assert_array_equal(exchange.bits(choice), expected)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(
    "objective", [MutualInformation(n_latents=0), LeaveOneOut()], ids=["bits", "leave one out"]
)
def test_an_exact_objective_makes_the_choices_of_refitting_everything(family, objective):
    """Up to choices that are as good: they tie, or differ by rounding."""
    ours, twin = fitted(family), fitted(family)
    rng = np.random.default_rng([4, 2])
    sizes = {"n_candidates": 12, "n_samples": 40}
    n_changed = 0
    for record in choose_references(ours, VIEWS, Y, objective=objective, seed=4, **sizes):
        choices, values, present = greedy_step(
            twin, VIEWS, Y, objective, record["step"], rng, **sizes
        )
        best = max(values.max(), present)
        assert record["objective"] == pytest.approx(present, abs=1e-5)
        assert record["gain"] == pytest.approx(best - present, abs=1e-5)
        row = twin.reference_rows_[record["reference"]]
        if record["row"] != row:
            assert values[choices.index(record["row"])] == pytest.approx(best, abs=1e-5)
            twin.replace(record["reference"], take(VIEWS, [record["row"]]), record["row"])
            n_changed += 1
        np.testing.assert_array_equal(ours.reference_rows_, twin.reference_rows_)
    assert n_changed >= 4


def test_the_result_is_a_hashing_that_is_fitted_to_its_references():
    hashing = fitted()
    list(choose_references(hashing, VIEWS, Y, n_candidates=10, n_samples=30))
    rows = hashing.reference_rows_
    assert (rows >= 0).all() and len(set(rows.tolist())) == len(rows)
    again = copy(hashing).fit_reference(take(VIEWS, rows))
    np.testing.assert_array_equal(again.transform(VIEWS).words, hashing.transform(VIEWS).words)


def test_threads_change_nothing():
    one, two = fitted(), fitted()
    records = list(choose_references(one, VIEWS, Y, n_samples=30))
    with parallel_config("threading", n_jobs=2):
        assert list(choose_references(two, VIEWS, Y, n_samples=30)) == records
    np.testing.assert_array_equal(one.reference_rows_, two.reference_rows_)


def test_references_may_come_from_structures_without_a_label():
    y = np.where(np.arange(len(Y)) < 45, Y, -1)
    rows = drawn_rows(np.random.default_rng(0), y, 20)
    assert (rows < 45).sum() == (rows >= 45).sum() == 20 == len(set(rows.tolist())) / 2
    hashing = fitted()
    list(choose_references(hashing, VIEWS, y, n_samples=60))
    assert (hashing.reference_rows_ >= 45).any()


def test_better_references_tell_more_about_labels_on_others():
    """On structures that chose nothing."""
    words, vectors = strategies.corpus(500, seed=5)
    views = {"path": strategies.pack(words, vectors)}
    edges = [{edge for edge, _ in path} for path in words]
    y = np.array([len(found) > 3 for found in edges]).astype(np.int64)
    chosen, others = take(views, slice(250)), take(views, slice(250, None))
    hashing = KLSH(SubsequenceKernel(), n_references=6, n_bits=60).fit(chosen)
    before = LeaveOneOut()(hashing.transform(others).bits(), y[250:])
    list(choose_references(hashing, chosen, y[:250], n_candidates=60, n_samples=150))
    assert LeaveOneOut()(hashing.transform(others).bits(), y[250:]) > before + 0.02


def test_where_every_structure_is_a_reference_there_is_no_choice():
    few = take(VIEWS, slice(6))
    hashing = KLSH(SubsequenceKernel(), n_references=50, n_bits=20).fit(few)
    records = list(choose_references(hashing, few, Y[:6]))
    assert records and all(r["n_choices"] == r["gain"] == 0 for r in records)


def test_few_references_change_many_bits_and_none_changes_none():
    hashing = fitted(n_references=4, n_bits=1)  # its one bit holds all of them
    assert len(list(choose_references(hashing, VIEWS, Y, n_samples=30))) == 4
    hashing = fitted(n_references=8, n_bits=1)
    records = list(choose_references(hashing, VIEWS, Y, n_samples=30))
    unused = set(range(8)) - set(hashing.subsets_.ravel().tolist())
    assert unused and all(records[j]["gain"] == 0 for j in unused)
