import benchmark_trees as benchmark
import dependency_trees
import numpy as np
import pytest
from hypothesis import given
from spacy.tokens import Doc, Span
from spacy.vocab import Vocab
from strategies import THOROUGH

from spacy_klsh.kernels.common_paths import CommonPathsKernel


@given(dependency_trees.problems(max_size=4))
@THOROUGH
def test_the_twin_agrees_with_the_kernel(problem):
    kernel = CommonPathsKernel(
        alpha=problem.parameters["alpha"], threshold=problem.parameters["threshold"]
    )
    found = benchmark.numpy_against(kernel, problem.y)(problem.x)
    np.testing.assert_allclose(found, kernel.gram(problem.x, problem.y), rtol=0, atol=1e-5)


@pytest.fixture
def doc():
    words = ["Often", "big", "Ann", "met", "Bob", "Lee", "."]
    heads = [3, 2, 3, 3, 5, 3, 3]
    deps = ["advmod", "amod", "nsubj", "ROOT", "compound", "dobj", "p"]
    return Doc(Vocab(), words=words, lemmas=[w.lower() for w in words], heads=heads, deps=deps)


ANN, MET = ("dep=", "label=P"), ("dep=nsubj<", "lemma=met")
LEE, TAIL = ("dep=dobj>", "label=P"), ("role=tail", "role=tail")


@pytest.mark.parametrize(
    ("depth", "expected"),
    [
        (0, [(ANN, -1), (MET, 0), (LEE, 1), (TAIL, 2)]),
        (
            1,
            [
                (ANN, -1),
                (("dep=amod>", "lemma=big"), 0),
                (MET, 0),
                (("dep=advmod>", "lemma=often"), 2),
                (LEE, 2),
                (TAIL, 4),
                (("dep=compound>", "label=P"), 4),
                (("dep=p>", "lemma=."), 2),
            ],
        ),
    ],
)
def test_a_tree_is_the_path_with_what_hangs_on_it(doc, depth, expected):
    head, tail = Span(doc, 2, 3, label="P"), Span(doc, 4, 6, label="P")
    assert list(benchmark.tree(head, tail, depth)) == expected


def test_time_is_compared_with_size():
    trees, table = dependency_trees.corpus(60)
    views = {"subtree": dependency_trees.view(trees, table)}
    assert np.isfinite(benchmark.exponent(CommonPathsKernel(), views))
    alike = benchmark.all_alike(views)["subtree"]
    assert len(alike) == 4
    assert set(alike.nodes[:, 1].tolist()) == {0}
