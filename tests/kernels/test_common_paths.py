import dependency_trees
import naive
import naive_common_paths
import numpy as np
import pytest
import strategies
from dependency_trees import Tree
from hypothesis import given
from kernels.test_matches import rows

from spacy_klsh.kernels.common_paths import CommonPathsKernel
from spacy_klsh.pipeline.kernel_makers import make_common_paths_kernel
from spacy_klsh.structures import Structures
from spacy_klsh.views import take

N_TREES = 150 if strategies.JIT else 15
ANCHORS = pytest.mark.parametrize("anchors", ["any", "arguments"])


def tree(text, *, arguments=()):
    """A tree from ``word:governor`` pairs, words told apart by a number behind them."""
    words, governors = zip(*(pair.split(":") for pair in text.split()), strict=True)
    return Tree(
        [(f"lemma={word.rstrip('0123456789')}",) for word in words],
        [words.index(governor) for governor in governors],
        ["nsubj"] * len(words),
        [(role, words.index(word)) for role, word in arguments or [("", words[0])]],
    )


def subtrees(*trees):
    return {"subtree": dependency_trees.view(trees)}


def value(s, t, **parameters):
    """K(s, t) before normalization."""
    kernel, (x, y) = CommonPathsKernel(**parameters), map(subtrees, (s, t))
    norms = kernel.self_values(x) * kernel.self_values(y)
    return kernel.gram(x, y)[0, 0] * np.sqrt(norms[0])


def whole(problem):
    """The trees of both sides of a problem."""
    return {"subtree": Structures.concat([problem.x["subtree"], problem.y["subtree"]])}


@given(dependency_trees.problems())
@strategies.THOROUGH
def test_gram_is_the_normalized_enumeration(problem):
    found = CommonPathsKernel(**problem.parameters).gram(problem.x, problem.y)
    expected = naive_common_paths.gram(
        problem.x_trees, problem.y_trees, vectors=problem.vectors, **problem.parameters
    )
    assert found.dtype == np.float32
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, atol=1e-5)


@given(dependency_trees.problems())
@strategies.THOROUGH
def test_self_values_are_the_enumeration(problem):
    found = CommonPathsKernel(**problem.parameters).self_values(problem.x)
    expected = [
        naive_common_paths.value(s, s, vectors=problem.vectors, **problem.parameters)
        for s in problem.x_trees
    ]
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, expected, rtol=1e-5)


@given(dependency_trees.problems())
@strategies.THOROUGH
def test_paths_have_the_values_of_the_trees_they_are(problem):
    drawn = problem.x_trees, problem.y_trees
    sides = [[dependency_trees.line(tree) for tree in side] for side in drawn]
    n_attributes = problem.x["subtree"].nodes.shape[1]
    pack = {"table": problem.vectors, "n_attributes": n_attributes}
    paths = [{"path": strategies.pack([nodes for _, nodes in side], **pack)} for side in sides]
    trees = [[tree for tree, _ in side] for side in sides]
    found = CommonPathsKernel(view="path", **problem.parameters).gram(*paths)
    expected = naive_common_paths.gram(*trees, vectors=problem.vectors, **problem.parameters)
    np.testing.assert_allclose(found, expected, atol=1e-5)


# the two sentences of Kate 2008, Figure 1, as in its Figures 4 and 5
CHASED = "by:chased dog:by a2:dog"
FIRST = f"was:was cat:was a1:cat fat:cat chased:was {CHASED}"
SECOND = (
    "was:was cat:was a1:cat with:cat collar:with a3:collar red:collar "
    f"chased:was ago:chased days:ago two:days {CHASED} fat:dog"
)


def test_the_example_of_the_paper_has_3_common_paths_down_from_chased():
    below = [tree(f"chased:chased {CHASED}"), tree(f"chased:chased ago:chased {CHASED}")]
    others = [each._replace(words=[("lemma=hunted",), *each.words[1:]]) for each in below[:1]]
    with_chased, without = value(*below, alpha=1), value(others[0], below[1], alpha=1)
    assert with_chased - without == pytest.approx(1 + 3)  # the word and the paths


def test_the_example_of_the_paper_by_enumeration():
    sentences = [tree(FIRST), tree(SECOND)]
    words = 2 * 3 + 6  # a: twice and three times; cat, fat, was, chased, by, dog: once
    parts = 7 * 6 / 2  # of the path from a over cat, was, chased, by, dog to a
    assert naive_common_paths.value(*sentences, vectors={}, alpha=1) == words + parts
    assert value(*sentences, alpha=1) == pytest.approx(words + parts)


def test_alpha_is_the_price_of_an_arc():
    line = tree("a:a b:a c:b")
    assert value(line, line, alpha=0.5) == pytest.approx(3 + 2 * 0.5 + 0.5**2)
    peak = tree("a:a b:a c:a")
    assert value(peak, peak, alpha=0.5) == pytest.approx(3 + 2 * 0.5 + 0.5**2)
    assert value(line, peak, alpha=0.5) == pytest.approx(3 + 0.5)


def test_the_direction_of_arcs_counts():
    assert value(tree("a:a b:a"), tree("a:b b:b"), alpha=1) == pytest.approx(2)


@pytest.mark.parametrize(("edges", "expected"), [("label", 2), ("direction", 3), ("any", 3)])
def test_labels_of_arcs_count_if_edges_say_so(edges, expected):
    x, y = tree("a:a b:a"), tree("a:a b:a")._replace(labels=["nsubj", "conj"])
    assert value(x, y, alpha=1, edges=edges) == pytest.approx(expected)


def test_sigma_weakens_and_0_cuts_the_arcs_in_either_direction():
    for first in "ab":
        x = tree("a:a b:a", arguments=[("", first)])
        assert value(x, x, alpha=1, sigma={"nsubj": 0.5}) == pytest.approx(2 + 0.5**2)
        assert value(x, x, alpha=1, sigma={"nsubj": 0.0}) == pytest.approx(2)


def test_marks_of_arguments_are_no_words():
    x = tree("a:a b:a", arguments=[("", "a"), ("tail", "b")])
    y = tree("c:c d:c", arguments=[("", "c"), ("tail", "d")])
    assert value(x, x, alpha=1) == pytest.approx(3)
    assert value(x, y, alpha=1) == 0.0


ENDS = [("", "a"), ("tail", "b")]


@pytest.mark.parametrize(
    ("own", "other", "expected"),
    [
        (tree("v:v a:v b:v x:v", arguments=ENDS), tree("v:v b:v a:v x:b", arguments=ENDS), 0.25),
        (tree("v:v a:v b:v", arguments=ENDS), tree("v:v a:v b:v", arguments=ENDS[::-1]), 0.0),
        (tree("a:a b:a", arguments=ENDS), tree("a:a b:a", arguments=ENDS), 0.5),
        (tree("a:b b:b", arguments=ENDS), tree("a:b b:b", arguments=ENDS), 0.5),
        (tree("a:a b:a", arguments=ENDS), tree("a:b b:b", arguments=ENDS), 0.0),
        (tree("a:a", arguments=[("", "a"), ("tail", "a")]),) * 2 + (1.0,),
        (tree("a:a b:a"), tree("a:a b:a"), 0.0),
        (tree("a:a b:a", arguments=ENDS), tree("a:a b:a", arguments=[*ENDS[:1], ("x", "b")]), 0.0),
    ],
    ids=[
        "over a peak",
        "roles swapped",
        "down",
        "up",
        "down and up",
        "both one word",
        "one argument",
        "another role",
    ],
)
def test_anchored_only_the_path_between_the_arguments_counts(own, other, expected):
    found = value(own, other, alpha=0.5, anchors="arguments")
    assert found == pytest.approx(expected)


def test_anchored_each_two_arguments_have_a_path():
    x = tree("a:a b:a c:a", arguments=[("", "a"), ("tail", "b"), ("cause", "c")])
    assert value(x, x, alpha=0.5, anchors="arguments") == pytest.approx(2 * 0.5 + 0.5**2)


@given(dependency_trees.problems(max_size=5))
@strategies.THOROUGH
def test_the_diagonal_is_1_unless_the_norm_is_0(problem):
    kernel = CommonPathsKernel(**problem.parameters)
    expected = kernel.self_values(problem.x) > 0
    np.testing.assert_allclose(np.diag(kernel.gram(problem.x, problem.x)), expected, atol=1e-6)


@given(dependency_trees.problems(soft=False, max_size=6))
@strategies.THOROUGH
def test_with_equality_the_gram_is_positive_semi_definite(problem):
    both = whole(problem)
    gram = CommonPathsKernel(**problem.parameters).gram(both, both).astype(np.float64)
    assert ((gram >= 0) & (gram <= 1 + 1e-6)).all()
    assert np.linalg.eigvalsh((gram + gram.T) / 2).min() >= -1e-6


@ANCHORS
def test_with_equality_large_grams_are_positive_semi_definite_too(anchors):
    view = {"subtree": dependency_trees.view(dependency_trees.corpus(N_TREES)[0])}
    kernel = CommonPathsKernel(alpha=1.0, anchors=anchors, sigma={"conj": 0.5})
    assert np.linalg.eigvalsh(kernel.gram(view, view).astype(np.float64)).min() >= -1e-4


@given(dependency_trees.problems())
@strategies.THOROUGH
def test_gram_is_symmetric_and_not_negative(problem):
    kernel = CommonPathsKernel(**problem.parameters)
    there, back = kernel.gram(problem.x, problem.y), kernel.gram(problem.y, problem.x)
    np.testing.assert_allclose(there, back.T, atol=1e-6)
    assert (there >= 0).all()


@ANCHORS
def test_an_empty_structure_is_similar_to_nothing(anchors):
    empty, word = Tree([], [], [], []), tree("a:a", arguments=[("", "a"), ("tail", "a")])
    x, only = subtrees(empty, word, empty), subtrees(empty, empty)
    kernel = CommonPathsKernel(anchors=anchors)
    np.testing.assert_allclose(kernel.gram(x, x), np.diag([0.0, 1.0, 0.0]), atol=1e-6)
    assert kernel.gram(only, x).tolist() == [[0.0] * 3] * 2


@ANCHORS
@pytest.mark.parametrize(("n", "m"), [(0, 0), (0, 2), (2, 0)])
def test_no_structures_give_an_empty_gram(n, m, anchors):
    trees = subtrees(tree("a:a b:a"), tree("a:a"))
    x, y = ({"subtree": trees["subtree"][:size]} for size in (n, m))
    nothing = np.zeros(0, np.int64)
    kernel = CommonPathsKernel(anchors=anchors)
    assert kernel.gram(x, y).shape == (n, m)
    assert kernel.pairs(x, y, nothing, nothing).shape == (0,)


def test_small_terms_beside_large_ones_are_not_lost():
    """Two children that match lie beside a long branch whose arcs weigh 100 times 100."""
    branch = " ".join(f"{word}:{above}" for word, above in zip("bcdefgh", "abcdefg", strict=True))
    x = tree(f"a:a {branch} p:a q:a")
    x = x._replace(labels=["nsubj"] * 8 + ["conj", "conj"])
    parameters = {"alpha": 1.0, "sigma": {"nsubj": 100.0}}
    expected = naive_common_paths.value(x, x, vectors={}, **parameters)
    found = CommonPathsKernel(**parameters).self_values(subtrees(x))
    np.testing.assert_allclose(found, [expected], rtol=1e-12)
    assert expected > 1e28


@pytest.mark.skipif(not strategies.JIT, reason="NumPy warns of the overflow before")
def test_values_beyond_all_numbers_are_refused():
    long = tree("a0:a0 " + " ".join(f"a{i + 1}:a{i}" for i in range(90)))
    x = subtrees(tree("a:a b:a"), long)
    with pytest.raises(ValueError, match="K of structure 1 and itself is nan, expected a finite"):
        CommonPathsKernel(alpha=1.0, sigma={"nsubj": 100.0}).gram(x, x)


@given(dependency_trees.problems())
@strategies.THOROUGH
def test_matches_are_the_similar_words(problem):
    n = min(len(problem.x_trees), len(problem.y_trees))
    kernel = CommonPathsKernel(**problem.parameters)
    x, y = take(problem.x, slice(n)), take(problem.y, slice(n))
    for i, found in enumerate(rows(kernel.matches(x, y))):
        words = [side["subtree"].words(i) for side in (x, y)]
        settings = {key: problem.parameters[key] for key in ("threshold", "attribute_weights")}
        bare = [[("", *word[1:]) for word in side] for side in words]
        expected = [
            (a, b, similarity, "node")
            for a, b, similarity, _ in naive.matches(*bare, vectors=problem.vectors, **settings)
            if not words[0][a][0].startswith("role=") and similarity > 1e-6
        ]
        big = [match for match in found if match[2] > 1e-6]  # float32 may lose the others
        assert [m[:2] + m[3:] for m in big] == [m[:2] + m[3:] for m in expected]
        assert [m[2] for m in big] == pytest.approx([m[2] for m in expected], abs=1e-5)


@given(dependency_trees.problems())
@strategies.THOROUGH
def test_without_matches_there_is_no_similarity_and_the_other_way_round(problem):
    n = min(len(problem.x_trees), len(problem.y_trees))
    kernel = CommonPathsKernel(**{**problem.parameters, "anchors": "any"})
    x, y = take(problem.x, slice(n)), take(problem.y, slice(n))
    similar = np.diag(kernel.gram(x, y)) > 0
    assert [len(pair) > 0 for pair in rows(kernel.matches(x, y))] == similar.tolist()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"alpha": 0.0}, r"alpha is 0\.0; choose it in \(0, 1\]"),
        ({"alpha": 1.5}, r"alpha is 1\.5"),
        ({"alpha": float("nan")}, "alpha is nan"),
        ({"anchors": "some"}, "anchors is 'some'; choose any or arguments"),
        ({"edges": "all"}, "edges is 'all'; choose one of label, direction, any"),
        ({"threshold": 1.1}, r"threshold is 1\.1"),
    ],
)
def test_parameters_out_of_range_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        CommonPathsKernel(**parameters)


def test_structures_with_other_attributes_are_refused():
    path = {"path": Structures.from_symbols([[("dep=", "lemma=cat")]])}
    wide = {"path": Structures.from_symbols([[("dep=", "lemma=cat", "pos=NOUN")]])}
    kernel, first = CommonPathsKernel(view="path"), np.zeros(1, np.int64)
    for compare in (kernel.gram, lambda x, y: kernel.pairs(x, y, first, first)):
        with pytest.raises(ValueError, match="nodes have 3 attributes but those compared with"):
            compare(wide, path)


def test_views_without_arcs_are_refused():
    words = {"between": Structures.from_symbols([[("dep=", "lemma=a"), ("dep=", "lemma=b")]])}
    with pytest.raises(ValueError, match="compare a tree, such as the view subtree"):
        CommonPathsKernel(view="between").gram(words, words)


def test_the_maker_passes_on_what_it_is_given():
    settings = {
        "alpha": 0.5,
        "anchors": "arguments",
        "tokens": "gaussian",
        "threshold": 0.1,
        "bandwidth": 0.5,
        "edges": "direction",
        "attribute_weights": (1.0, 2.0),
        "sigma": {"conj": 0.5},
        "view": "sentence",
    }
    lists = {**settings, "attribute_weights": [1.0, 2.0]}
    assert make_common_paths_kernel(**lists) == CommonPathsKernel(**settings)
    assert make_common_paths_kernel() == CommonPathsKernel()
