"""How fast the kernels of trees and the shortest path kernel are, each beside a NumPy twin."""

from __future__ import annotations

from pathlib import Path

from benchmark_graph import graph, shortest_path
from benchmark_trees import common_paths


def kernels(corpora: Path) -> dict[str, float]:
    """Figures of each kernel on candidates of AIMed, with its name before theirs."""
    return {
        f"{measure.__name__}_{name}": value
        for measure in (common_paths, graph, shortest_path)
        for name, value in measure(corpora).items()
    }
