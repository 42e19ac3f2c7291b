"""Similarity of the items of paths, laid out as `chains.sum_subsequences` reads it: in lanes."""

from __future__ import annotations

import numpy as np

from ..compiled import compiled
from ..structures import Float32, Int32, Int64


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
