from dataclasses import replace

import naive
import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

from spacy_klsh.hashing.klsh import KLSH
from spacy_klsh.kernels.combine import CombinedKernel
from spacy_klsh.kernels.learned import LearnedSubsequenceKernel
from spacy_klsh.kernels.nodes import MAX_SIGMA
from spacy_klsh.kernels.subsequence import SubsequenceKernel
from spacy_klsh.structures import Structures
from spacy_klsh.views import take

SYMBOLS = sum(strategies.COLUMNS, ())
TEXTS = ("ab", "ac", "bd", "cd", "ae", "be", "ca", "ec")


def words(*texts):
    """A view of structures with one node a letter."""
    return {
        "path": Structures.from_symbols(
            [[("dep=obj>", f"lemma={letter}") for letter in text] for text in texts]
        )
    }


@pytest.fixture(scope="module")
def views():
    """Structures of which those with an a are related."""
    return words(*TEXTS)


@pytest.fixture(scope="module")
def y():
    return np.array([["a" not in text, "a" in text] for text in TEXTS])


@pytest.fixture(scope="module")
def learned(views, y):
    return LearnedSubsequenceKernel().fit(views, y)


@given(
    strategies.kernel_problems(),
    st.dictionaries(st.sampled_from(SYMBOLS), st.sampled_from((0.0, 0.5, 1.0, 4.0))),
)
@strategies.THOROUGH
def test_weights_multiply_the_similarities_of_symbols(problem, weights):
    kernel = LearnedSubsequenceKernel(**problem.parameters, _weights=weights)
    found = kernel.gram(problem.x, problem.y)
    expected = naive.subsequence_gram(
        problem.x_words,
        problem.y_words,
        vectors=problem.vectors,
        symbol_weights=weights,
        **problem.parameters,
    )
    np.testing.assert_allclose(found, expected, atol=1e-5)
    own, other = (places.ravel() for places in np.indices(found.shape))
    assert naive.same_bits(kernel.pairs(problem.x, problem.y, own, other), found.ravel())
    alone = [kernel.gram(take(problem.x, [i]), problem.y)[0] for i in range(len(found))]
    assert naive.same_bits(np.array(alone), found)
    n = min(found.shape)
    matches = kernel.matches(take(problem.x, slice(n)), take(problem.y, slice(n)))
    expected = [
        match
        for s, t in zip(problem.x_words[:n], problem.y_words[:n], strict=True)
        for match in naive.matches(
            s, t, vectors=problem.vectors, symbol_weights=weights, **problem.parameters
        )
        if match[2] > 1e-6
    ]
    similarity = matches.similarity[matches.similarity > 1e-6]
    np.testing.assert_allclose(similarity, [match[2] for match in expected], rtol=1e-4)


@given(strategies.kernel_problems())
@strategies.QUICK
def test_without_labels_it_is_the_path_kernel_to_the_bit(problem):
    found = LearnedSubsequenceKernel(**problem.parameters).gram(problem.x, problem.y)
    expected = SubsequenceKernel(**problem.parameters).gram(problem.x, problem.y)
    assert naive.same_bits(found, expected)


def test_symbols_that_tell_the_labels_apart_weigh_more(views, learned):
    weights = dict(zip(views["path"].symbols, learned._symbol_weights(views["path"]), strict=True))
    assert weights["lemma=a"] == max(weights.values()) > 1.25
    assert weights["dep=obj>"] == 1  # the only one of its kind
    assert learned._symbol_weights(words("z")["path"])[1] == 1
    with_a, without = learned.gram(words("ae"), words("ac", "ce"))[0]
    assert with_a > 1.1 * without
    plain = SubsequenceKernel().gram(words("ae"), words("ac", "ce"))[0]
    assert plain[0] == pytest.approx(plain[1])


def test_squared_weights_of_a_kind_average_1(views, learned):
    nodes = learned._symbol_weights(views["path"])[views["path"].nodes]
    np.testing.assert_allclose((nodes**2).mean(axis=0), [1, 1], rtol=1e-5)


def test_labels_may_be_numbers_or_columns_and_nothing_else_matters(views, y, learned):
    by_number = LearnedSubsequenceKernel().fit(views, y.argmax(axis=1))
    again = by_number.fit(views, y)
    assert by_number == learned == again
    assert LearnedSubsequenceKernel() != learned


def test_training_changes_neither_structures_nor_the_kernel(y):
    views, untouched, kernel = words(*TEXTS), words(*TEXTS), LearnedSubsequenceKernel()
    kernel.fit(views, y)
    assert np.array_equal(views["path"].nodes, untouched["path"].nodes)
    assert kernel == LearnedSubsequenceKernel()


@pytest.mark.parametrize("labels", [np.zeros(8, int), np.ones((8, 1), bool)])
def test_one_label_teaches_nothing(views, labels):
    kernel = LearnedSubsequenceKernel().fit(views, labels)
    assert set(kernel._symbol_weights(views["path"]).tolist()) == {1.0}


def test_weights_are_bounded(views, y, learned, monkeypatch):
    monkeypatch.setattr("spacy_klsh.kernels.learned.MAX_SIGMA", 1.25)
    found = LearnedSubsequenceKernel().fit(views, y)._symbol_weights(views["path"])
    assert found.tolist() == np.minimum(learned._symbol_weights(views["path"]), 1.25).tolist()
    assert found.max() == 1.25


def test_labels_of_other_structures_are_refused(views):
    with pytest.raises(ValueError, match="labels of 3 structures, but 8 structures"):
        LearnedSubsequenceKernel().fit(views, np.array([0, 1, 1]))


@pytest.mark.parametrize("combined", [False, True])
def test_what_was_learned_is_restored(views, y, combined):
    plain = LearnedSubsequenceKernel()
    if combined:
        plain = CombinedKernel(kernels={"a": CombinedKernel(kernels={"path": plain})})
    kernel = KLSH(plain, n_bits=30).fit(views, y).kernel
    assert naive.same_bits(
        plain.restore(kernel.state()).gram(views, views), kernel.gram(views, views)
    )
    assert not naive.same_bits(plain.gram(views, views), kernel.gram(views, views))


def test_a_combined_kernel_lets_those_learn_that_can(views, y, learned):
    views = {**views, "between": views["path"]}
    kernels = {"path": LearnedSubsequenceKernel(), "between": SubsequenceKernel(view="between")}
    kernel = CombinedKernel(kernels=kernels).fit(views, y)
    assert kernel.kernels == {"path": learned, "between": kernels["between"]}
    assert sorted(kernel.state()) == ["path/symbol_offsets", "path/symbols", "path/weights"]
    with pytest.raises(ValueError, match=r"array 'between/weights', but only \['path'\] learn"):
        kernel.restore({**kernel.state(), "between/weights": np.ones(3, np.float32)})


FORGED = [
    ("weights", lambda a: a[:-1]),
    ("weights", lambda a: a.astype(np.float64)),
    ("weights", lambda a: -a),
    ("weights", lambda a: a * np.float32(np.nan)),
    ("weights", lambda a: a + np.float32(MAX_SIGMA)),
    ("weights", lambda a: a[:, None]),
    ("weights", lambda a: None),
    ("symbols", lambda a: a[:-1]),
    ("symbols", lambda a: np.full_like(a, 255)),
    ("symbols", lambda a: np.full_like(a, 97)),
    ("symbol_offsets", lambda a: a[::-1]),
    ("symbol_offsets", lambda a: a.astype(np.int32)),
    ("extra", lambda a: np.zeros(1)),
]


@pytest.mark.parametrize(("name", "forge"), FORGED)
def test_a_damaged_state_is_refused(learned, name, forge):
    state = learned.state()
    state[name] = forge(state.get(name))
    state = {key: array for key, array in state.items() if array is not None}
    with pytest.raises(ValueError, match="the file is damaged, train again"):
        replace(learned).restore(state)
