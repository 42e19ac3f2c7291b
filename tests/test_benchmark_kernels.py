import benchmark_kernels as benchmark
import dependency_trees
import numpy as np
import pytest
import strategies
import tree_growth

TREES, VECTORS = dependency_trees.corpus(80)
VIEW = dependency_trees.view(TREES, VECTORS)
FILLED = VIEW[np.flatnonzero(VIEW.lengths)]


@pytest.fixture
def few(monkeypatch):
    for name, value in (("N_REFERENCES", 8), ("N_SAMPLE", 9), ("REPEATS", 1)):
        monkeypatch.setattr(benchmark, name, value)


def test_every_kernel_has_its_figures(few, monkeypatch):
    words, vectors = strategies.corpus(len(FILLED))
    views = {"path": strategies.pack(words, vectors), "subtree": FILLED}
    monkeypatch.setattr(benchmark, "aimed_views", lambda *_, **__: {**views, "sentence": FILLED})
    monkeypatch.setattr(tree_growth, "N_GROUPS", 2)
    monkeypatch.setattr(tree_growth, "REPEATS", 1)
    figures = benchmark.kernels(None)
    for name in benchmark.KERNELS:
        assert figures[f"{name}_evals_per_s"] > 0 and figures[f"{name}_vs_numpy"] > 0
    assert np.isfinite(figures["graph_all_alike_exponent"])
    assert figures["n_candidates"] == len(FILLED)


def test_a_twin_that_disagrees_stops_the_benchmark(few):
    kernel, _ = benchmark.KERNELS["graph"]
    views = {"subtree": FILLED}
    with pytest.raises(AssertionError, match="Mismatched elements"):
        benchmark.ratio(kernel, lambda *_: lambda x: np.zeros((len(x["subtree"]), 8)), views)
