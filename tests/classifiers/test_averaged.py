from collections import defaultdict
from itertools import pairwise

import naive_perceptron as naive
import numpy as np
import strategies
from hypothesis import given
from hypothesis import strategies as st

from spacy_klsh.classifiers.averaged import Averaged, Passes, bagged, outputs
from spacy_klsh.hashing.features import Features

WIDTH = 6
TREES = [(-1, -1, -1, -1), (-1, 0, 0, 0), (-1, 4, 0, 4, 0), (-1, 5, 4, 5, 0, 4)]
BELOW = {4: {1, 3}, 5: {1, 3}}


def signs_of(y, classes):
    return np.array([[1 if label in of else -1 for label in y] for of in classes], np.int8)


def classes_of(tree):
    """Labels of each class: 0 has all, and in these trees the joins have 1, 3 and perhaps 2."""
    found = [{1, 2, 3}, {1}, {2}, {3}, {1, 2, 3}, {1, 3}]
    return found[: len(tree)] if len(tree) != 5 else [*found[:4], {1, 3}]


@st.composite
def problems(draw):
    """1, 2, 4 or 8 candidates, so that no mean is rounded."""
    size = 2 ** draw(st.integers(0, 3))
    rows = draw(st.lists(st.sets(st.integers(0, WIDTH - 1)), min_size=size, max_size=size))
    y = draw(st.lists(st.integers(0, 3), min_size=len(rows), max_size=len(rows)))
    return rows, np.array(y)


PASSES = st.sampled_from([(0, 1), (1, 1), (2, 1), (4, 2), (4, 4), (5, 2)])


@given(problems(), st.sampled_from(TREES), PASSES, st.integers(1, 3), st.integers(0, 9))
@strategies.THOROUGH
def test_replicates_are_those_of_the_slow_twin(problem, tree, passes, n_replicates, seed):
    rows, y = problem
    classes, x = classes_of(tree), Features.from_sets(rows, WIDTH)
    weights, left_out, unseen = bagged(
        x, signs_of(y, classes), tree, Passes(*passes), n_replicates, seed
    )
    each, outputs_of = [], [[] for _ in rows]
    for replicate in range(n_replicates):
        drawn = np.random.default_rng((seed, replicate)).integers(len(rows), size=len(rows))
        found = naive.top_down(
            [rows[i] for i in drawn], classes, y[drawn], tree, most=passes[0], averaged=passes[1]
        )
        each.append([naive.dense(w, WIDTH) for w in found])
        for i in set(range(len(rows))).difference(drawn.tolist()):
            outputs_of[i].append([naive.output(w, [*rows[i], ""]) for w in found])
    np.testing.assert_allclose(weights, np.mean(each, axis=0), rtol=1e-5, atol=1e-5)
    assert unseen.tolist() == [bool(found) for found in outputs_of]
    expected = [np.mean(found, axis=0) if found else [0.0] * len(tree) for found in outputs_of]
    np.testing.assert_allclose(left_out, expected, rtol=1e-5, atol=1e-4)


@given(problems(), st.integers(0, 3), st.integers(0, 8))
@strategies.THOROUGH
def test_the_mean_is_right_after_every_part(problem, n_states, cut):
    rows, y = problem
    signs, last = np.where(y, 1, -1), defaultdict(float, {1: 2.5, "": -0.5})
    weights = starting(last, n_states)
    many = [last] * n_states
    for part in (slice(0, cut), slice(cut, None)):
        found = list(naive.states(last, rows[part], signs[part]))
        n_errors = weights.learn(
            Features.from_sets(rows[part], WIDTH), signs[part].astype(np.int8)[None]
        )
        assert n_errors == sum(a is not b for a, b in pairwise([last, *found]))
        many, last = many + found, found[-1] if found else last
        expected = naive.dense(naive.mean(many) if many else last, WIDTH)
        np.testing.assert_allclose(weights.mean[0], expected, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(weights.current[0], naive.dense(last, WIDTH))
    assert weights.n_states == len(many)


def starting(weights, n_states):
    current = naive.dense(weights, WIDTH)[None].astype(np.float32)
    return Averaged(current, np.zeros(current.shape), n_states)


def test_learning_at_once_or_one_by_one_is_the_same_bit_for_bit():
    rng = np.random.default_rng(0)
    x = Features.from_sets([set(rng.integers(40, size=9)) for _ in range(200)], 40)
    signs = rng.choice(np.array([-1, 1], np.int8), (3, 200))
    whole, parts = (Averaged(np.zeros((3, 41), np.float32), np.zeros((3, 41)), 7) for _ in "ab")
    n_errors = whole.learn(x, signs)
    assert n_errors == sum(parts.learn(x[i], signs[:, i : i + 1]) for i in range(200)) > 100
    for name in ("current", "drift", "mean"):
        assert getattr(whole, name).tobytes() == getattr(parts, name).tobytes()
    again = Averaged.spread(40, *whole.state().values())
    assert again.mean.tobytes() == whole.mean.tobytes() and again.n_states == 207


def test_outputs_do_not_depend_on_the_other_rows():
    rng = np.random.default_rng(0)
    x = Features.from_sets([set(rng.integers(300, size=50)) for _ in range(90)], 300)
    weights = rng.normal(size=(5, 301)).astype(np.float32)
    whole = outputs(x, weights)
    np.testing.assert_allclose(
        whole, x.dense() @ weights[:, :-1].T + weights[:, -1], rtol=1e-4, atol=1e-4
    )
    for i in range(90):
        assert outputs(x[i], weights).tobytes() == whole[i].tobytes()
