import naive
import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

from spacy_klsh.similarity import SymbolTable, own_similarity, symbol_similarity

THRESHOLDS = st.sampled_from((0.0, 0.25, 0.4, 0.9, 1.0))
SOFT = strategies.kernel_problems(soft=True, max_size=5)


def structures(words, rows):
    """One structure of one node with the given words and their vectors."""
    table = dict(zip(words, np.array(rows, np.float32), strict=True))
    return strategies.pack([[words]], table)


@given(SOFT, THRESHOLDS)
@strategies.THOROUGH
def test_similarity_is_the_thresholded_cosine(problem, threshold):
    x, y = problem.x["path"], problem.y["path"]
    found = symbol_similarity(x, y, threshold=threshold)
    expected = [
        [
            naive.symbol_similarity(a, b, vectors=problem.vectors, threshold=threshold)
            for b in y.symbols
        ]
        for a in x.symbols
    ]
    assert found.dtype == np.float32
    assert found.shape == (len(x.symbols), len(y.symbols))
    np.testing.assert_allclose(found, np.reshape(expected, found.shape), atol=1e-5)


@given(SOFT, THRESHOLDS)
@strategies.QUICK
def test_similarity_is_in_0_1_and_symmetric_to_the_bit(problem, threshold):
    x, y = problem.x["path"], problem.y["path"]
    found = symbol_similarity(x, y, threshold=threshold)
    assert ((found >= 0) & (found <= 1)).all()
    assert naive.same_bits(found, symbol_similarity(y, x, threshold=threshold).T.copy())


@pytest.mark.parametrize(
    ("cosine", "threshold", "expected"),
    [
        (0.7, 0.4, 0.35),  # (.7 - .4) / (1 - .4) * .7
        (0.7, 0.0, 0.49),
        (0.4, 0.4, 0.0),
        (-0.7, 0.0, 0.0),
        (1.0, 0.4, 1.0),
        (1.0, 1.0, 0.0),
    ],
)
def test_known_values_of_different_symbols(cosine, threshold, expected):
    x = structures(["lemma=cat"], [[1.0, 0.0]])
    y = structures(["lemma=dog"], [[cosine, np.sqrt(1 - cosine**2)]])
    found = symbol_similarity(x, y, threshold=threshold)
    np.testing.assert_allclose(found, [[expected]], atol=1e-6)


@pytest.mark.parametrize("threshold", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("row", [[0.0, 0.0], [0.6, 0.8]])
def test_equal_symbols_are_similar_whatever_their_vector(row, threshold):
    x = structures(["lemma=cat"], [row])
    assert symbol_similarity(x, x, threshold=threshold).tolist() == [[1.0]]


def test_a_zero_vector_means_equality_only():
    x = structures(["lemma=cat", "lemma=dog"], [[0.0, 0.0], [1.0, 0.0]])
    assert symbol_similarity(x, x, threshold=0.0).tolist() == [[1.0, 0.0], [0.0, 1.0]]


@pytest.mark.parametrize(("threshold", "expected"), [(0.4, 1.0), (1.0, 0.0)])
def test_a_cosine_rounded_above_1_counts_as_1(threshold, expected):
    row = np.full(3, np.nextafter(np.float32(1 / np.sqrt(3)), np.float32(1)))
    assert row @ row > 1
    x, y = structures(["lemma=cat"], [row]), structures(["lemma=dog"], [row])
    assert symbol_similarity(x, y, threshold=threshold).tolist() == [[expected]]


def test_a_row_does_not_depend_on_what_else_is_compared():
    paths, table = strategies.corpus(60)
    x = strategies.pack(paths, table)
    whole = symbol_similarity(x, x, threshold=0.4)
    for rows in (slice(1), slice(1, 4), slice(4, None)):
        part = strategies.pack([[x.symbols[rows]]], table)
        columns = SymbolTable(x, threshold=0.4)
        assert naive.same_bits(columns.similarity(part), whole[rows])
        alone = symbol_similarity(x, part, threshold=0.4)
        assert naive.same_bits(alone, whole[:, rows].copy())


def test_other_word_vectors_are_refused():
    x, y = structures(["lemma=cat"], [[1.0, 0.0]]), structures(["lemma=cat"], [[1.0]])
    with pytest.raises(ValueError, match="vectors of 2 dimensions but the reference has 1"):
        symbol_similarity(x, y, threshold=0.4)


@given(strategies.structures(), THRESHOLDS)
@strategies.THOROUGH
def test_own_similarity_equals_that_between_dictionaries_to_the_bit(x, threshold):
    values, starts = own_similarity(x, threshold=threshold)
    table = symbol_similarity(x, x, threshold=threshold)
    assert starts.tolist() == [0, *np.cumsum(x.lengths**2)]
    for i, n in enumerate(x.lengths):
        nodes = x.nodes[x.offsets[i] : x.offsets[i + 1]]
        block = values[starts[i] : starts[i + 1]].reshape(n, n, x.nodes.shape[1])
        assert naive.same_bits(block, table[nodes[:, None], nodes[None]])
