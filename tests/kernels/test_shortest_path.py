import naive
import naive_shortest_path
import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

from spacy_klsh.kernels.combine import CombinedKernel
from spacy_klsh.kernels.shortest_path import ShortestPathKernel
from spacy_klsh.structures import Structures

N_PATHS = 1100 if strategies.JIT else 300
N_REFERENCES = 60
SPECIAL = {"dep=conj>": "role=Site", "pos=VERB": "pos=", "lemma=dog": "lemma=="}


def view(*paths):
    return {"path": Structures.from_symbols(paths)}


def path(words, edges):
    """A path with one node a letter and one direction between two of them."""
    arcs = ["dep=", *(f"dep=obj{direction}" for direction in edges)]
    return [(arc, f"lemma={word}") for arc, word in zip(arcs, words, strict=True)]


@st.composite
def problems(draw, **choices):
    """Problems of `strategies` with parameters of this kernel, and edges and words that are rare.

    Now and then two structures are made equally long.
    """
    problem = draw(strategies.kernel_problems(**choices))
    special = SPECIAL if draw(st.booleans()) else {}
    table = {special.get(symbol, symbol): row for symbol, row in problem.vectors.items()}
    n_attributes = problem.x["path"].nodes.shape[1]
    longest = draw(st.sampled_from((2, 3, 9)))
    words = [
        [[tuple(special.get(s, s) for s in node) for node in nodes][:longest] for nodes in paths]
        for paths in (problem.x_words, problem.y_words)
    ]
    x, y = ({"path": strategies.pack(part, table, n_attributes=n_attributes)} for part in words)
    names = ("tokens", "threshold", "bandwidth", "edges", "attribute_weights", "sigma")
    parameters = {name: problem.parameters[name] for name in names}
    return strategies.Problem(*words, x, y, table, parameters)


@pytest.fixture(scope="module")
def bulk():
    words, table = strategies.corpus(N_PATHS, dim=3)
    return {"path": strategies.pack(words, table)}


@pytest.fixture(scope="module")
def references():
    words, table = strategies.corpus(N_REFERENCES, seed=1, dim=3)
    return {"path": strategies.pack(words, table)}


@pytest.fixture(scope="module", params=["direction", "label"])
def kernel(request):
    return ShortestPathKernel(edges=request.param, threshold=0.0)


@pytest.fixture(scope="module")
def compare(kernel, references):
    return kernel.against(references)


@pytest.fixture(scope="module")
def whole(compare, bulk):
    gram = compare(bulk)
    assert np.unique(gram).size > 20
    return gram


@given(problems())
@strategies.THOROUGH
def test_gram_is_the_normalized_product(problem):
    found = ShortestPathKernel(**problem.parameters).gram(problem.x, problem.y)
    expected = naive_shortest_path.shortest_path_gram(
        problem.x_words, problem.y_words, vectors=problem.vectors, **problem.parameters
    )
    assert found.dtype == np.float32
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


@given(problems())
@strategies.THOROUGH
def test_self_values_are_the_product(problem):
    found = ShortestPathKernel(**problem.parameters).self_values(problem.x)
    expected = [
        naive_shortest_path.shortest_path_value(s, s, vectors=problem.vectors, **problem.parameters)
        for s in problem.x_words
    ]
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_the_worked_example_of_bunescu_and_mooney():
    arcs = ["dep=", "dep=nsubj>", "dep=prep<", "dep=pobj<"]
    words = [
        [("his", "PRP", "", "Person"), ("his", "PRP", "", "Person")],
        [("actions", "NNS", "Noun", ""), ("arrival", "NN", "Noun", "")],
        [("in", "IN", "", ""), ("in", "IN", "", "")],
        [("Brcko", "NNP", "Noun", "Location"), ("Beijing", "NNP", "Noun", "Location")],
    ]
    names = ("lower", "tag", "pos", "ent_type")
    x, y = (
        view(
            [
                (arc, *(f"{name}={value}" for name, value in zip(names, pair[k], strict=True)))
                for arc, pair in zip(arcs, words, strict=True)
            ]
        )
        for k in range(2)
    )
    kernel = ShortestPathKernel()
    own = [kernel.self_values(views)[0] for views in (x, y)]
    assert own == [3 * 3 * 2 * 4, 3 * 3 * 2 * 4]
    np.testing.assert_allclose(kernel.gram(x, y) * np.sqrt(np.prod(own)), [[18]], rtol=1e-6)


def test_paths_of_different_lengths_have_nothing_in_common():
    x = view(path("aa", "<"), path("aaa", "<>"), path("a", ""))
    np.testing.assert_allclose(ShortestPathKernel().gram(x, x), np.eye(3), rtol=1e-6)


@pytest.mark.parametrize(
    ("edge", "other", "by_direction", "by_label"),
    [
        ("dep=obj<", "dep=obj<", 1, 1),
        ("dep=obj<", "dep=nsubj<", 1, 0),
        ("dep=obj<", "dep=obj>", 0, 0),
        ("role=Site", "role=Site", 1, 1),
        ("role=Site", "role=Cause", 0, 0),
        ("role=Site", "dep=obj<", 0, 0),
        ("role=Site<", "role=Cause<", 0, 0),
        ("dep=", "dep=", 1, 1),
        ("dep=", "dep=obj<", 0, 0),
    ],
)
def test_edges_are_alike_by_direction_or_also_by_label(edge, other, by_direction, by_label):
    x, y = (view([("dep=", "lemma=a"), (e, "lemma=b")]) for e in (edge, other))
    for edges, expected in [("direction", by_direction), ("label", by_label)]:
        gram = ShortestPathKernel(edges=edges).gram(x, y)
        np.testing.assert_allclose(gram, [[expected]], rtol=1e-6)


@pytest.mark.parametrize("edges", ["direction", "label"])
def test_the_edge_of_the_first_node_is_no_place(edges):
    x, y = view([("dep=conj<", "lemma=a")]), view([("dep=obj>", "lemma=a")])
    kernel = ShortestPathKernel(edges=edges, sigma={"conj": 0.0})
    np.testing.assert_allclose(kernel.gram(x, y), [[1.0]], rtol=1e-6)


def test_sigma_0_makes_a_path_similar_to_nothing_and_others_cancel_out():
    x = view(path("ab", "<"), path("ac", "<"), path("ab", "<"))
    kernel = ShortestPathKernel(sigma={"obj": 0.0})
    assert (kernel.gram(x, x).any(), kernel.self_values(x).any()) == (False, False)
    bare, weighed = ShortestPathKernel(), ShortestPathKernel(sigma={"obj": 3.0})
    np.testing.assert_allclose(weighed.self_values(x), 9 * bare.self_values(x))
    np.testing.assert_allclose(weighed.gram(x, x), bare.gram(x, x), rtol=1e-6)


@given(problems(max_size=5))
@strategies.THOROUGH
def test_the_diagonal_is_1_unless_the_norm_is_0(problem):
    kernel = ShortestPathKernel(**problem.parameters)
    expected = kernel.self_values(problem.x) > 0
    np.testing.assert_allclose(np.diag(kernel.gram(problem.x, problem.x)), expected, atol=1e-6)


@given(problems())
@strategies.THOROUGH
def test_gram_is_symmetric(problem):
    kernel = ShortestPathKernel(**problem.parameters)
    there, back = kernel.gram(problem.x, problem.y), kernel.gram(problem.y, problem.x)
    np.testing.assert_allclose(there, back.T, atol=1e-6)


@given(problems(soft=False, max_size=6))
@strategies.THOROUGH
def test_with_equality_the_gram_is_positive_semi_definite(problem):
    both = {"path": Structures.concat([problem.x["path"], problem.y["path"]])}
    gram = ShortestPathKernel(**problem.parameters).gram(both, both).astype(np.float64)
    assert ((gram >= 0) & (gram <= 1 + 1e-6)).all()
    assert not len(gram) or np.linalg.eigvalsh((gram + gram.T) / 2).min() >= -1e-6


def test_an_empty_path_is_similar_to_nothing():
    x = view([], path("ab", "<"), [])
    np.testing.assert_allclose(ShortestPathKernel().gram(x, x), np.diag([0, 1, 0]), atol=1e-6)
    assert ShortestPathKernel().pairs(x, x, np.arange(3), np.arange(3)).tolist()[::2] == [0, 0]


@pytest.mark.parametrize(("n", "m"), [(0, 0), (0, 2), (2, 0)])
def test_no_paths_give_an_empty_gram(n, m):
    x, y = ({"path": view(path("ab", "<"), [])["path"][:size]} for size in (n, m))
    assert ShortestPathKernel().gram(x, y).shape == (n, m)


@pytest.mark.parametrize(("weight", "sigma"), [(1e6, 100.0), (1e-6, 0.01)])
def test_values_of_long_paths_are_neither_too_large_nor_too_small(weight, sigma):
    x = view(path("a" * 400, "<" * 399), path("a" * 399 + "b", "<" * 399))
    kernel = ShortestPathKernel(attribute_weights=(weight,), sigma={"obj": sigma})
    np.testing.assert_allclose(kernel.gram(x, x), np.eye(2), rtol=1e-6)


@pytest.mark.parametrize("block", [1, 7, 500])
def test_gram_is_the_same_for_any_block_size(compare, whole, bulk, block):
    paths = bulk["path"]
    parts = [compare({"path": paths[i : i + block]}) for i in range(0, N_PATHS, block)]
    assert naive.same_bits(np.concatenate(parts), whole)


def test_gram_is_the_same_in_any_order(compare, whole, bulk):
    order = np.random.default_rng(2).permutation(N_PATHS)
    assert naive.same_bits(compare({"path": bulk["path"][order]}), whole[order])


def test_a_reference_does_not_care_what_stands_beside_it(kernel, whole, bulk, references):
    order = np.random.default_rng(3).permutation(N_REFERENCES)
    shuffled = kernel.gram(bulk, {"path": references["path"][order]})
    assert naive.same_bits(shuffled, np.ascontiguousarray(whole[:, order]))
    alone = kernel.gram(bulk, {"path": references["path"][5]})
    assert naive.same_bits(alone, np.ascontiguousarray(whole[:, 5:6]))


def test_many_chosen_pairs_have_the_values_of_the_gram(kernel, whole, bulk, references):
    rng = np.random.default_rng(0)
    own, other = (rng.integers(size, size=9 * N_PATHS) for size in (N_PATHS, N_REFERENCES))
    assert naive.same_bits(kernel.pairs(bulk, references, own, other), whole[own, other])


@given(problems())
@strategies.THOROUGH
def test_all_pairs_have_the_values_of_the_gram(problem):
    kernel = ShortestPathKernel(**problem.parameters)
    gram = kernel.gram(problem.x, problem.y)
    own, other = (places.ravel() for places in np.indices(gram.shape))
    found = kernel.pairs(problem.x, problem.y, own, other)
    assert naive.same_bits(found, gram.ravel())


def test_matches_stand_at_the_same_place_of_equally_long_paths():
    x = view(path("aab", "<>"), path("ab", "<"), path("aa", ">"))
    y = view(path("aba", "<<"), path("abc", "<<"), path("ab", ">"))
    found = ShortestPathKernel().matches(x, y)
    assert found.offsets.tolist() == [0, 2, 2, 4]
    assert list(zip(found.own, found.other, found.part, strict=True)) == [
        (0, 0, "node"),
        (1, 1, "edge"),
        (0, 0, "node"),
        (1, 1, "edge"),
    ]


def test_a_combination_with_other_kernels_is_normalized():
    x = view(path("ab", "<"), [], path("aa", "<"))
    gram = CombinedKernel(kernels={"path": ShortestPathKernel()}).gram(x, x)
    np.testing.assert_allclose(gram, ShortestPathKernel().gram(x, x), rtol=1e-6)


def test_paths_with_other_attributes_are_refused():
    wide = view([("dep=", "lemma=a", "pos=N")])
    with pytest.raises(ValueError, match="nodes have 3 attributes but those compared with have 2"):
        ShortestPathKernel().gram(wide, view(path("a", "")))
