"""Common paths of many pairs of trees, one pair at a time: the compiled part of the kernel.

A value does not depend on what else is compared: its sums run in the order of the nodes of
its own two trees.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..compiled import compiled
from ..structures import Float32, Int32, Int64

Float64 = NDArray[np.float64]


class Trees(NamedTuple):
    """`GovernedTrees` as the compiled functions read them.

    Parameters
    ----------
    nodes : int32 array (n_nodes, 1 + n_attributes)
    offsets : int64 array (n + 1,)
    children : int32 array (n_nodes, 2)
    ends : float64 array (n_nodes,)
        What a path weighs that ends in a node, for the arc by which it gets there.
    """

    nodes: Int32
    offsets: Int64
    children: Int32
    ends: Float64


class _Alike(NamedTuple):
    """The nodes of one tree that match each item of others, as far as these were met.

    Parameters
    ----------
    tree : int64 array (n_items,)
        The tree for which an item was met last, -1 at first.
    counts : int64 array (n_items,)
    places : int32 array (n_items, n_nodes)
        Rising; `counts` of them.
    values : float32 array (n_items, n_nodes)
    """

    tree: Int64
    counts: Int64
    places: Int32
    values: Float32


class _Matches(NamedTuple):
    """Room for the matching nodes of the largest two trees; `paths` holds zeros.

    Parameters
    ----------
    own, other : int64 arrays (n_cells,)
        Places of the nodes; both those of its children come behind a match.
    nodes, arcs : float64 arrays (n_cells,)
        Similarity of the nodes, and of the arcs from their governors.
    paths : float64 array (n_own, n_other)
        Sum over the common paths that lead from the governors down to each match.
    seen : float64 array (n_other,)
    """

    own: Int64
    other: Int64
    nodes: Float64
    arcs: Float64
    paths: Float64
    seen: Float64


@compiled
def _room(n: int, m: int) -> _Matches:
    return _Matches(
        np.empty(n * m, np.int64),
        np.empty(n * m, np.int64),
        np.empty(n * m, np.float64),
        np.empty(n * m, np.float64),
        np.zeros((n, m), np.float64),
        np.zeros(m, np.float64),
    )


@compiled
def _longest(offsets: Int64) -> int:
    longest = 0
    for i in range(len(offsets) - 1):
        longest = max(longest, offsets[i + 1] - offsets[i])
    return longest


@compiled
def cross_sums(
    similarity: Float32,
    weights: Float32,
    x: Trees,
    y: Trees,
    y_items: Int64,
    own: Int64,
    other: Int64,
    alpha: float,
    anchored: bool,
) -> Float64:
    """K of trees ``own[k]`` of x and ``other[k]`` of y, float64 (n_pairs,).

    Fastest if equal `own` stand together.

    Parameters
    ----------
    similarity : float32 array (x symbols, y symbols)
    weights : float32 array (n_attributes,)
    y_items : int64 array (n_nodes of y,)
        Numbers of their attributes, equal for equal ones.
    """
    n_own, n_items = _longest(x.offsets), 0
    for item in y_items:
        n_items = max(n_items, item + 1)
    found, out = _room(n_own, _longest(y.offsets)), np.empty(len(own), np.float64)
    alike = _Alike(
        np.full(n_items, -1),
        np.zeros(n_items, np.int64),
        np.empty((n_items, n_own), np.int32),
        np.empty((n_items, n_own), np.float32),
    )
    for k in range(len(own)):
        x_start, x_end = x.offsets[own[k]], x.offsets[own[k] + 1]
        y_start, y_end = y.offsets[other[k]], y.offsets[other[k] + 1]
        n = 0
        for b in range(y_start, y_end):
            item = y_items[b]
            if alike.tree[item] != own[k]:
                alike.tree[item] = own[k]
                _fill(alike, item, similarity, weights, x.nodes[x_start:x_end], y.nodes[b])
            for s in range(alike.counts[item]):
                a = alike.places[item, s]
                found.own[n], found.other[n] = a, b - y_start
                found.nodes[n] = alike.values[item, s]
                found.arcs[n] = similarity[x.nodes[x_start + a, 0], y.nodes[b, 0]]
                n += 1
        out[k] = _sum_paths(found, n, x, x_start, y, y_start, alpha, anchored)
    return out


@compiled
def _fill(
    alike: _Alike, item: int, similarity: Float32, weights: Float32, nodes: Int32, node: Int32
) -> None:
    """Store which `nodes` of a tree match the `node` that shows an item."""
    n = 0
    for a in range(len(nodes)):
        value = np.float32(0.0)
        for c in range(len(weights)):
            value += weights[c] * similarity[nodes[a, c + 1], node[c + 1]]
        if value > np.float32(0.0):
            alike.places[item, n], alike.values[item, n] = a, value
            n += 1
    alike.counts[item] = n


@compiled
def own_sums(
    values: Float32,
    starts: Int64,
    symbol_weights: Float32,
    weights: Float32,
    x: Trees,
    alpha: float,
    anchored: bool,
) -> Float64:
    """K of each tree and itself, float64 (n,).

    `values` and `starts` are those of `similarity.own_similarity`, `symbol_weights` has a
    number for each symbol of each node.
    """
    n_trees, size = len(x.offsets) - 1, _longest(x.offsets)
    found, out = _room(size, size), np.empty(n_trees, np.float64)
    for i in range(n_trees):
        start, size = x.offsets[i], x.offsets[i + 1] - x.offsets[i]
        n = 0
        for a in range(size):
            for b in range(size):
                similarity = values[starts[i] + a * size + b]
                own, other = symbol_weights[start + a], symbol_weights[start + b]
                value = np.float32(0.0)
                for c in range(len(weights)):
                    value += weights[c] * (similarity[c + 1] * (own[c + 1] * other[c + 1]))
                if value > np.float32(0.0):
                    found.own[n], found.other[n], found.nodes[n] = a, b, value
                    found.arcs[n] = similarity[0] * (own[0] * other[0])
                    n += 1
        out[i] = _sum_paths(found, n, x, start, x, start, alpha, anchored)
    return out


@compiled
def _sum_paths(
    found: _Matches,
    n: int,
    x: Trees,
    x_start: int,
    y: Trees,
    y_start: int,
    alpha: float,
    anchored: bool,
) -> float:
    """K of two trees, `n` of whose nodes match; leaves zeros in `found.paths`."""
    total = 0.0
    for k in range(n - 1, -1, -1):
        a, b = found.own[k], found.other[k]
        own, other = x.children[x_start + a], y.children[y_start + b]
        down = peak = 0.0
        if own[0] < own[1] and other[0] < other[1]:
            down, peak = _sum_children(found.paths, own[0], own[1], other[0], other[1], found.seen)
        total += found.nodes[k] * (peak if anchored else 1.0 + down + peak)
        found.paths[a, b] = found.arcs[k] * found.nodes[k] * alpha * (x.ends[x_start + a] + down)
    for k in range(n):
        found.paths[found.own[k], found.other[k]] = 0.0
    return total


@compiled
def _sum_children(
    paths: Float64, a_start: int, a_end: int, b_start: int, b_end: int, seen: Float64
) -> tuple[float, float]:
    """Common paths down from a match, and through it from child to child.

    In the paper's words CDP and the rest of CPP: the products of two matches of children,
    no child twice, each product once. Nothing is subtracted, so that large values do not
    swallow small ones.
    """
    down = peak = 0.0
    for b in range(b_start, b_end):
        seen[b] = 0.0
    for a in range(a_start, a_end):
        before = behind = 0.0
        for b in range(b_start, b_end):
            down += paths[a, b]
            peak += paths[a, b] * before
            before += seen[b]
        for b in range(b_end - 1, b_start - 1, -1):
            peak += paths[a, b] * behind
            behind += seen[b]
            seen[b] += paths[a, b]
    return down, peak
