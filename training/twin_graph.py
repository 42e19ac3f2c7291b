"""The graph kernel and the shortest path kernel in NumPy, to compare with."""

from __future__ import annotations

import numpy as np
from benchmark_kernel import Array, Compare, inverse_roots, padded, similarity

from spacy_klsh.kernels.graph import GraphKernel
from spacy_klsh.kernels.shortest_path import ShortestPathKernel
from spacy_klsh.structures import Structures
from spacy_klsh.views import Views


def numpy_graph(kernel: GraphKernel, y: Views) -> Compare:
    """NumPy twin of ``kernel.against(y)``: a candidate against all references at once.

    For trees as they are extracted: a root before all others, a parent before its children.
    """
    references = y[kernel.view]
    y_nodes, y_children = padded(references), padded_children(references)
    y_scale = numpy_graph_scale(kernel, references)

    def compare(views: Views) -> Array:
        x = views[kernel.view]
        table = np.pad(similarity(x, references, kernel.threshold), ((0, 0), (0, 1)))
        gram = np.zeros((len(x), len(references)))
        for i in np.flatnonzero(x.lengths):
            nodes = x.nodes[x.offsets[i] : x.offsets[i + 1]]
            edge, *attributes = (
                table[nodes[:, k]].take(y_nodes[..., k], axis=1) for k in range(nodes.shape[1])
            )
            c = edge * sum(attributes) / len(attributes)
            children = padded_children(x[i])[0]
            gram[i] = numpy_graph_values(c, children, y_children, kernel)
        return gram * numpy_graph_scale(kernel, x)[:, None] * y_scale

    return compare


def numpy_graph_scale(kernel: GraphKernel, x: Structures) -> Array:
    """1 / sqrt(K(x, x)), float64 (n,), all trees of one size at once."""
    table = similarity(x, x, kernel.threshold)
    values = np.zeros(len(x))
    for length in set(x.lengths.tolist()) - {0}:
        rows = np.flatnonzero(x.lengths == length)
        columns = x.nodes[x.offsets[rows] + np.arange(length)[:, None]].T  # (k, rows, length)
        edge, *attributes = (table[column.T[:, :, None], column] for column in columns)
        children = padded_children(x[rows])
        c = edge * sum(attributes) / len(attributes)
        values[rows] = numpy_graph_values(c, children.transpose(1, 2, 0), children, kernel)
    return inverse_roots(values)


def padded_children(trees: Structures) -> Array:
    """Children of each node, (n, longest, most children), filled up with -1."""
    lengths = trees.lengths
    children = np.flatnonzero(trees.parents >= 0)
    owners = np.repeat(np.arange(len(trees)), lengths)[children]
    above = trees.offsets[owners] + trees.parents[children]
    order = np.argsort(above, kind="stable")
    children, owners, above = children[order], owners[order], above[order]
    places = np.arange(len(above)) - np.searchsorted(above, above)
    out = np.full((len(trees), lengths.max(initial=0), places.max(initial=-1) + 1), -1)
    out[owners, above - trees.offsets[owners], places] = children - trees.offsets[owners]
    return out


def numpy_graph_values(
    c: Array, x_children: Array, y_children: Array, kernel: GraphKernel
) -> Array:
    """K of many pairs of trees, float64 (n_pairs,), from similarities c (n, n_pairs, m).

    `x_children` are (n, most children) or (n, most children, n_pairs), `y_children`
    (n_pairs, m, most children); -1 means none, and its K stands behind all others: 0.
    """
    (n, n_pairs, m), price = c.shape, kernel.decay**2
    gap = 0.0 if kernel.contiguous else kernel.decay
    steps = np.arange(y_children.shape[2])
    reach = np.triu(gap ** np.maximum(steps - steps[:, None], 0))  # from a child to those behind
    pairs, parents = np.nonzero((y_children >= 0).any(axis=2))
    y_children = y_children[pairs, parents]
    values = np.zeros((n + 1, n_pairs, m + 1))
    values[:-1, :, :-1] = c
    for a in reversed(range(n)):
        total = np.zeros(len(pairs))
        prices, sums = np.zeros((2, *y_children.shape))
        for children in x_children[a]:
            found = values[children, np.arange(n_pairs)][pairs[:, None], y_children]
            if not found.any():
                prices, sums = gap * prices, gap * sums
                continue
            new_prices, new_sums = price * (found > 0), price * found
            new_sums[:, 1:] += price * found[:, 1:] * prices[:, :-1]
            new_sums[:, 1:] += new_prices[:, 1:] * sums[:, :-1]
            new_prices[:, 1:] *= 1 + prices[:, :-1]
            total += new_sums.sum(axis=1)
            prices, sums = gap * prices + new_prices @ reach, gap * sums + new_sums @ reach
        values[a, pairs, parents] += (c[a, pairs, parents] > 0) * total
    return values[0, :, 0]


def numpy_shortest_path(kernel: ShortestPathKernel, y: Views) -> Compare:
    """NumPy twin of ``kernel.against(y)``: a candidate against all equally long references."""
    references = y["path"]
    rows = {length: np.flatnonzero(references.lengths == length) for length in references.lengths}
    places = {k: references.offsets[chosen] + np.arange(k)[:, None] for k, chosen in rows.items()}
    y_nodes = {length: references.nodes[places[length]] for length in rows}

    def compare(views: Views) -> Array:
        x = views["path"]
        table = similarity(x, references, kernel.threshold)
        table *= np.outer(_valued(x), _valued(references))
        if kernel.edges == "direction":
            own, other = _directions(x)[:, None], _directions(references)
            table = np.where((own != 0) | (other != 0), own * other > 0, table)
        gram = np.zeros((len(x), len(references)))
        for i in np.flatnonzero(np.isin(x.lengths, [k for k in rows if k])):
            nodes, length = x.nodes[x.offsets[i] : x.offsets[i + 1]], x.lengths[i]
            others = y_nodes[length]
            attributes = table[nodes[:, None, 1:], others[..., 1:]].sum(axis=-1)
            edges = table[nodes[1:, None, 0], others[1:, :, 0]]
            gram[i, rows[length]] = attributes.prod(axis=0) * edges.prod(axis=0)
        return gram * _path_scale(x)[:, None] * _path_scale(references)

    return compare


def _path_scale(x: Structures) -> Array:
    """1 / sqrt(K(x, x)): the product of the numbers of features."""
    features = _valued(x)[x.nodes[:, 1:]].sum(axis=1)
    owners = np.repeat(np.arange(len(x)), x.lengths)
    values = np.where(x.lengths > 0, 1.0, 0.0)
    np.multiply.at(values, owners, features)
    return inverse_roots(values)


def _valued(x: Structures) -> Array:
    """0 for attributes without a value, else 1."""
    return np.array([s.startswith("dep=") or s[s.find("=") + 1 :] != "" for s in x.symbols]) * 1.0


def _directions(x: Structures) -> Array:
    """1 and -1 for edges of the two directions, 0 for what has none."""
    is_edge = np.array([symbol.startswith("dep=") for symbol in x.symbols])
    signs = [symbol.endswith(">") - 1 * symbol.endswith("<") for symbol in x.symbols]
    return is_edge * np.array(signs)
