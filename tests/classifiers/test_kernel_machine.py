import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st
from sklearn.svm import SVC

from spacy_klsh.classifiers.kernel_machine import (
    common_items,
    drawn_rows,
    machine_scores,
    train_machine,
)
from spacy_klsh.hashing.features import Features

WIDTH = 12
ROWS = st.lists(st.sets(st.integers(0, WIDTH - 1)), min_size=2, max_size=12)


def kernel_of(degree):
    return (1.0 + np.arange(WIDTH + 1)) ** degree


@given(st.lists(st.sets(st.integers(0, WIDTH - 1)), max_size=8))
@strategies.QUICK
def test_common_items_are_those_of_the_intersections(rows):
    rows = rows * 20  # more than a tile
    found = common_items(Features.from_sets(rows, WIDTH))
    assert found.dtype == np.uint8
    assert found.tolist() == [[len(a & b) for b in rows] for a in rows]


def test_rows_with_many_items_are_counted_in_a_wider_type():
    found = common_items(Features.from_sets([range(300), range(10, 290), {5}], 300))
    assert found.dtype == np.uint16
    assert found.tolist() == [[300, 280, 1], [280, 280, 0], [1, 0, 1]]


@given(st.lists(st.integers(0, 3), max_size=30), st.integers(2, 40), st.integers(0, 9))
@strategies.QUICK
def test_labels_stay_and_each_row_stands_for_its_share(labels, most, seed):
    y = np.array(labels, np.int64)
    rows, weights = drawn_rows(y, most, seed)
    assert len(rows) == min(most, len(y)) == len(set(rows.tolist())) and (np.diff(rows) > 0).all()
    for every, kept in ((y == 0, y[rows] == 0), (y > 0, y[rows] > 0)):
        assert kept.sum() >= min(every.sum(), most // 2) and len(set(weights[kept])) <= 1
    if most >= len(y):
        assert rows.tolist() == list(range(len(y))) and (weights == 1).all()
    else:
        assert weights.sum() == pytest.approx(len(y))
        assert rows.tolist() == drawn_rows(y, most, seed)[0].tolist()


def loss(kernel, y, alphas):
    """What a C-SVM minimizes."""
    return (y * alphas) @ kernel @ (y * alphas) / 2 - alphas.sum()


@given(ROWS, st.data(), st.sampled_from([1, 2, 3]), st.sampled_from([1e-3, 0.1, 1.0]))
@strategies.THOROUGH
def test_machines_are_those_of_scikit_learn(rows, data, degree, cost):
    bools = st.lists(st.booleans(), min_size=len(rows), max_size=len(rows))
    target = np.array(data.draw(bools.filter(lambda t: any(t) and not all(t))))
    caps = cost * np.where(data.draw(bools), 1.0, 2.5)
    common = common_items(Features.from_sets(rows, WIDTH))
    kernel, y = kernel_of(degree)[common], np.where(target, 1, -1)
    weights, bias = train_machine(common, np.arange(len(rows)), kernel_of(degree), target, caps)
    alphas = weights * y
    assert (alphas >= 0).all() and (alphas <= caps * (1 + 1e-9)).all()
    assert abs(weights.sum()) < 1e-9 * caps.sum()
    svc = SVC(kernel="precomputed", C=1, tol=1e-5).fit(kernel, target, sample_weight=caps)
    best = np.zeros(len(rows))
    best[svc.support_] = np.abs(svc.dual_coef_[0])
    assert loss(kernel, y, alphas) <= loss(kernel, y, best) + 2e-3 * caps.sum()
    scores = kernel @ weights + bias
    slack = np.maximum(0, 1 - y * scores)  # primal minus dual: 0 at the optimum
    gap = weights @ kernel @ weights + (caps * slack).sum() - alphas.sum()
    assert -1e-9 <= gap <= 2e-3 * caps.sum()


@pytest.mark.parametrize("degree", [1, 2, 3])
@pytest.mark.parametrize("cost", [1e-4, 1e-2, 1.0])
def test_scores_are_those_of_scikit_learn(degree, cost):
    rng = np.random.default_rng(0)
    n = 150 if strategies.JIT else 40
    features = Features.from_sets([rng.choice(50, rng.integers(20), False) for _ in range(n)], 50)
    target, kernel = rng.random(n) < 0.3, (1.0 + np.arange(51)) ** degree
    common, caps = common_items(features), np.full(n, cost)
    weights, bias = train_machine(common, np.arange(n), kernel, target, caps)
    svc = SVC(kernel="poly", degree=degree, gamma=1.0, coef0=1.0, C=cost)
    expected = svc.fit(features.dense(), target).decision_function(features.dense())
    np.testing.assert_allclose(kernel[common] @ weights + bias, expected, rtol=0, atol=0.03)


def test_scores_are_sums_of_the_kernel():
    rng = np.random.default_rng(0)
    common = common_items(Features.from_sets([rng.choice(9, 4, False) for _ in range(12)], WIDTH))
    rows, trained, weights = np.array([3, 0, 7]), np.array([1, 2, 5, 11]), rng.normal(size=(4, 2))
    found = machine_scores(common, rows, trained, kernel_of(2), weights)
    np.testing.assert_allclose(found, kernel_of(2)[common[np.ix_(rows, trained)]] @ weights)


def test_rows_that_are_not_chosen_do_not_count():
    rng = np.random.default_rng(1)
    features = Features.from_sets([rng.choice(WIDTH, 5, False) for _ in range(30)], WIDTH)
    target, caps, rows = rng.random(30) < 0.4, rng.uniform(0.5, 1, 30), np.array([9, 2, 17, 4, 29])
    common, kernel = common_items(features), kernel_of(2)
    weights, bias = train_machine(common, rows, kernel, target[rows], caps[rows])
    alone = common_items(features[rows])
    again, same = train_machine(alone, np.arange(5), kernel, target[rows], caps[rows])
    assert weights.tobytes() == again.tobytes() and bias == same


@pytest.mark.parametrize("side", [True, False])
def test_one_side_alone_gets_its_score(side):
    common = common_items(Features.from_sets([{1}, {2}, {3}], WIDTH))
    weights, bias = train_machine(common, np.arange(3), kernel_of(2), np.full(3, side), np.ones(3))
    assert not weights.any() and bias == (1.0 if side else -1.0)


def test_equal_rows_of_both_sides_end_at_the_caps():
    common = common_items(Features.from_sets([{1, 2}] * 3, WIDTH))
    target, caps = np.array([True, False, False]), np.array([0.7, 0.5, 0.5])
    weights, bias = train_machine(common, np.arange(3), kernel_of(3), target, caps)
    assert weights[0] == 0.7 and weights.sum() == pytest.approx(0)
    assert bias == pytest.approx(-1.0)
