"""The common-paths kernel in NumPy, to compare with: the same recursion."""

from __future__ import annotations

import numpy as np
from benchmark_kernel import Array, Compare, inverse_roots, padded, similarity

from spacy_klsh.kernels.common_paths import CommonPathsKernel
from spacy_klsh.kernels.governed import governed
from spacy_klsh.structures import Structures
from spacy_klsh.views import Views

N_PARTS = 4


def numpy_common_paths(kernel: CommonPathsKernel, y: Views) -> Compare:
    """NumPy twin of ``kernel.against(y)``: a candidate against many references at once.

    References of similar size are padded to one size and computed together.
    """
    references = governed(y["subtree"], anchored=False).structures
    y_scale = numpy_scale(kernel, references)
    longest = references.lengths.max(initial=0)
    nodes, below = padded(references), np.array(dependents(references, longest))
    parts = [
        (rows, nodes[rows, :size], below[rows, :size, :size])
        for rows in np.array_split(np.argsort(references.lengths), N_PARTS)
        for size in [references.lengths[rows].max(initial=0)]
    ]

    def compare(views: Views) -> Array:
        x = governed(views["subtree"], anchored=False).structures
        gram = np.zeros((len(x), len(references)))
        table = np.pad(similarity(x, references, kernel.threshold), ((0, 0), (0, 1)))
        trees = zip(np.split(x.nodes, x.offsets[1:-1]), dependents(x), strict=True)
        for i, (nodes, own) in enumerate(trees):
            for rows, y_nodes, other in parts:
                gram[i, rows] = numpy_values(*matches(table, nodes, y_nodes), own, other, kernel)
        return gram * numpy_scale(kernel, x)[:, None] * y_scale

    return compare


def matches(table: Array, nodes: Array, y_nodes: Array) -> tuple[Array, Array]:
    """Similarities of nodes and of arcs of one tree and many, (n_trees, n, m)."""
    arcs, *attributes = (
        np.moveaxis(table[nodes[:, k]][:, y_nodes[..., k]], 0, 1) for k in range(nodes.shape[1])
    )
    return sum(attributes) / len(attributes), arcs


def dependents(x: Structures, size: int | None = None) -> list[Array]:
    """1 for a governor and its dependent, float64 (size, size) of each tree; None: its own."""
    out = []
    for parents in np.split(x.parents, x.offsets[1:-1]):
        n = len(parents) if size is None else size
        lower = np.flatnonzero(parents >= 0)
        out.append(np.zeros((n, n)))
        out[-1][parents[lower], lower] = 1.0
    return out


def numpy_scale(kernel: CommonPathsKernel, x: Structures) -> Array:
    """1 / sqrt(K(x, x)), float64 (n,)."""
    values, table = np.zeros(len(x)), similarity(x, x, kernel.threshold)
    trees = zip(np.split(x.nodes, x.offsets[1:-1]), dependents(x), strict=True)
    for i, (nodes, own) in enumerate(trees):
        items = matches(table, nodes, nodes[None])
        values[i] = numpy_values(*items, own, own[None], kernel)[0]
    return inverse_roots(values)


def numpy_values(
    words: Array, arcs: Array, own: Array, other: Array, kernel: CommonPathsKernel
) -> Array:
    """K of one tree and many, float64 (n_trees,).

    Sums over children are products with the matrices `own` (n, n) and `other` (n_trees, m, m).
    """
    up, step = other.transpose(0, 2, 1), kernel.alpha * arcs * words
    down, paths = np.zeros_like(step), step
    while (new := own @ paths @ up).any() and not np.array_equal(new, down):
        down, paths = new, step * (1 + new)
    peaks = down**2 - own @ (paths @ up) ** 2 - (own @ paths) ** 2 @ up + own @ paths**2 @ up
    return np.einsum("pab,pab->p", words, 1 + down + peaks / 2)
