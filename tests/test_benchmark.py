import benchmark_kernel as benchmark
import numpy as np
import pytest
from hypothesis import given
from strategies import THOROUGH, kernel_problems

from spacy_klsh.kernels.subsequence import SubsequenceKernel
from spacy_klsh.structures import Structures

TWINS = [benchmark.numpy_against, benchmark.plain_against]

START = ("dep=", "label=PROTEIN")
END = ("dep=dobj>", "label=PROTEIN")
PATHS = [
    [START, ("dep=nsubj<", "lemma=bind"), END],
    [START, ("dep=nsubj<", "lemma=inhibit"), END],
    [START, ("dep=conj>", "label=PROTEIN")],
    [("dep=", "lemma=bind")],
    [],
    [
        START,
        ("dep=nsubj<", "lemma=bind"),
        ("dep=conj<", "lemma=bind"),
        ("dep=dobj>", "lemma=domain"),
        ("dep=prep>", "lemma=of"),
        ("dep=pobj>", "label=PROTEIN"),
    ],
]
VECTORS = {
    "lemma=bind": np.array([1.0, 0.0], np.float32),
    "lemma=inhibit": np.array([0.8, 0.6], np.float32),
    "lemma=domain": np.array([0.0, -1.0], np.float32),
}


@pytest.fixture(params=[{}, VECTORS], ids=["equality", "vectors"])
def paths(request):
    dim = 2 if request.param else 0
    return {"path": Structures.from_symbols(PATHS, request.param, dim=dim)}


@pytest.mark.parametrize("twin", TWINS)
@pytest.mark.parametrize("parameters", [{}, {"max_length": 1}, {"decay": 0.5, "threshold": 0.0}])
def test_twins_agree_with_the_kernel(paths, twin, parameters):
    kernel = SubsequenceKernel(interleaved=False, **parameters)
    found = twin(kernel, paths)(paths)
    np.testing.assert_allclose(found, kernel.gram(paths, paths), rtol=0, atol=1e-5)
    np.testing.assert_allclose(np.diag(found), [1, 1, 1, 1, 0, 1])


@pytest.mark.parametrize("twin", TWINS)
@given(problem=kernel_problems(max_size=4))
@THOROUGH
def test_twins_agree_with_the_kernel_on_any_paths(twin, problem):
    if len(problem.x["path"]) and len(problem.y["path"]):
        names = ("decay", "max_length", "threshold")
        kernel = SubsequenceKernel(
            interleaved=False, **{name: problem.parameters[name] for name in names}
        )
        found = twin(kernel, problem.y)(problem.x)
        expected = kernel.gram(problem.x, problem.y)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)


def test_the_vectors_matter():
    kernel = SubsequenceKernel(interleaved=False)
    table = {True: VECTORS, False: {}}
    grams = []
    for soft in (True, False):
        views = {"path": Structures.from_symbols(PATHS, table[soft], dim=2)}
        grams.append(benchmark.numpy_against(kernel, views)(views))
    assert grams[0][0, 1] > grams[1][0, 1] > 0


def test_tasks_take_turns():
    calls = []
    tasks = {name: (lambda views, name=name: calls.append(name), {}) for name in "ab"}
    assert set(benchmark.medians(tasks, 2)) == {"a", "b"}
    assert calls == ["a", "b"] * 3
