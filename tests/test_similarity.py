import naive
import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

from spacy_klsh.similarity import EDGES, TOKENS, SymbolTable, TokenKernel, own_similarity
from spacy_klsh.structures import Structures

KERNELS = strategies.token_kernels().map(lambda settings: TokenKernel(**settings))
SOFT = strategies.kernel_problems(soft=True, max_size=5)


def structures(words, rows):
    """One structure of one node with the given words and their vectors."""
    table = dict(zip(words, np.array(rows, np.float32), strict=True))
    return strategies.pack([[words]], table)


def similarity(x, y, **settings):
    return SymbolTable(y, TokenKernel(**settings)).similarity(x)


@given(SOFT, strategies.token_kernels())
@strategies.THOROUGH
def test_similarity_is_what_the_formulas_say(problem, settings):
    x, y = problem.x["path"], problem.y["path"]
    found = similarity(x, y, **settings)
    expected = [
        [naive.symbol_similarity(a, b, vectors=problem.vectors, **settings) for b in y.symbols]
        for a in x.symbols
    ]
    assert found.dtype == np.float32
    assert found.shape == (len(x.symbols), len(y.symbols))
    np.testing.assert_allclose(found, np.reshape(expected, found.shape), atol=1e-5)


@given(SOFT, KERNELS)
@strategies.THOROUGH
def test_similarity_is_in_0_1_and_symmetric_to_the_bit(problem, kernel):
    x, y = problem.x["path"], problem.y["path"]
    found = SymbolTable(y, kernel).similarity(x)
    assert ((found >= 0) & (found <= 1)).all()
    assert naive.same_bits(found, SymbolTable(x, kernel).similarity(y).T.copy())


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
    found = similarity(x, y, threshold=threshold)
    np.testing.assert_allclose(found, [[expected]], atol=1e-6)


@pytest.mark.parametrize("threshold", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("row", [[0.0, 0.0], [0.6, 0.8]])
def test_equal_symbols_are_similar_whatever_their_vector(row, threshold):
    x = structures(["lemma=cat"], [row])
    assert similarity(x, x, threshold=threshold).tolist() == [[1.0]]


@pytest.mark.parametrize("tokens", TOKENS)
def test_a_zero_vector_means_equality_only(tokens):
    x = structures(["lemma=cat", "lemma=dog"], [[0.0, 0.0], [1.0, 0.0]])
    assert similarity(x, x, threshold=0.0, tokens=tokens).tolist() == [[1.0, 0.0], [0.0, 1.0]]


@pytest.mark.parametrize(("threshold", "expected"), [(0.4, 1.0), (1.0, 0.0)])
def test_a_cosine_rounded_above_1_counts_as_1(threshold, expected):
    row = np.full(3, np.nextafter(np.float32(1 / np.sqrt(3)), np.float32(1)))
    assert row @ row > 1
    x, y = structures(["lemma=cat"], [row]), structures(["lemma=dog"], [row])
    assert similarity(x, y, threshold=threshold).tolist() == [[expected]]


@pytest.mark.parametrize("tokens", TOKENS)
@pytest.mark.parametrize("edges", EDGES)
def test_a_row_does_not_depend_on_what_else_is_compared(tokens, edges):
    paths, table = strategies.corpus(60)
    x, kernel = strategies.pack(paths, table), TokenKernel(tokens=tokens, edges=edges)
    whole = SymbolTable(x, kernel).similarity(x)
    for rows in (slice(1), slice(1, 4), slice(4, None)):
        part = strategies.pack([[x.symbols[rows]]], table)
        assert naive.same_bits(SymbolTable(x, kernel).similarity(part), whole[rows])
        alone = SymbolTable(part, kernel).similarity(x)
        assert naive.same_bits(alone, whole[:, rows].copy())


def test_other_word_vectors_are_refused():
    x, y = structures(["lemma=cat"], [[1.0, 0.0]]), structures(["lemma=cat"], [[1.0]])
    with pytest.raises(ValueError, match="vectors of 2 dimensions but the reference has 1"):
        similarity(x, y)


@given(strategies.structures(), KERNELS)
@strategies.THOROUGH
def test_own_similarity_equals_that_between_dictionaries_to_the_bit(x, kernel):
    values, starts = own_similarity(x, kernel)
    table = SymbolTable(x, kernel).similarity(x)
    assert starts.tolist() == [0, *np.cumsum(x.lengths**2)]
    for i, n in enumerate(x.lengths):
        nodes = x.nodes[x.offsets[i] : x.offsets[i + 1]]
        block = values[starts[i] : starts[i + 1]].reshape(n, n, x.nodes.shape[1])
        assert naive.same_bits(block, table[nodes[:, None], nodes[None]])


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"tokens": "gaussian"}, [np.exp(-2), np.exp(-0.8), np.exp(-4)]),
        ({"tokens": "gaussian", "bandwidth": 0.5}, [np.exp(-4), np.exp(-1.6), np.exp(-8)]),
        ({"tokens": "sigmoid"}, [0.5, (1 + np.tanh(0.6)) / 2, (1 - np.tanh(1)) / 2]),
        ({"tokens": "equality"}, [0, 0, 0]),
        ({"tokens": "cosine", "threshold": 0.2}, [0, 0.3, 0]),
    ],
)
def test_known_values_of_each_token_kernel(settings, expected):
    x = structures(["lemma=cat"], [[1.0, 0.0]])
    y = structures(["lemma=a", "lemma=b", "lemma=c"], [[0.0, 1.0], [0.6, 0.8], [-1.0, 0.0]])
    np.testing.assert_allclose(similarity(x, y, **settings), [expected], rtol=1e-6)


@given(st.floats(-120, 120, width=32), st.floats(0.001, 1000))
@strategies.THOROUGH
def test_exponentials_of_any_vector_are_close_and_never_overflow(product, bandwidth):
    x, y = structures(["lemma=cat"], [[product]]), structures(["lemma=dog"], [[1.0]])
    found = [similarity(x, y, tokens=t, bandwidth=bandwidth) for t in ("sigmoid", "gaussian")]
    if product == 0:  # no vector
        assert found == [[[0.0]], [[0.0]]]
        return
    square = np.float32(np.float32(product) - np.float32(1)) ** 2
    expected = [(1 + np.tanh(product)) / 2, np.exp(-np.float64(square) / bandwidth)]
    np.testing.assert_allclose(np.ravel(found), expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("tokens", TOKENS)
def test_a_symbol_is_most_similar_to_itself(tokens):
    words = [f"lemma={word}" for word in "abcd"]
    x = structures(words, [[0.6, 0.8], [0.6, 0.8], [1.0, 0.0], [0.0, 0.0]])
    found = similarity(x, x, tokens=tokens)
    assert np.diag(found).tolist() == [1, 1, 1, 1]
    twins = {"cosine": 1, "equality": 0, "gaussian": 1, "sigmoid": (1 + np.tanh(1)) / 2}
    assert found[0, 1] == pytest.approx(twins[tokens])
    assert found[3].tolist() == [0, 0, 0, 1]


ARCS = ["dep=x<", "dep=y<", "dep=x>", "dep=", "role=x", "lemma=x<"]


@pytest.mark.parametrize("tokens", TOKENS)
@pytest.mark.parametrize(
    ("edges", "alike"),
    [
        ("label", [{0}, {1}, {2}, {3}, {4}, {5}]),
        ("direction", [{0, 1}, {2}, {3}, {4}, {5}]),
        ("any", [{0, 1, 2}, {3}, {4}, {5}]),
    ],
)
def test_edges_are_alike_by_label_by_direction_or_always(edges, alike, tokens):
    x = Structures.from_symbols([[ARCS]])
    expected = [
        [float(any({i, j} <= group for group in alike)) for j in range(6)] for i in range(6)
    ]
    assert similarity(x, x, edges=edges, tokens=tokens).tolist() == expected


def smallest_eigenvalue(x, **settings):
    return np.linalg.eigvalsh(similarity(x, x, **settings).astype(np.float64)).min()


@given(
    strategies.structures(min_size=3, max_size=6),
    strategies.token_kernels(tokens=st.sampled_from(("equality", "gaussian"))),
)
@strategies.THOROUGH
def test_equality_and_gaussian_are_positive_semi_definite_with_edges_of_any_kind(x, settings):
    assert not x.symbols or smallest_eigenvalue(x, **settings) > -1e-5


@given(strategies.kernel_problems(soft=False, max_size=6), strategies.token_kernels())
@strategies.QUICK
def test_without_vectors_every_token_kernel_is_positive_semi_definite(problem, settings):
    x = problem.x["path"]
    assert not x.symbols or smallest_eigenvalue(x, **settings) > -1e-5


def ring(n):
    """Words all around a circle."""
    angles = 2 * np.pi * np.arange(n) / n
    return structures(
        [f"lemma={i}" for i in range(n)], np.stack([np.cos(angles), np.sin(angles)], axis=1)
    )


@pytest.mark.parametrize(("tokens", "lowest"), [("cosine", -0.1), ("sigmoid", -0.1)])
def test_cosine_and_sigmoid_are_not_positive_semi_definite(tokens, lowest):
    assert smallest_eigenvalue(ring(60), tokens=tokens) < lowest
    assert smallest_eigenvalue(ring(60), tokens="gaussian") > -1e-5


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"tokens": "dot"}, "tokens is 'dot'; choose one of cosine, equality, gaussian, sigmoid"),
        ({"edges": "arc"}, "edges is 'arc'; choose one of label, direction, any"),
        ({"bandwidth": 0.0}, r"bandwidth is 0\.0; give a number above 0"),
        ({"bandwidth": float("inf")}, "bandwidth is inf"),
        ({"bandwidth": float("nan")}, "bandwidth is nan"),
        ({"threshold": 1.1}, r"threshold is 1\.1; choose it in \[0, 1\]"),
    ],
)
def test_settings_out_of_range_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        TokenKernel(**settings)
