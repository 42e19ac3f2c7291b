import dependency_trees
import numpy as np
import twin_common_paths as twin
from hypothesis import given
from strategies import THOROUGH

from spacy_klsh.kernels.common_paths import CommonPathsKernel


@given(dependency_trees.problems(max_size=4))
@THOROUGH
def test_the_twin_agrees_with_the_kernel(problem):
    kernel = CommonPathsKernel(
        alpha=problem.parameters["alpha"], threshold=problem.parameters["threshold"]
    )
    found = twin.numpy_common_paths(kernel, problem.y)(problem.x)
    np.testing.assert_allclose(found, kernel.gram(problem.x, problem.y), rtol=0, atol=1e-5)
