import naive
import numpy as np
import pytest
import strategies
from hypothesis import assume, given
from hypothesis import strategies as st

from spacy_klsh.hashing.codes import Codes
from spacy_klsh.hashing.families import FAMILIES, fit_bits, hash_bits

N_BITS = 70  # not a multiple of 64
families = pytest.mark.parametrize("family", FAMILIES)


def draw_subsets(n_references, size, *, n_bits=N_BITS, seed=0):
    rng = np.random.default_rng(seed)
    drawn = [rng.permutation(n_references)[: 2 * size] for _ in range(n_bits)]
    return np.array(drawn, np.int32).reshape(n_bits, 2, size)


def gram_of(features):
    """Normalized gram of the rows, 0 for a zero row."""
    norms = np.linalg.norm(features, axis=1, keepdims=True)
    rows = np.divide(features, norms, out=np.zeros_like(features), where=norms > 0)
    return (rows @ rows.T).astype(np.float32)


@st.composite
def problems(draw):
    """A gram (references first, then others), how many references, and subsets of them.

    Entries lie in [0, 1], some rows are equal, some zero, so that submatrices are often
    singular; every gram is positive semi-definite.
    """
    size = draw(st.integers(1, 3))
    n_references = draw(st.integers(2 * size, 10))
    n_features = draw(st.integers(2, 12))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    features = rng.integers(4, size=(n_references + 15, n_features)).astype(float)
    repeated = rng.integers(len(features), size=4)
    features[repeated] = features[rng.integers(len(features), size=4)]
    subsets = draw_subsets(n_references, size, n_bits=8, seed=rng)
    return gram_of(features), n_references, subsets


def codes(gram, subsets, weights, biases, family):
    return Codes(hash_bits(gram, subsets, weights, biases, family), len(subsets)).bits()


def well_conditioned(gram, subsets):
    """No eigenvalue of a submatrix is near the cut between zero and not zero."""
    members = subsets.reshape(len(subsets), -1)
    values = np.linalg.eigvalsh(gram[members[:, :, None], members[:, None, :]].astype(float))
    sizes, largest = np.abs(values), values[:, -1:]
    return not ((sizes > 1e-7 * largest) & (sizes < 1e-4 * largest)).any()


@given(problems())
@strategies.THOROUGH
def test_rknn_compares_the_nearest_members(problem):
    gram, n, subsets = problem
    rows = gram[:, :n].copy()
    found = codes(rows, subsets, *fit_bits(rows[:n], subsets, "rknn"), "rknn")
    expected = [[naive.nearest_bit(row, *pair) for pair in subsets] for row in rows]
    assert found.tolist() == expected


@given(problems())
@strategies.THOROUGH
def test_rmm_is_the_support_vector_machine_of_scikit_learn(problem):
    gram, n, subsets = problem
    rows = gram[:, :n].copy()
    weights, biases = fit_bits(rows[:n], subsets, "rmm")
    expected = np.transpose([naive.margin_decision(rows[:n], *pair, rows) for pair in subsets])
    values = np.transpose(
        [rows[:, pair.ravel()] @ w + b for pair, w, b in zip(subsets, weights, biases, strict=True)]
    )
    np.testing.assert_allclose(values, expected, atol=1e-5)
    found = codes(rows, subsets, weights, biases, "rmm")
    clear = np.abs(expected) > 1e-4
    assert (found[clear] == (expected > 0)[clear]).all()


@given(problems())
@strategies.THOROUGH
def test_kulis_is_the_inverse_root_of_each_submatrix(problem):
    gram, n, subsets = problem
    rows = gram[:, :n].copy()
    assume(well_conditioned(rows[:n], subsets))
    weights, biases = fit_bits(rows[:n], subsets, "kulis")
    expected = np.array([naive.kulis_weights(rows[:n], *pair) for pair in subsets])
    np.testing.assert_allclose(weights, expected, rtol=1e-4, atol=1e-4)
    assert not biases.any()
    values = np.transpose(
        [rows[:, pair.ravel()] @ w for pair, w in zip(subsets, expected, strict=True)]
    )
    clear = np.abs(values) > 1e-3
    assert (codes(rows, subsets, weights, biases, "kulis")[clear] == (values > 0)[clear]).all()


@pytest.mark.parametrize(
    ("family", "weights", "biases"),
    [
        ("rknn", [[]], [0.0]),
        ("rmm", [[-1.0, -1.0, 1.0, 1.0]], [0.0]),
        ("kulis", [[0.25, 0.25, -0.25, -0.25]], [0.0]),
    ],
)
def test_weights_on_orthonormal_references(family, weights, biases):
    found = fit_bits(np.eye(4, dtype=np.float32), np.array([[[0, 1], [2, 3]]], np.int32), family)
    assert [part.dtype for part in found] == [np.float32, np.float32]
    assert found[0].shape == np.shape(weights)
    np.testing.assert_allclose(found[0], weights, atol=1e-7)
    np.testing.assert_allclose(found[1], biases, atol=1e-7)


@pytest.mark.parametrize(("family", "expected"), [("rknn", 1), ("rmm", 1), ("kulis", 0)])
def test_the_side_that_the_nearer_subset_gets(family, expected):
    subsets = np.array([[[0, 1], [2, 3]]], np.int32)
    weights, biases = fit_bits(np.eye(4, dtype=np.float32), subsets, family)
    rows = np.array([[0.1, 0.2, 0.3, 0.9], [0.3, 0.9, 0.1, 0.2]], np.float32)
    found = codes(rows, subsets, weights, biases, family)
    assert found.ravel().tolist() == [expected, 1 - expected]


@families
def test_every_bit_has_its_own_place(family):
    sides = np.random.default_rng(4).integers(2, size=200)
    subsets = np.where(sides[:, None], [[0, 1]], [[1, 0]])[:, :, None].astype(np.int32)
    weights, biases = fit_bits(np.eye(2, dtype=np.float32), subsets, family)
    found = codes(np.eye(2, dtype=np.float32), subsets, weights, biases, family)
    sides = sides if family == "kulis" else 1 - sides
    assert found.tolist() == [sides.tolist(), (1 - sides).tolist()]


@families
def test_a_tie_gives_0(family):
    subsets = np.array([[[0, 1], [2, 3]]], np.int32)
    weights, biases = fit_bits(np.eye(4, dtype=np.float32), subsets, family)
    rows = np.array([[0.5, 0.5, 0.5, 0.5], [0.0, 0.0, 0.0, 0.0]], np.float32)
    assert not codes(rows, subsets, weights, biases, family).any()


@pytest.fixture(params=[1, 2, 5])
def fitted(request):
    gram = gram_of(np.random.default_rng(1).random((20, 6)) ** 3)
    return gram, draw_subsets(20, request.param)


@families
def test_a_bit_does_not_depend_on_the_others_fitted_with_it(fitted, family):
    gram, subsets = fitted
    whole = fit_bits(gram, subsets, family)
    for rows in ([0], [3, 1], range(5, N_BITS)):
        for part, all_of_them in zip(fit_bits(gram, subsets[rows], family), whole, strict=True):
            assert naive.same_bits(part, all_of_them[rows])


@families
def test_a_bit_depends_on_its_own_references_only(fitted, family):
    gram, subsets = fitted
    members = subsets[:1].ravel()
    changed = np.random.default_rng(2).random(gram.shape).astype(np.float32)
    changed[np.ix_(members, members)] = gram[np.ix_(members, members)]
    for found, expected in zip(
        fit_bits(changed, subsets[:1], family), fit_bits(gram, subsets[:1], family), strict=True
    ):
        assert naive.same_bits(found, expected)


@families
def test_no_bits_to_fit_give_no_weights(family):
    subsets = np.zeros((0, 2, 2), np.int32)
    weights, biases = fit_bits(np.eye(4, dtype=np.float32), subsets, family)
    assert (len(weights), len(biases)) == (0, 0)


@families
def test_words_of_a_row_do_not_depend_on_the_other_rows(fitted, family):
    gram, subsets = fitted
    weights, biases = fit_bits(gram, subsets, family)
    whole = hash_bits(gram, subsets, weights, biases, family)
    assert whole.shape == (20, 2)
    assert whole.any()
    for rows in (slice(0, 0), slice(7, 8), slice(None, None, -1)):
        part = hash_bits(gram[rows].copy(), subsets, weights, biases, family)
        assert naive.same_bits(part, np.ascontiguousarray(whole[rows]))


@families
def test_an_indefinite_gram_gives_finite_weights(family):
    rng = np.random.default_rng(3)
    gram = rng.random((20, 20)).astype(np.float32)
    gram = np.maximum(gram, gram.T)
    np.fill_diagonal(gram, 1.0)
    subsets = draw_subsets(20, 2)
    smallest = [np.linalg.eigvalsh(gram[np.ix_(s.ravel(), s.ravel())]).min() for s in subsets]
    assert min(smallest) < -0.1
    for part in fit_bits(gram, subsets, family):
        assert np.isfinite(part).all()


def test_rmm_weights_are_bounded_by_the_cost_and_balanced(fitted):
    weights, _ = fit_bits(*fitted, "rmm")
    first, second = np.split(weights, 2, axis=1)
    assert ((first >= -1) & (first <= 0) & (second >= 0)).all()
    assert (second <= 1).all()
    np.testing.assert_allclose(weights.sum(axis=1), 0.0, atol=1e-5)
    assert np.abs(weights).max() > 0.5


@families
def test_references_that_are_similar_to_nothing_give_finite_weights(family):
    gram = np.zeros((4, 4), np.float32)  # as empty structures do
    for part in fit_bits(gram, np.array([[[0, 1], [2, 3]]], np.int32), family):
        assert np.isfinite(part).all()
