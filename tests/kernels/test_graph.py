from itertools import product

import naive
import naive_graph
import numpy as np
import pytest
import strategies
import tree_strategies
from hypothesis import given
from hypothesis import strategies as st

from spacy_klsh.kernels.graph import GraphKernel
from spacy_klsh.structures import Structures

N_TREES = 700 if strategies.JIT else 80
N_REFERENCES = 60 if strategies.JIT else 12
EDGE, CUT = "dep=obj>", "dep=conj>"


def view(*trees):
    return {"subtree": tree_strategies.pack(trees)}


def tree(words, parents, *, cut=()):
    """A tree with one node a letter; conj enters the nodes of `cut`."""
    edges = [CUT if i in cut else EDGE if i else "dep=" for i in range(len(words))]
    return [(edge, f"lemma={word}") for edge, word in zip(edges, words, strict=True)], parents


def star(children, **cut):
    """A root with one child a letter."""
    return tree("r" + children, [-1] + [0] * len(children), **cut)


def value(s, t, **parameters):
    """K(s, t) before normalization."""
    kernel = GraphKernel(**parameters)
    norms = [kernel.self_values(view(one))[0] for one in (s, t)]
    return kernel.gram(view(s), view(t))[0, 0] * np.sqrt(np.prod(norms))


@pytest.fixture(scope="module")
def bulk():
    return {"subtree": tree_strategies.pack(*tree_strategies.corpus(N_TREES))}


@pytest.fixture(scope="module")
def references():
    return {"subtree": tree_strategies.pack(*tree_strategies.corpus(N_REFERENCES, seed=1))}


@pytest.fixture(scope="module", params=[False, True], ids=["sparse", "contiguous"])
def kernel(request):
    return GraphKernel(contiguous=request.param, decay=0.7, sigma={"conj": 0.3})


@pytest.fixture(scope="module")
def compare(kernel, references):
    return kernel.against(references)


@pytest.fixture(scope="module")
def whole(compare, bulk):
    gram = compare(bulk)
    assert np.unique(gram).size > N_TREES
    return gram


@given(tree_strategies.graph_problems())
@strategies.THOROUGH
def test_gram_is_the_normalized_enumeration(problem):
    found = GraphKernel(**problem.parameters).gram(problem.x, problem.y)
    expected = naive_graph.graph_gram(
        problem.x_words, problem.y_words, vectors=problem.vectors, **problem.parameters
    )
    assert found.dtype == np.float32
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


@given(tree_strategies.graph_problems())
@strategies.THOROUGH
def test_self_values_are_the_enumeration(problem):
    found = GraphKernel(**problem.parameters).self_values(problem.x)
    expected = [
        naive_graph.graph_value(s, s, vectors=problem.vectors, **problem.parameters)
        for s in problem.x_words
    ]
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, expected, rtol=1e-5)


@pytest.mark.parametrize(("contiguous", "both"), [(False, 2 * 0.5**5), (True, 0.0)])
def test_a_sequence_pays_for_the_children_in_its_gaps(contiguous, both):
    found = value(star("axb"), star("ab"), contiguous=contiguous)
    np.testing.assert_allclose(found, 1 + 2 * 0.5**2 + both, rtol=1e-6)


@pytest.mark.parametrize("contiguous", [False, True])
def test_children_match_in_the_order_of_the_text_only(contiguous):
    found = value(star("ba"), star("ab"), contiguous=contiguous)
    np.testing.assert_allclose(found, 1 + 2 * 0.5**2, rtol=1e-6)


@pytest.mark.parametrize(("contiguous", "both"), [(False, 2 * 0.5**6), (True, 0.0)])
def test_a_child_with_sigma_0_counts_in_the_span_and_is_crossed_by_no_contiguous_sequence(
    contiguous, both
):
    s = star("acb", cut=[2])
    found = value(s, s, contiguous=contiguous, sigma={"conj": 0.0})
    np.testing.assert_allclose(found, 1 + 2 * 0.5**2 + both, rtol=1e-6)


def test_nothing_below_a_node_with_sigma_0_is_reached():
    s = tree("rcdd", [-1, 0, 1, 0], cut=[1])
    np.testing.assert_allclose(value(s, s, sigma={"conj": 0.0}), 1 + 0.5**2, rtol=1e-6)


def test_sigma_weighs_the_nodes_that_the_edge_enters_and_not_those_below():
    s = tree("rcd", [-1, 0, 1], cut=[1])
    below = 3.0**2 + 0.5**2
    np.testing.assert_allclose(value(s, s, sigma={"conj": 3.0}), 1 + 0.5**2 * below, rtol=1e-6)


def test_sigma_0_at_the_roots_gives_0_not_nan():
    s = tree("r", [-1], cut=[0])
    assert GraphKernel(sigma={"conj": 0.0}).gram(view(s), view(s, star("a"))).tolist() == [[0, 0]]


def test_roots_that_do_not_match_have_nothing_in_common():
    assert value(star("ab"), tree("sab", [-1, 0, 0])) == 0.0


def test_what_hangs_on_no_first_node_does_not_count():
    s, t = tree("rab", [-1, 0, -1]), tree("ra", [-1, 0])
    np.testing.assert_allclose(GraphKernel().gram(view(s), view(t)), [[1.0]], rtol=1e-6)


def test_leaves_of_roles_match_by_their_names():
    def event(role):
        nodes, parents = tree("ra", [-1, 0])
        return [*nodes, (f"role={role}", f"role={role}")], [*parents, 1]

    site, cause = event("Site"), event("Cause")
    np.testing.assert_allclose(value(site, site), 1 + 0.5**2 * (1 + 0.5**2), rtol=1e-6)
    np.testing.assert_allclose(value(site, cause), 1 + 0.5**2, rtol=1e-6)


@given(tree_strategies.graph_problems())
@strategies.QUICK
def test_a_path_view_is_a_chain(problem):
    def chains(words):
        return [(nodes, [i - 1 for i in range(len(nodes))]) for nodes, _ in words]

    trees = [chains(words) for words in (problem.x_words, problem.y_words)]
    n_attributes = problem.x["subtree"].nodes.shape[1]
    grams = []
    for name in ("subtree", "path"):
        x, y = (
            tree_strategies.pack(part, problem.vectors, n_attributes=n_attributes) for part in trees
        )
        if name == "path":
            x, y = (Structures(s.nodes, s.offsets, s.symbols, s.vectors) for s in (x, y))
        grams.append(GraphKernel(**problem.parameters, view=name).gram({name: x}, {name: y}))
    assert naive.same_bits(*grams)


def test_a_view_without_parents_that_is_no_path_is_refused():
    words = {"between": strategies.pack([[(EDGE, "lemma=a")]])}
    with pytest.raises(ValueError, match=r"'between' has no parents.* choose the view subtree"):
        GraphKernel(view="between").gram(words, words)


@given(tree_strategies.graph_problems(max_size=5))
@strategies.THOROUGH
def test_the_diagonal_is_1_unless_the_norm_is_0(problem):
    kernel = GraphKernel(**problem.parameters)
    expected = kernel.self_values(problem.x) > 0
    np.testing.assert_allclose(np.diag(kernel.gram(problem.x, problem.x)), expected, atol=1e-6)


@given(tree_strategies.graph_problems())
@strategies.THOROUGH
def test_gram_is_symmetric(problem):
    kernel = GraphKernel(**problem.parameters)
    there, back = kernel.gram(problem.x, problem.y), kernel.gram(problem.y, problem.x)
    np.testing.assert_allclose(there, back.T, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("tokens", ["equality", "gaussian"])
@given(problem=tree_strategies.graph_problems(n_attributes=2, max_size=6))
@strategies.THOROUGH
def test_with_one_attribute_equality_and_the_gaussian_are_positive_semi_definite(tokens, problem):
    both = {"subtree": Structures.concat([problem.x["subtree"], problem.y["subtree"]])}
    gram = (
        GraphKernel(**problem.parameters | {"tokens": tokens}).gram(both, both).astype(np.float64)
    )
    assert ((gram >= 0) & (gram <= 1 + 1e-6)).all()
    assert not len(gram) or np.linalg.eigvalsh((gram + gram.T) / 2).min() >= -1e-6


def test_with_equality_in_one_of_two_attributes_it_is_not():
    kinds = [("lemma=a", "pos=x"), ("lemma=a", "pos=y"), ("lemma=b", "pos=y")]  # 0 ~ 1 ~ 2
    root = ("dep=", "lemma=r", "pos=z")
    trees = [
        ([root, *((EDGE, *kinds[kind]) for kind in children)], [-1, 0, 0, 0])
        for children in product(range(3), repeat=3)
    ]
    x = {"subtree": tree_strategies.pack(trees)}
    gram = GraphKernel(decay=0.9).gram(x, x).astype(np.float64)
    assert np.linalg.eigvalsh((gram + gram.T) / 2).min() < -1e-3


def test_an_empty_tree_is_similar_to_nothing():
    x = view(([], []), star("a"), tree("r", [-1]), ([], []))
    gram = GraphKernel().gram(x, x)
    one = 1 / np.sqrt(1 + 0.5**2)
    expected = np.zeros((4, 4))
    expected[1:3, 1:3] = [[1, one], [one, 1]]
    np.testing.assert_allclose(gram, expected, atol=1e-6)


@pytest.mark.parametrize(("n", "m"), [(0, 0), (0, 2), (2, 0)])
def test_no_trees_give_an_empty_gram(n, m):
    x, y = ({"subtree": view(star("a"), ([], []))["subtree"][:size]} for size in (n, m))
    assert GraphKernel().gram(x, y).shape == (n, m)


@pytest.mark.parametrize("contiguous", [False, True])
@pytest.mark.parametrize("decay", [0.5, 0.9])
def test_deep_and_wide_trees_have_finite_values(contiguous, decay):
    n = 400 if strategies.JIT else 60
    chain = tree("a" * n, [i - 1 for i in range(n)])
    comb = tree("a" * n, [-1, *(2 * (i // 2) for i in range(n - 1))])
    wide = tree("a" * n, [-1] + [0] * (n - 1))
    x = view(chain, comb, wide)
    gram = GraphKernel(decay=decay, contiguous=contiguous).gram(x, x)
    np.testing.assert_allclose(np.diag(gram), 1.0, rtol=1e-6)
    assert ((gram >= 0) & (gram <= 1 + 1e-6)).all()


def test_the_value_of_a_chain_is_its_geometric_series():
    n = 400
    chain = tree("a" * n, [i - 1 for i in range(n)])
    found = GraphKernel(decay=0.9).self_values(view(chain))
    np.testing.assert_allclose(found, (1 - 0.9 ** (2 * n)) / (1 - 0.9**2), rtol=1e-6)


def test_a_value_that_float64_cannot_hold_is_refused():
    x = view(star("a"), star("a" * 540))
    with pytest.raises(ValueError, match=r"structure 1 with 541 nodes exceeds .* choose 0\.5"):
        GraphKernel(decay=0.999).self_values(x)


@pytest.mark.parametrize("block", [1, 7, 500])
def test_gram_is_the_same_for_any_block_size(compare, whole, bulk, block):
    trees = bulk["subtree"]
    parts = [compare({"subtree": trees[i : i + block]}) for i in range(0, N_TREES, block)]
    assert naive.same_bits(np.concatenate(parts), whole)


def test_gram_is_the_same_in_any_order(compare, whole, bulk):
    order = np.random.default_rng(2).permutation(N_TREES)
    assert naive.same_bits(compare({"subtree": bulk["subtree"][order]}), whole[order])


def test_a_reference_does_not_care_what_stands_beside_it(kernel, whole, bulk, references):
    order = np.random.default_rng(3).permutation(N_REFERENCES)
    shuffled = kernel.gram(bulk, {"subtree": references["subtree"][order]})
    assert naive.same_bits(shuffled, np.ascontiguousarray(whole[:, order]))
    alone = kernel.gram(bulk, {"subtree": references["subtree"][5]})
    assert naive.same_bits(alone, np.ascontiguousarray(whole[:, 5:6]))


@given(tree_strategies.graph_problems(), st.data())
@strategies.THOROUGH
def test_chosen_pairs_have_the_values_of_the_gram(problem, data):
    kernel = GraphKernel(**problem.parameters)
    gram = kernel.gram(problem.x, problem.y)
    pair = st.tuples(*(st.integers(0, max(size - 1, 0)) for size in gram.shape))
    chosen = data.draw(st.lists(pair, max_size=8 if gram.size else 0))
    own, other = np.array(chosen, np.int64).reshape(-1, 2).T
    found = kernel.pairs(problem.x, problem.y, own, other)
    assert naive.same_bits(found, gram[own, other])


def test_many_chosen_pairs_have_the_values_of_the_gram(kernel, whole, bulk, references):
    rng = np.random.default_rng(0)
    own, other = (rng.integers(size, size=5 * N_TREES) for size in (N_TREES, N_REFERENCES))
    assert naive.same_bits(kernel.pairs(bulk, references, own, other), whole[own, other])


def test_matches_are_the_nodes_that_are_similar():
    found = GraphKernel().matches(view(star("ab")), view(star("b")))
    assert (found.own.tolist(), found.other.tolist()) == ([0, 2], [0, 1])
    assert (found.similarity.tolist(), found.part) == ([1.0, 1.0], ["both", "both"])


@pytest.mark.parametrize("decay", [0.0, 1.0, float("nan")])
def test_a_decay_that_is_no_share_is_refused(decay):
    with pytest.raises(ValueError, match=r"choose it in \(0, 1\)"):
        GraphKernel(decay=decay)


def test_trees_with_other_attributes_are_refused():
    wide = {"subtree": tree_strategies.pack([([("dep=", "lemma=a", "pos=N")], [-1])])}
    with pytest.raises(ValueError, match="nodes have 3 attributes but those compared with have 2"):
        GraphKernel().gram(wide, view(star("a")))
    with pytest.raises(ValueError, match="nodes have 2 attributes but those compared with have 3"):
        GraphKernel().pairs(view(star("a")), wide, np.array([0]), np.array([0]))
