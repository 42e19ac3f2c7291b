"""Entropies and mutual information, beside all codes enumerated."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_information import (
    corex,
    entropy,
    joint_entropy,
    mutual_information,
    sum_of_single_bits,
    total_correlation,
)

from spacy_klsh.optimization.information import MutualInformation, bit_entropies
from spacy_klsh.optimization.total_correlation import fit_latents

NONE = np.zeros(0, np.int64)


@st.composite
def codes(draw, max_bits=6, max_size=30):
    """Bits and label ids, some of them unknown."""
    n, n_bits = draw(st.integers(2, max_size)), draw(st.integers(1, max_bits))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    bits = (rng.random((n, n_bits)) < rng.random(n_bits)).astype(np.uint8)
    return bits, rng.integers(-1, 3, n)


def cube(n_bits):
    """Each code of so many bits once: independent bits."""
    numbers = np.arange(2**n_bits)[:, None]
    return ((numbers >> np.arange(n_bits)) & 1).astype(np.uint8)


def one_cause(n_bits, noise, n):
    """Every bit a noisy copy of one hidden bit; each code as often as it is likely, rounded."""
    rows = []
    for code in cube(n_bits):
        ones = int(code.sum())
        p = sum(
            0.5 * (1 - noise) ** same * noise ** (n_bits - same) for same in (ones, n_bits - ones)
        )
        rows += [code] * round(p * n)
    return np.array(rows)


@given(codes())
def test_entropies_are_those_of_the_outcomes(drawn):
    bits, _ = drawn
    expected = [entropy(column) for column in bits.T.tolist()]
    np.testing.assert_allclose(bit_entropies(bits), expected, atol=1e-12)


@given(codes())
def test_without_latents_it_is_the_sum_of_single_bits(drawn):
    bits, y = drawn
    found = MutualInformation(n_latents=0)(bits, y)
    assert found == pytest.approx(sum_of_single_bits(bits, y), abs=1e-9)


@settings(deadline=None, max_examples=20)
@given(codes(max_bits=4, max_size=8), st.integers(1, 2), st.integers(1, 5))
def test_every_round_is_that_of_the_formulas(drawn, n_latents, rounds):
    bits, _ = drawn
    rng = np.random.default_rng(0)  # what fit_latents draws
    alpha = 0.5 + 0.5 * rng.random((n_latents, bits.shape[1]))
    posterior = rng.random((len(bits), n_latents))
    expected = corex(bits, alpha.tolist(), posterior.tolist(), rounds)
    found = fit_latents(bits, n_latents, seed=0, rounds=rounds)
    np.testing.assert_allclose(found.explained, expected[-1], atol=1e-8)


@pytest.mark.parametrize("noise", [0.02, 0.1, 0.2])
def test_one_common_cause_is_explained_by_one_latent(noise):
    bits = one_cause(8, noise, 20_000)
    exact = total_correlation(bits)
    assert fit_latents(bits, 1).total_correlation == pytest.approx(exact, rel=0.02)


def test_two_groups_of_bits_with_a_cause_each():
    group = one_cause(5, 0.05, 300)
    left, right = np.divmod(np.arange(len(group) ** 2), len(group))
    bits = np.concatenate([group[left], group[right]], axis=1)
    exact = total_correlation(bits)
    assert fit_latents(bits, 2, seed=1).total_correlation == pytest.approx(exact, rel=0.05)


def test_independent_bits_have_no_total_correlation():
    assert fit_latents(cube(8), 2).total_correlation == pytest.approx(0, abs=0.02)


def test_duplicates_of_one_bit():
    bits = np.repeat([[0], [1]], 50, axis=0).repeat(7, axis=1).astype(np.uint8)
    assert fit_latents(bits, 1).total_correlation == pytest.approx(6 * math.log(2), rel=0.01)
    y = bits[:, 0].astype(np.int64)
    assert MutualInformation(n_latents=1)(bits, y) == pytest.approx(math.log(2), abs=0.05)
    assert mutual_information(bits, y) == pytest.approx(math.log(2))


@settings(deadline=None, max_examples=20)
@given(codes(), st.permutations(range(3)), st.integers(0, 2))
def test_names_of_labels_and_the_order_of_candidates_do_not_matter(drawn, names, n_latents):
    bits, y = drawn
    other = np.where(y < 0, y, np.array(names)[y])
    measure = MutualInformation(n_latents=n_latents, rounds=15)
    assert measure(bits, other) == pytest.approx(measure(bits, y), abs=1e-9)
    turned = MutualInformation(n_latents=0)(bits[::-1], y[::-1])
    assert turned == pytest.approx(MutualInformation(n_latents=0)(bits, y), abs=1e-9)


def test_with_one_cause_it_is_the_mutual_information():
    """All total correlation is explained, so that the bounds 0 and H(y) hold."""
    bits = np.concatenate([one_cause(6, noise, 4000) for noise in (0.05, 0.3)])
    y = np.repeat([0, 1], [len(one_cause(6, noise, 4000)) for noise in (0.05, 0.3)])
    found, exact = MutualInformation(n_latents=1)(bits, y), mutual_information(bits, y)
    assert 0 < exact < entropy(y.tolist())
    assert found == pytest.approx(exact, abs=0.06)


def test_latents_that_are_too_few_break_the_upper_bound():
    """Ten independent bits, each copied by ten others, all about the label: TC is left out."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 2000)
    causes = (rng.random((2000, 10)) < np.where(y, 0.8, 0.2)[:, None]).astype(np.uint8)
    bits = causes.repeat(10, axis=1)
    assert MutualInformation(n_latents=1)(bits, y) > entropy(y.tolist())


def test_unlabelled_candidates_count_in_the_entropy_of_codes_alone():
    rng = np.random.default_rng(1)
    bits = rng.integers(0, 2, (40, 5)).astype(np.uint8)
    y = rng.integers(0, 2, 40)
    y[30:] = -1
    found = MutualInformation(n_latents=0)(bits, y)
    given_y = sum(
        (y[:30] == k).mean() * bit_entropies(bits[:30][y[:30] == k]).sum() for k in (0, 1)
    )
    assert found == pytest.approx(bit_entropies(bits).sum() - given_y)
    assert joint_entropy(bits) <= bit_entropies(bits).sum()


@settings(deadline=None, max_examples=20)
@given(codes(max_size=20), st.integers(0, 2))
def test_held_with_the_bits_that_are_there_it_stays_as_it_is(drawn, n_latents):
    bits, y = drawn
    changing = np.arange(0, bits.shape[1], 2)
    held = MutualInformation(n_latents=n_latents, rounds=20).hold(bits, y, changing)
    (value,) = held.values(np.ascontiguousarray(bits[:, changing].T)[None])
    assert value == pytest.approx(held.value, abs=1e-9)


@settings(deadline=None, max_examples=30)
@given(codes(max_bits=8), st.integers(0, 2**32 - 1))
def test_without_latents_other_bits_are_exact(drawn, seed):
    bits, y = drawn
    rng = np.random.default_rng(seed)
    changing = np.flatnonzero(rng.integers(0, 2, bits.shape[1]))
    choices = rng.integers(0, 2, (3, len(changing), len(bits))).astype(np.uint8)
    measure = MutualInformation(n_latents=0)
    found = measure.hold(bits, y, changing).values(choices)
    for choice, value in zip(choices, found, strict=True):
        other = bits.copy()
        other[:, changing] = choice.T
        assert value == pytest.approx(measure(other, y), abs=1e-9)


def test_going_on_from_latents_of_other_candidates_needs_fewer_rounds():
    rng = np.random.default_rng(3)
    causes = rng.integers(0, 2, (400, 3))
    noise = rng.random((400, 60)) < 0.1
    bits = (causes.repeat(20, axis=1) ^ noise).astype(np.uint8)
    y, many = rng.integers(0, 2, 400), MutualInformation(n_latents=3)
    first = many.hold(bits[:200], y[:200], NONE)
    again = many.hold(bits[200:], y[200:], NONE, first)
    assert again.value == pytest.approx(many(bits[200:], y[200:]), abs=1.0)
