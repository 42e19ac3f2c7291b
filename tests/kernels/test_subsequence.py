from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import naive
import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

from spacy_klsh.kernels.packing import N_LANES
from spacy_klsh.kernels.subsequence import SubsequenceKernel
from spacy_klsh.structures import Structures
from spacy_klsh.views import take

N_PATHS = 1100 if strategies.JIT else 80
N_REFERENCES = 60 if strategies.JIT else 12


TUPLES = {"decay": 0.5, "interleaved": False}


def paths(*words, edges=None):
    """A view of paths with one node a letter."""
    edges = edges or ["dep=nsubj<"] * max(map(len, words))
    nodes = [
        [(edge, f"lemma={letter}") for edge, letter in zip(edges, word, strict=False)]
        for word in words
    ]
    return {"path": Structures.from_symbols(nodes)}


def repacked(problem, table):
    """The first set of paths of a problem with other vectors."""
    n_attributes = problem.x["path"].nodes.shape[1]
    return {"path": strategies.pack(problem.x_words, table, n_attributes=n_attributes)}


@pytest.fixture(scope="module")
def bulk():
    words, table = strategies.corpus(N_PATHS)
    return {"path": strategies.pack(words, table)}


@pytest.fixture(scope="module")
def references():
    words, table = strategies.corpus(N_REFERENCES, seed=1)
    return {"path": strategies.pack(words, table)}


@pytest.fixture(scope="module", params=[False, True], ids=["tuples", "interleaved"])
def compare(request, references):
    kernel = SubsequenceKernel(interleaved=request.param, threshold=0.4, sigma={"conj": 0.3})
    return kernel.against(references)


@pytest.fixture(scope="module")
def whole(compare, bulk):
    gram = compare(bulk)
    assert np.unique(gram).size > N_PATHS
    return gram


@given(strategies.kernel_problems())
@strategies.THOROUGH
def test_gram_is_the_normalized_enumeration(problem):
    found = SubsequenceKernel(**problem.parameters).gram(problem.x, problem.y)
    expected = naive.subsequence_gram(
        problem.x_words, problem.y_words, vectors=problem.vectors, **problem.parameters
    )
    assert found.dtype == np.float32
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, atol=1e-5)


BRANCHES = ["", "a", "ab", "abc", "abca", "abcb", "ab", "b", "ba", "bacab", "bacaa", "xab", "xx"]
LONG = ["ab" * 60, "ab" * 59 + "c", "ab" * 30 + "c" * 9, "ab" * 60 + "abc"]


@pytest.mark.parametrize(
    ("words", "references"),
    [(BRANCHES, BRANCHES), (LONG, ["abc" * 90, "ba"] if strategies.JIT else ["ab"])],
    ids=["all", "more than fits into the states that are kept"],
)
@pytest.mark.parametrize("settings", [TUPLES, {"max_length": 1}, {"max_length": 3}])
def test_paths_that_begin_alike_have_the_values_they_have_alone(words, references, settings):
    compare = SubsequenceKernel(**settings).against(paths(*references))
    whole = compare(paths(*words))
    alone = [compare(paths(word))[0] for word in words]
    np.testing.assert_array_equal(whole, np.array(alone))
    np.testing.assert_array_equal(whole[::-1], compare(paths(*words[::-1])))
    assert np.unique(whole).size > 3


@given(strategies.kernel_problems())
@strategies.THOROUGH
def test_self_values_are_the_enumeration(problem):
    found = SubsequenceKernel(**problem.parameters).self_values(problem.x)
    expected = [
        naive.subsequence_value(s, s, vectors=problem.vectors, **problem.parameters)
        for s in problem.x_words
    ]
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_the_worked_example_of_lodhi_et_al():
    kernel = SubsequenceKernel(**TUPLES, max_length=2, length_weights=(0.0, 1.0))
    np.testing.assert_allclose(kernel.self_values(paths("cat")), [2 * 0.5**4 + 0.5**6])
    gram = kernel.gram(paths("cat"), paths("car"))
    np.testing.assert_allclose(gram, [[1 / (2 + 0.5**2)]], rtol=1e-6)


def test_an_edge_never_matches_a_node():
    kernel = SubsequenceKernel(interleaved=True)
    edge_named_as_node = paths("ab", edges=["dep=", "lemma=c"])
    assert kernel.gram(edge_named_as_node, paths("c")).tolist() == [[0.0]]


def test_the_edge_into_the_first_node_is_no_item_when_interleaved():
    x, y = paths("ab", edges=["dep=", "dep=obj>"]), paths("ab", edges=["dep=conj>", "dep=obj>"])
    gram = SubsequenceKernel(interleaved=True).gram(x, y)
    np.testing.assert_allclose(gram, [[1.0]], rtol=1e-6)


@pytest.mark.parametrize("direction", ["<", ">"])
def test_sigma_0_removes_the_items_with_that_edge_in_either_direction(direction):
    kernel = SubsequenceKernel(**TUPLES, max_length=2, sigma={"conj": 0.0})
    x = paths("abc", edges=["dep=", f"dep=conj{direction}", "dep=obj>"])
    a_and_c_alone, both_over_the_gap = 2 * 0.5**2, 0.5**6
    np.testing.assert_allclose(kernel.self_values(x), [a_and_c_alone + both_over_the_gap])


def test_sigma_0_on_every_edge_gives_0_not_nan():
    kernel = SubsequenceKernel(**TUPLES, sigma={"nsubj": 0.0})
    assert kernel.gram(paths("abc"), paths("abc", "")).tolist() == [[0.0, 0.0]]


@given(strategies.kernel_problems(max_size=5))
@strategies.THOROUGH
def test_the_diagonal_is_1_unless_the_norm_is_0(problem):
    kernel = SubsequenceKernel(**problem.parameters)
    expected = kernel.self_values(problem.x) > 0
    np.testing.assert_allclose(np.diag(kernel.gram(problem.x, problem.x)), expected, atol=1e-6)


@given(strategies.kernel_problems(soft=False, max_size=5))
@strategies.THOROUGH
def test_with_equality_values_are_in_0_1(problem):
    gram = SubsequenceKernel(**problem.parameters).gram(problem.x, problem.y)
    assert ((gram >= 0) & (gram <= 1 + 1e-6)).all()


@given(strategies.kernel_problems(soft=True, max_size=5))
@strategies.THOROUGH
def test_with_word_vectors_values_are_finite_and_not_negative(problem):
    gram = SubsequenceKernel(**problem.parameters).gram(problem.x, problem.y)
    assert (gram >= 0).all()
    assert np.isfinite(gram).all()


@given(strategies.kernel_problems(soft=False, max_size=6))
@strategies.THOROUGH
def test_with_equality_the_gram_is_positive_semi_definite(problem):
    both = {"path": Structures.concat([problem.x["path"], problem.y["path"]])}
    gram = SubsequenceKernel(**problem.parameters).gram(both, both).astype(np.float64)
    assert not len(gram) or np.linalg.eigvalsh((gram + gram.T) / 2).min() >= -1e-6


@given(strategies.kernel_problems(soft=True, max_size=6), st.sampled_from(("equality", "gaussian")))
@strategies.THOROUGH
def test_with_word_vectors_equality_and_gaussian_are_positive_semi_definite(problem, tokens):
    both = {"path": Structures.concat([problem.x["path"], problem.y["path"]])}
    kernel = SubsequenceKernel(**problem.parameters | {"tokens": tokens})
    gram = kernel.gram(both, both).astype(np.float64)
    assert not len(gram) or np.linalg.eigvalsh((gram + gram.T) / 2).min() >= -1e-5


@pytest.mark.parametrize("tokens", ["cosine", "sigmoid", "gaussian"])
def test_which_grams_have_negative_eigenvalues(tokens):
    angles = np.arange(60) * 2 * np.pi / 60
    table = {f"lemma={i}": np.float32([np.cos(a), np.sin(a)]) for i, a in enumerate(angles)}
    x = {"path": strategies.pack([[("dep=", word)] for word in table], table)}
    lowest = np.linalg.eigvalsh(SubsequenceKernel(tokens=tokens).gram(x, x)).min()
    assert lowest > -1e-4 if tokens == "gaussian" else lowest < -0.1


@given(strategies.kernel_problems(), st.data())
@strategies.THOROUGH
def test_sigma_0_removes_the_words_of_an_edge_wherever_they_are_compared(problem, data):
    """Nothing depends on what stands in the nodes that such an edge enters."""
    parameters = problem.parameters | {"sigma": {"conj": 0.0}, "interleaved": False}
    kernel, column = SubsequenceKernel(**parameters), data.draw(st.integers(1, 9))

    def altered(words):
        word = strategies.COLUMNS[1][column % 3]
        return [[(e, word, *rest) if "conj" in e else (e, w, *rest) for e, w, *rest in path]
                for path in words]  # fmt: skip

    n_attributes = problem.x["path"].nodes.shape[1]
    x, y = (
        {"path": strategies.pack(altered(w), problem.vectors, n_attributes=n_attributes)}
        for w in (problem.x_words, problem.y_words)
    )
    assert naive.same_bits(kernel.gram(x, y), kernel.gram(problem.x, problem.y))
    assert naive.same_bits(kernel.self_values(x), kernel.self_values(problem.x))
    own, other = (places.ravel() for places in np.indices((len(x["path"]), len(y["path"]))))
    found = kernel.pairs(x, y, own, other)
    assert naive.same_bits(found, kernel.pairs(problem.x, problem.y, own, other))
    matches = kernel.matches(take(x, own), take(y, other))
    for views, rows, places in ((x, own, matches.own), (y, other, matches.other)):
        chosen = take(views, rows)["path"]
        first = np.repeat(chosen.offsets[:-1], np.diff(matches.offsets))
        edges = chosen.nodes[first + places, 0]
        assert not [chosen.symbols[edge] for edge in edges if "conj" in chosen.symbols[edge]]


@given(strategies.kernel_problems())
@strategies.THOROUGH
def test_gram_is_symmetric(problem):
    kernel = SubsequenceKernel(**problem.parameters)
    there, back = kernel.gram(problem.x, problem.y), kernel.gram(problem.y, problem.x)
    np.testing.assert_allclose(there, back.T, atol=1e-6)


@pytest.mark.parametrize("interleaved", [False, True])
def test_an_empty_structure_is_similar_to_nothing(interleaved):
    x = paths("", "ab", "")
    gram = SubsequenceKernel(interleaved=interleaved).gram(x, x)
    np.testing.assert_allclose(gram, np.diag([0.0, 1.0, 0.0]), atol=1e-6)


@pytest.mark.parametrize(("n", "m"), [(0, 0), (0, 2), (2, 0)])
def test_no_structures_give_an_empty_gram(n, m):
    x, y = ({"path": paths("ab", "")["path"][:size]} for size in (n, m))
    assert SubsequenceKernel().gram(x, y).shape == (n, m)


@given(strategies.kernel_problems(soft=False))
@strategies.QUICK
def test_zero_vectors_mean_equality_only(problem):
    kernel = SubsequenceKernel(**problem.parameters)
    zeros = {symbol: np.zeros(3, np.float32) for symbol in problem.x["path"].symbols}
    padded = repacked(problem, zeros)
    assert naive.same_bits(kernel.gram(padded, padded), kernel.gram(problem.x, problem.x))


@given(strategies.kernel_problems(soft=True))
@strategies.QUICK
def test_threshold_1_means_equality_only(problem):
    kernel = SubsequenceKernel(**problem.parameters | {"threshold": 1.0, "tokens": "cosine"})
    bare = repacked(problem, {})
    assert naive.same_bits(kernel.gram(problem.x, problem.x), kernel.gram(bare, bare))


@pytest.mark.parametrize(
    ("parameters", "same"),
    [
        ({"length_weights": (2.0, 4.0, 6.0, 8.0)}, {"length_weights": (1, 2, 3, 4)}),
        ({"max_length": 5}, {"max_length": 9}),
        ({"attribute_weights": (7.0,)}, {}),
        ({"sigma": {"nsubj": 1.0}}, {}),
    ],
    ids=["scaled length_weights", "longer than the paths", "scaled attribute_weights", "sigma 1"],
)
def test_what_does_not_matter_after_normalization(parameters, same):
    x = paths("abcab", "bca", "cc")
    found, expected = (
        SubsequenceKernel(**TUPLES, **kwargs).gram(x, x) for kwargs in (parameters, same)
    )
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_the_view_is_chosen_by_name():
    kernel = SubsequenceKernel(view="between")
    views = {"path": paths("ab", "c")["path"], "between": paths("a", "a")["path"]}
    assert kernel.views == ("between",)
    np.testing.assert_allclose(kernel.gram(views, views), np.ones((2, 2)), rtol=1e-6)


@pytest.mark.parametrize("block", [1, 7, 500])
def test_gram_is_the_same_for_any_block_size(compare, whole, bulk, block):
    parts = [
        compare({"path": bulk["path"][first : first + block]}) for first in range(0, N_PATHS, block)
    ]
    assert naive.same_bits(np.concatenate(parts), whole)


def test_gram_is_the_same_in_any_order(compare, whole, bulk):
    order = np.random.default_rng(2).permutation(N_PATHS)
    assert naive.same_bits(compare({"path": bulk["path"][order]}), whole[order])


def test_a_reference_does_not_care_what_stands_beside_it(compare, bulk, references):
    kernel = compare._kernel
    rows = bulk["path"][: max(20, 2 * N_LANES)]
    together = kernel.gram(references, {"path": rows})
    alone = [kernel.gram(references, {"path": rows[j]}) for j in range(len(rows))]
    assert len(np.unique(rows.lengths)) > 3
    assert naive.same_bits(together, np.concatenate(alone, axis=1))


def test_gram_is_the_same_for_any_order_of_the_references(bulk, references):
    order = np.random.default_rng(3).permutation(N_REFERENCES)
    kernel = SubsequenceKernel()
    shuffled = kernel.gram(bulk, {"path": references["path"][order]})
    assert naive.same_bits(shuffled, np.ascontiguousarray(kernel.gram(bulk, references)[:, order]))


def test_gram_is_the_same_from_two_threads_at_once(compare, whole, bulk):
    start = Barrier(2)

    def run(_):
        start.wait()
        return compare(bulk)

    with ThreadPoolExecutor(2) as pool:
        for gram in pool.map(run, range(2)):
            assert naive.same_bits(gram, whole)


def test_gram_is_the_same_after_saving_and_loading(compare, whole, bulk, tmp_path):
    loaded = {"path": strategies.npz_round_trip(bulk["path"], tmp_path / "bulk.npz")}
    assert naive.same_bits(compare(loaded), whole)


def test_gram_is_against_called_once(bulk, references):
    kernel = SubsequenceKernel()
    assert naive.same_bits(kernel.gram(bulk, references), kernel.against(references)(bulk))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"decay": 0.0}, r"decay is 0\.0; choose it in \(0, 1\]"),
        ({"decay": 1.5}, r"decay is 1\.5"),
        ({"decay": float("nan")}, "decay is nan"),
        ({"max_length": 0}, "max_length is 0; at least 1 item"),
        ({"threshold": -0.1}, r"threshold is -0\.1; choose it in \[0, 1\]"),
        ({"threshold": 1.1}, r"threshold is 1\.1"),
        ({"threshold": float("nan")}, "threshold is nan"),
        ({"length_weights": (1.0,)}, "length_weights has 1 values for max_length = 4"),
        ({"length_weights": (1.0, -1.0, 1.0, 1.0)}, "length_weights is .* numbers >= 0"),
        ({"length_weights": (0.0,) * 4}, "length_weights is .* not all of them 0"),
        ({"attribute_weights": (0.0,)}, "attribute_weights is .* not all of them 0"),
        ({"attribute_weights": (2.0, -1.0)}, "attribute_weights is .* numbers >= 0"),
        ({"sigma": {"conj": -1.0}}, r"sigma\['conj'\] is -1\.0; give one in \[0, 100\]"),
        ({"sigma": {"conj": 100.1}}, r"sigma\['conj'\] is 100\.1; give one in \[0, 100\]"),
        ({"sigma": {"conj": float("nan")}}, r"sigma\['conj'\] is nan"),
    ],
)
def test_parameters_out_of_range_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        SubsequenceKernel(**parameters)


def test_a_wrong_number_of_attribute_weights_is_refused():
    with pytest.raises(ValueError, match="2 values but nodes have 1 attributes beside the edge"):
        SubsequenceKernel(attribute_weights=(1.0, 1.0)).gram(paths("a"), paths("a"))


def test_structures_with_other_attributes_are_refused():
    wide = {"path": Structures.from_symbols([[("dep=", "lemma=cat", "pos=NOUN")]])}
    with pytest.raises(ValueError, match="nodes have 3 attributes but those compared with have 2"):
        SubsequenceKernel().gram(wide, paths("a"))


def test_other_word_vectors_are_refused():
    words, table = strategies.corpus(3)
    with pytest.raises(ValueError, match="vectors of 20 dimensions but the reference has 0"):
        SubsequenceKernel().gram({"path": strategies.pack(words, table)}, paths("a"))


@pytest.mark.parametrize(
    "setting",
    [
        {"sigma": {"conj": float("inf")}},
        {"sigma": {"conj": float("nan")}},
        {"length_weights": (float("inf"), 1.0, 1.0, 1.0)},
        {"length_weights": (1.0, 1.0, 1.0, float("nan"))},
        {"attribute_weights": (1.0, float("nan"))},
        {"attribute_weights": ()},
    ],
)
def test_weights_that_are_no_finite_numbers_are_refused(setting):
    with pytest.raises(ValueError, match="give"):
        SubsequenceKernel(**setting)


def test_nodes_without_attributes_are_refused():
    lone = {"path": Structures.from_symbols([[("dep=",)]], n_attributes=1)}
    with pytest.raises(ValueError, match="at least one attribute"):
        SubsequenceKernel().gram(lone, lone)


def test_a_symbol_that_stands_twice_is_refused():
    nodes, offsets = np.array([[0, 1]], np.int32), np.array([0, 1], np.int64)
    with pytest.raises(ValueError, match="twice"):
        Structures(nodes, offsets, ("a", "a"), np.zeros((2, 0), np.float32))


@given(strategies.kernel_problems(), st.data())
@strategies.THOROUGH
def test_chosen_pairs_have_the_values_of_the_gram(problem, data):
    kernel = SubsequenceKernel(**problem.parameters)
    gram = kernel.gram(problem.x, problem.y)
    pair = st.tuples(*(st.integers(0, size - 1) for size in gram.shape))
    chosen = data.draw(st.lists(pair, max_size=8))
    own, other = np.array(chosen, np.int64).reshape(-1, 2).T
    found = kernel.pairs(problem.x, problem.y, own, other)
    assert naive.same_bits(found, gram[own, other])


@pytest.mark.parametrize("interleaved", [False, True])
def test_many_chosen_pairs_have_the_values_of_the_gram(bulk, references, interleaved):
    kernel = SubsequenceKernel(interleaved=interleaved, sigma={"conj": 0.3})
    rng = np.random.default_rng(0)
    own, other = (rng.integers(size, size=5 * N_PATHS) for size in (N_PATHS, N_REFERENCES))
    gram = kernel.gram(bulk, references)
    assert naive.same_bits(kernel.pairs(bulk, references, own, other), gram[own, other])
