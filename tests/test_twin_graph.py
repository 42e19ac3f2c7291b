import numpy as np
import pytest
import strategies
import tree_strategies
import twin_graph as twin
from hypothesis import given

from spacy_klsh.kernels.graph import GraphKernel
from spacy_klsh.kernels.shortest_path import ShortestPathKernel


@given(problem=tree_strategies.graph_problems(max_size=4, forests=False))
@strategies.THOROUGH
def test_the_twin_of_the_graph_kernel_agrees_with_it(problem):
    names = ("decay", "contiguous", "threshold")
    kernel = GraphKernel(**{name: problem.parameters[name] for name in names})
    if len(problem.x["subtree"]) and len(problem.y["subtree"]):
        found = twin.numpy_graph(kernel, problem.y)(problem.x)
        expected = kernel.gram(problem.x, problem.y)
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("edges", ["direction", "label"])
@given(problem=strategies.kernel_problems(max_size=4))
@strategies.THOROUGH
def test_the_twin_of_the_shortest_path_kernel_agrees_with_it(edges, problem):
    kernel = ShortestPathKernel(edges=edges, threshold=problem.parameters["threshold"])
    if len(problem.x["path"]) and len(problem.y["path"]):
        found = twin.numpy_shortest_path(kernel, problem.y)(problem.x)
        expected = kernel.gram(problem.x, problem.y)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)
