import naive_trees
import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

from spacy_klsh.classifiers.forest import Forest
from spacy_klsh.classifiers.growing import _count_ones, grow
from spacy_klsh.hashing.codes import Codes

WEIGHTS = np.array([1.0, 0.37, 0.011])


def sample(n, n_bits, seed=0):
    """Bits of which the first decide most labels, and the labels."""
    rng = np.random.default_rng(seed)
    bits = rng.integers(2, size=(n, n_bits), dtype=np.uint8)
    return bits, np.where(rng.random(n) < 0.7, bits[:, 0] + bits[:, -1], rng.integers(3, size=n))


def tree(bits, y, n_own, n_tried, *, weights=WEIGHTS, min_leaf=1, bootstrap=False, seed=5):
    words, n_bits = Codes.pack(bits).words, bits.shape[1]
    return grow(words, y, weights, n_bits, n_own, n_tried, min_leaf, bootstrap, np.uint64(seed))


@given(st.data(), st.integers(1, 2**64 - 1), st.integers(1, 25), st.integers(1, 70))
@strategies.THOROUGH
def test_every_split_is_possible_and_of_all_bits_the_best(data, seed, n, n_bits):
    n_tried = data.draw(st.integers(1, n_bits))
    min_leaf = data.draw(st.integers(1, 4))
    weights = data.draw(st.sampled_from([WEIGHTS, np.ones(3)]))
    bits, y = sample(n, n_bits, seed)
    settings = {"weights": weights, "min_leaf": min_leaf}
    for tried in (n_tried, n_bits):
        nodes, counts = tree(bits, y, n_bits, tried, seed=seed, **settings)
        missed = naive_trees.grown(
            nodes.tolist(), counts.tolist(), bits.tolist(), y.tolist(), weights, min_leaf=min_leaf
        )
        assert len(nodes) == 2 * len(missed) + 1
        assert max(missed, default=0) < (1e-9 if tried == n_bits else n)


@pytest.mark.parametrize("n_own", [1, 3, 64, 65])
@pytest.mark.parametrize("bootstrap", [True, False])
def test_a_tree_uses_its_own_bits_only(n_own, bootstrap):
    bits, y = sample(200, 130)
    for n_tried in {n_own, 1}:
        nodes, _ = tree(bits, y, n_own, n_tried, bootstrap=bootstrap)
        used = set(nodes[:, 0]) - {-1}
        assert 0 < len(used) <= n_own and (n_own > 3 or len(used) == n_own)


def test_a_tree_on_all_bits_is_that_of_scikit_learn():
    n = 3000 if strategies.JIT else 600
    bits, _ = sample(n, 6)
    every = np.array(list(np.ndindex((2,) * 6)), np.uint8)
    rng = np.random.default_rng(3)
    y = (rng.random((64, 1)) * rng.random((64, 2))).cumsum(axis=1)[bits @ (1 << np.arange(6))]
    y = (rng.random((n, 1)) > y).sum(axis=1)
    theirs = DecisionTreeClassifier(
        min_samples_leaf=n // 50, class_weight=dict(enumerate(WEIGHTS)), random_state=0
    )
    ours = Forest.grown(
        Codes.pack(bits).words,
        y,
        WEIGHTS,
        n_trees=2,
        n_bits=6,
        n_own=6,
        n_tried=6,
        min_leaf=n // 50,
        bootstrap=False,
        seed=0,
    )
    assert len(ours.nodes) > 30
    expected = theirs.fit(bits, y).predict_proba(every)
    np.testing.assert_allclose(ours.predict_proba(Codes.pack(every).words), expected, atol=1e-6)


def test_own_bits_and_candidates_are_drawn_evenly():
    bits, y = sample(80, 10)
    n_trees = 2000 if strategies.JIT else 200
    seeds = np.random.default_rng(0).integers(1, 2**63, n_trees)
    firsts = [tree(bits, y, 1, 1, seed=seed)[0][0, 0] for seed in seeds]
    used = np.bincount(firsts, minlength=10)
    assert ((used - n_trees / 10) ** 2).sum() / (n_trees / 10) < 27.9  # chi2, p = .001
    drawn = [tree(bits, y, 1, 1, min_leaf=80, bootstrap=True, seed=seed)[1][0] for seed in seeds]
    share = np.bincount(y) / 80
    assert (np.sum(drawn, axis=1) == 80).all()
    spread = np.sqrt(80 * share * (1 - share))
    assert np.abs(np.mean(drawn, axis=0) - 80 * share).max() < 4 * spread.max() / n_trees**0.5
    np.testing.assert_allclose(np.std(drawn, axis=0), spread, rtol=0.2)


@pytest.mark.parametrize("n_bits", [1, 8, 63, 64, 65, 130])
def test_ones_are_counted_beyond_a_byte(n_bits):
    rng = np.random.default_rng(n_bits)
    bits = (rng.random((700, n_bits)) < 0.9).astype(np.uint8)
    labels, counts = rng.integers(2, size=700), rng.integers(1, 256, size=700)
    own, ones = rng.permutation(700)[:600], np.full((2, n_bits), 9)
    _count_ones(Codes.pack(bits).words, labels, counts, own, ones)
    for k in (0, 1):
        rows = own[labels[own] == k]
        assert ones[k].tolist() == (counts[rows] @ bits[rows]).tolist()
