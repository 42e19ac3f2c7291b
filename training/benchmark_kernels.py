"""How fast the kernels of trees and the shortest path kernel are, each beside NumPy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from benchmark_kernel import N_REFERENCES, N_SAMPLE, REPEATS, Compare, aimed_views, medians
from tree_growth import curves, exponent
from twin_common_paths import numpy_common_paths
from twin_graph import numpy_graph, numpy_shortest_path

from spacy_klsh.hashing.klsh import KLSH
from spacy_klsh.kernels.common_paths import CommonPathsKernel
from spacy_klsh.kernels.graph import GraphKernel
from spacy_klsh.kernels.shortest_path import ShortestPathKernel
from spacy_klsh.views import Views, take

Twin = Callable[[Any, Views], Compare]

KERNELS: dict[str, tuple[Any, Twin]] = {
    "common_paths": (CommonPathsKernel(), numpy_common_paths),
    "graph": (GraphKernel(), numpy_graph),
    "shortest_path": (ShortestPathKernel(), numpy_shortest_path),
}
OTHERS = {
    "common_paths_arguments": CommonPathsKernel(anchors="arguments"),
    "graph_contiguous": GraphKernel(contiguous=True),
}


def kernels(corpora: Path) -> dict[str, float]:
    """Kernel values a second of processor time on one core, normalization included.

    Between all pairs of proteins in a sentence of AIMed: their paths, and trees of these and
    the dependents of their words. NumPy meets all paths, but of the trees a random sample, and
    so does our kernel for the comparison with it. The exponents tell how time grows with the
    product of the sizes of two trees; see `tree_growth`.
    """
    views = aimed_views(corpora, names=("path", "subtree"), depth=1)
    figures = {"n_candidates": float(len(views["path"]))}
    for view in ("path", "subtree"):
        figures[f"mean_nodes_{view}"] = float(views[view].lengths.mean())
    for name, (kernel, twin) in KERNELS.items():
        figures[f"{name}_evals_per_s"] = rate(kernel, views)
        figures[f"{name}_vs_numpy"] = ratio(kernel, twin, views)
    figures |= {f"{name}_evals_per_s": rate(kernel, views) for name, kernel in OTHERS.items()}
    sentences = aimed_views(corpora, names=("sentence",))["sentence"]
    for name, curve in curves(sentences).items():
        figures[f"{name.replace(',', '').replace(' ', '_')}_exponent"] = exponent(curve)
    return figures


def rate(kernel: Any, views: Views) -> float:
    """Values a second of a kernel, of all candidates and references chosen among them."""
    compare = kernel.against(references(kernel, views))
    seconds = medians({"ours": (compare, views)}, REPEATS)["ours"]
    return len(views[kernel.view]) * N_REFERENCES / seconds


def ratio(kernel: Any, twin: Twin, views: Views) -> float:
    """How many times as long its twin takes on a sample of trees, where both must agree."""
    order = np.random.default_rng(0).permutation(len(views[kernel.view]))
    n = len(order) if kernel.view == "path" else N_SAMPLE
    sample, reference = take(views, np.sort(order[:n])), references(kernel, views)
    tasks = {
        "ours": (kernel.against(reference), sample),
        "numpy": (twin(kernel, reference), sample),
    }
    found, expected = (compare(views) for compare, views in tasks.values())
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)
    seconds = medians(tasks, REPEATS)
    return seconds["numpy"] / seconds["ours"]


def references(kernel: Any, views: Views) -> Views:
    """A reference set of the kernel."""
    return KLSH(kernel, n_references=N_REFERENCES).fit(views).reference_
