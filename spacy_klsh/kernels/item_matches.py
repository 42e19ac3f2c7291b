"""Similarity of the items of paths, laid out as `chains.sum_subsequences` reads it: in lanes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..compiled import compiled
from ..structures import Float32, Int32, Int64


class Cells(NamedTuple):
    """Nodes of pairs of structures that have anything in common, in the order of the pairs.

    Parameters
    ----------
    pairs : int64 array (n_cells,)
        Which pair of structures.
    own, other : int64 arrays (n_cells,)
        Places of the nodes in the one structure and in the other.
    similarity : float32 array (n_cells, 1 + n_attributes)
        Of their edges and of each attribute.
    """

    pairs: Int64
    own: Int64
    other: Int64
    similarity: Float32


@compiled
def alike_nodes(
    similarity: Float32, x: Int32, x_offsets: Int64, y: Int32, y_offsets: Int64
) -> tuple[Int64, Int64, Int64, Float32]:
    """The `Cells` of two rows of structures: each of x with the one of y in the same place.

    `similarity` is that of the symbols of `x` and of `y`, which are nodes.
    """
    n = 0
    for pair in range(len(x_offsets) - 1):
        n += (x_offsets[pair + 1] - x_offsets[pair]) * (y_offsets[pair + 1] - y_offsets[pair])
    places, values = np.empty((3, n), np.int64), np.empty((n, x.shape[1]), np.float32)
    n = 0
    for pair in range(len(x_offsets) - 1):
        for i in range(x_offsets[pair], x_offsets[pair + 1]):
            for j in range(y_offsets[pair], y_offsets[pair + 1]):
                alike = False
                for k in range(x.shape[1]):
                    values[n, k] = similarity[x[i, k], y[j, k]]
                    alike |= values[n, k] != 0
                if alike:
                    places[0, n], places[1, n] = pair, i - x_offsets[pair]
                    places[2, n] = j - y_offsets[pair]
                    n += 1
    return places[0, :n].copy(), places[1, :n].copy(), places[2, :n].copy(), values[:n].copy()


@compiled
def own_matches(
    values: Float32,
    starts: Int64,
    symbol_weights: Float32,
    offsets: Int64,
    chosen: Int64,
    attribute_weights: Float32,
    interleaved: bool,
) -> Float32:
    """Matches of the items of chosen structures among themselves, a lane each.

    `values` and `starts` are those of `similarity.own_similarity`, `symbol_weights` has a
    number for each symbol of each node; float32 (n_items, n_items, n_chosen), 0 behind
    the end of one.
    """
    longest = 0
    for i in chosen:
        longest = max(longest, offsets[i + 1] - offsets[i])
    step = 2 if interleaved else 1
    n_items = max(step * (longest - 1) + 1, 0)
    out = np.zeros((n_items, n_items, len(chosen)), np.float32)
    for lane, i in enumerate(chosen):
        first, size = offsets[i], offsets[i + 1] - offsets[i]
        for a in range(size):
            for b in range(size):
                similarity = values[starts[i] + a * size + b]
                own, other = symbol_weights[first + a], symbol_weights[first + b]
                edge = similarity[0] * (own[0] * other[0])
                node = np.float32(0.0)
                for k in range(len(attribute_weights)):
                    node += attribute_weights[k] * (similarity[k + 1] * (own[k + 1] * other[k + 1]))
                if not interleaved:
                    out[a, b, lane] = edge * node
                    continue
                out[2 * a, 2 * b, lane] = node
                if a > 0 and b > 0:  # no edge enters the first node
                    out[2 * a - 1, 2 * b - 1, lane] = edge
    return out


@compiled
def _item_similarity(
    similarity: Float32, x: Int32, i: int, y: Int32, j: int, attribute_weights: Float32
) -> np.float32:
    """Similarity of two items; an edge never matches a node."""
    if (x[i, 0] < 0) != (y[j, 0] < 0) or (x[i, 1] < 0) != (y[j, 1] < 0):
        return np.float32(0.0)
    edge = np.float32(1.0) if x[i, 0] < 0 else similarity[x[i, 0], y[j, 0]]
    if x[i, 1] < 0 or edge == np.float32(0.0):
        return edge
    node = np.float32(0.0)
    for k in range(len(attribute_weights)):
        node += attribute_weights[k] * similarity[x[i, k + 1], y[j, k + 1]]
    return edge * node


@compiled
def cross_matches(
    similarity: Float32,
    x_items: Int32,
    y_items: Int32,
    y_ids: Int64,
    attribute_weights: Float32,
) -> Float32:
    """Matches of distinct items of x with the sequences of y, a lane each.

    `y_ids` are rows of `y_items`, int64 (n_positions, n_lanes); float32 (n_items,
    n_positions, n_lanes).
    """
    out = np.zeros((len(x_items), y_ids.shape[0], y_ids.shape[1]), np.float32)
    alike = np.empty(len(y_items), np.float32)
    for i in range(len(x_items)):
        for j in range(len(y_items)):
            alike[j] = _item_similarity(similarity, x_items, i, y_items, j, attribute_weights)
        if alike.any():
            for b in range(y_ids.shape[0]):
                for lane in range(y_ids.shape[1]):
                    out[i, b, lane] = alike[y_ids[b, lane]]
    return out


@compiled
def pair_matches(
    similarity: Float32,
    x_nodes: Int32,
    x_offsets: Int64,
    y_nodes: Int32,
    y_offsets: Int64,
    own: Int64,
    other: Int64,
    attribute_weights: Float32,
    interleaved: bool,
) -> Float32:
    """Matches of the items of structures ``own[i]`` of x and ``other[i]`` of y, a lane each.

    `similarity` is that of their symbols; float32 (n_items of x, n_items of y, n_pairs), 0
    behind the end of one.
    """
    step, n_lanes = 2 if interleaved else 1, len(own)
    x_longest = y_longest = 0
    for lane in range(n_lanes):
        x_longest = max(x_longest, x_offsets[own[lane] + 1] - x_offsets[own[lane]])
        y_longest = max(y_longest, y_offsets[other[lane] + 1] - y_offsets[other[lane]])
    n_rows, n_positions = step * (x_longest - 1) + 1, step * (y_longest - 1) + 1
    out = np.zeros((max(n_rows, 0), max(n_positions, 0), n_lanes), np.float32)
    for lane in range(n_lanes):
        x = x_nodes[x_offsets[own[lane]] : x_offsets[own[lane] + 1]]
        y = y_nodes[y_offsets[other[lane]] : y_offsets[other[lane] + 1]]
        for a in range(len(x)):
            for b in range(len(y)):
                edge = similarity[x[a, 0], y[b, 0]]
                node = np.float32(0.0)
                for k in range(len(attribute_weights)):
                    node += attribute_weights[k] * similarity[x[a, k + 1], y[b, k + 1]]
                if not interleaved:
                    out[a, b, lane] = edge * node
                    continue
                out[2 * a, 2 * b, lane] = node
                if a > 0 and b > 0:  # no edge enters the first node
                    out[2 * a - 1, 2 * b - 1, lane] = edge
    return out
