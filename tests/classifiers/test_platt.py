import math

import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st
from naive import platt_probability, smoothed_cross_entropy

from spacy_klsh.classifiers.platt import fit_platt, platt

SCORE = st.floats(-100, 100).map(lambda score: round(score, 3))
POINTS = st.lists(st.tuples(SCORE, st.booleans()), min_size=1, max_size=20)


def arrays(points):
    return np.array([score for score, _ in points]), np.array([true for _, true in points])


@given(POINTS, st.sampled_from([1e-6, 1.0, 1e6]))
@strategies.THOROUGH
def test_no_other_sigmoid_has_less_loss(points, unit):
    points = [(score * unit, true) for score, true in points]
    a, b = fit_platt(*arrays(points))
    least = smoothed_cross_entropy(points, a, b)
    largest = max(abs(score) for score, _ in points) or 1.0
    for size in (1e-3, 0.1, 1.0, 10.0):
        for angle in range(16):
            da, db = size * math.cos(angle) / largest, size * math.sin(angle)
            assert smoothed_cross_entropy(points, a + da, b + db) >= least - 1e-6


@given(st.lists(st.tuples(POINTS.map(lambda points: points[0]), st.integers(1, 4)), min_size=1))
@strategies.QUICK
def test_a_weight_is_as_many_candidates(weighted):
    points, weights = zip(*weighted, strict=True)
    repeated = [point for point, n in weighted for _ in range(n)]
    a, b = fit_platt(*arrays(points), np.array(weights, float))
    best = smoothed_cross_entropy(repeated, *fit_platt(*arrays(repeated)))
    assert smoothed_cross_entropy(repeated, a, b) == pytest.approx(best, abs=1e-6)


@given(st.lists(st.floats(-1e300, 1e300), max_size=5), st.floats(-9, 9), st.floats(-1e300, 1e300))
@strategies.QUICK
def test_probabilities_are_the_formula(scores, a, b):
    found = platt(np.array(scores, np.float64), a, b)
    assert found.dtype == np.float64
    expected = [platt_probability(score, a, b) for score in scores]
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-300)


@given(st.integers(0, 2**32 - 1))
@strategies.QUICK
def test_it_is_a_logistic_regression_on_smoothed_targets(seed):
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(seed)
    scores = rng.normal(size=50)
    y = rng.random(50) < 1 / (1 + np.exp(1 - 2 * scores))
    y[:2] = False, True
    high, low = (y.sum() + 1) / (y.sum() + 2), 1 / ((~y).sum() + 2)
    weights = np.where(y, high, low)
    regression = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000)
    regression.fit(
        np.tile(scores, 2)[:, None], np.repeat([1, 0], 50), np.concatenate([weights, 1 - weights])
    )
    expected = -regression.coef_[0, 0], -regression.intercept_[0]
    np.testing.assert_allclose(fit_platt(scores, y), expected, rtol=1e-3, atol=1e-3)


def test_a_perfect_separation_gives_the_smoothed_targets():
    scores, y = np.repeat([-1.0, 1.0], [6, 2]), np.repeat([False, True], [6, 2])
    found = platt(np.array([-1.0, 1.0]), *fit_platt(scores, y))
    np.testing.assert_allclose(found, [1 / 8, 3 / 4], rtol=1e-6)


def test_with_nothing_to_tell_it_gives_the_share():
    scores, y = np.zeros(6), np.array([True, False] * 3)
    np.testing.assert_allclose(platt(scores, *fit_platt(scores, y)), 0.5)


@pytest.mark.parametrize("shape", [(3,), (2, 1), ()])
def test_other_shapes_are_refused(shape):
    with pytest.raises(ValueError, match="give one score a candidate"):
        fit_platt(np.zeros(shape), np.zeros(2, bool))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_scores_that_are_not_finite_are_refused(bad):
    with pytest.raises(ValueError, match="1 scores are not finite"):
        fit_platt(np.array([0.0, bad]), np.array([True, False]))
