"""Common subsequences as chains of matching items: the compiled part of the path kernel."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..structures import Float32, Int32, Int64

Float64 = NDArray[np.float64]


@njit(nogil=True, cache=True)
def _powers(base: float, n: int) -> Float64:
    powers = np.ones(n + 1, np.float64)
    for i in range(n):
        powers[i + 1] = powers[i] * base
    return powers


@njit(nogil=True, cache=True)
def _collect_matches(
    edges: Float32, nodes: Float32, n: int, m: int, interleaved: bool, places: Int32, match: Float64
) -> int:
    """Positions and similarities of all items that match, in rising order; how many."""
    count = 0
    for a in range(n):
        if interleaved and a > 0:
            for b in range(1, m):
                if edges[a, b] != np.float32(0.0):
                    places[count, 0], places[count, 1] = 2 * a - 1, 2 * b - 1
                    match[count] = edges[a, b]
                    count += 1
        for b in range(m):
            value = nodes[a, b] if interleaved else edges[a, b] * nodes[a, b]
            if value != np.float32(0.0):
                places[count, 0] = 2 * a if interleaved else a
                places[count, 1] = 2 * b if interleaved else b
                match[count] = value
                count += 1
    return count


@njit(nogil=True, cache=True)
def _sum_chains(
    first: int,
    last: int,
    places: Int32,
    match: Float64,
    powers: Float64,
    length_weights: Float64,
    chains: Float64,
) -> float:
    """Sum of w_l K_l over the matches `first` to `last`, in rising order of x.

    A common subsequence is a chain of matches that rises in both paths; ``chains[k]``
    is the weight of all chains of the present length that end in match k.
    """
    total = 0.0
    for length in range(len(length_weights)):
        value = 0.0
        for k in range(last - 1, first - 1, -1):  # backwards: those before k are still shorter
            weight = 0.0 if length > 0 else powers[2]
            x, y = places[k, 0], places[k, 1]
            for i in range(first, k if length > 0 else first):
                if places[i, 0] < x and places[i, 1] < y:
                    weight += chains[i] * powers[x - places[i, 0] + y - places[i, 1]]
            chains[k] = weight * match[k]
            value += chains[k]
        if value == 0.0:  # no chain of this length, so none that is longer
            break
        total += length_weights[length] * value
    return total


@njit(nogil=True, cache=True)
def self_values(
    values: Float32,
    starts: Int64,
    sigma: Float32,
    offsets: Int64,
    attribute_weights: Float32,
    decay: float,
    length_weights: Float64,
    interleaved: bool,
) -> Float64:
    """K(x, x) of every structure, from the similarities of its nodes among themselves.

    `values` and `starts` are those of `similarity.own_similarity`, `sigma` has one
    number a node; float64 (n,).
    """
    n, longest = len(offsets) - 1, 0
    for i in range(n):
        longest = max(longest, offsets[i + 1] - offsets[i])
    edges = np.empty((longest, longest), np.float32)
    nodes = np.empty((longest, longest), np.float32)
    places = np.empty((2 * longest * longest, 2), np.int32)
    match, chains = np.empty(len(places)), np.empty(len(places))
    powers = _powers(decay, 4 * longest + 2)
    out = np.zeros(n, np.float64)
    for i in range(n):
        first, size = offsets[i], offsets[i + 1] - offsets[i]
        for a in range(size):
            for b in range(size):
                row = starts[i] + a * size + b
                edges[a, b] = values[row, 0] * (sigma[first + a] * sigma[first + b])
                node = np.float32(0.0)
                for k in range(len(attribute_weights)):
                    node += attribute_weights[k] * values[row, k + 1]
                nodes[a, b] = node
        count = _collect_matches(edges, nodes, size, size, interleaved, places, match)
        out[i] = _sum_chains(0, count, places, match, powers, length_weights, chains)
    return out


@njit(nogil=True, cache=True)
def _item_similarity(
    similarity: Float32, x: Int32, i: int, y: Int32, j: int, attribute_weights: Float32
) -> np.float32:
    """Similarity of two items without sigma; an edge never matches a node."""
    if (x[i, 0] < 0) != (y[j, 0] < 0) or (x[i, 1] < 0) != (y[j, 1] < 0):
        return np.float32(0.0)
    edge = np.float32(1.0) if x[i, 0] < 0 else similarity[x[i, 0], y[j, 0]]
    if x[i, 1] < 0 or edge == np.float32(0.0):
        return edge
    node = np.float32(0.0)
    for k in range(len(attribute_weights)):
        node += attribute_weights[k] * similarity[x[i, k + 1], y[j, k + 1]]
    return edge * node


@njit(nogil=True, cache=True)
def find_matches(
    similarity: Float32,
    x_items: Int32,
    x_sigma: Float32,
    y_items: Int32,
    y_ids: Int64,
    y_sigma: Float32,
    attribute_weights: Float32,
) -> tuple[Int64, Int32, Float32]:
    """Places in y that match each row of x_items, in rising order, and how well."""
    starts = np.zeros(len(x_items) + 1, np.int64)
    room = 1024
    places, match = np.empty(room, np.int32), np.empty(room, np.float32)
    count = 0
    alike = np.empty(len(y_items), np.float32)
    for i in range(len(x_items)):
        for j in range(len(y_items)):
            alike[j] = _item_similarity(similarity, x_items, i, y_items, j, attribute_weights)
            if alike[j] != np.float32(0.0) and x_items[i, 0] >= 0:
                alike[j] *= x_sigma[x_items[i, 0]] * y_sigma[y_items[j, 0]]
        for j in range(len(y_ids)):
            if alike[y_ids[j]] != np.float32(0.0):
                if count == room:
                    places = np.concatenate((places, np.empty(room, np.int32)))
                    match = np.concatenate((match, np.empty(room, np.float32)))
                    room *= 2
                places[count], match[count] = j, alike[y_ids[j]]
                count += 1
        starts[i + 1] = count
    return starts, places[:count], match[:count]


@njit(nogil=True, cache=True)
def gram_of_matches(
    x_ids: Int64,
    x_offsets: Int64,
    x_scale: Float64,
    y_offsets: Int64,
    y_scale: Float64,
    starts: Int64,
    found: Int32,
    similarity: Float32,
    decay: float,
    length_weights: Float64,
) -> Float32:
    """Gram matrix from the rows of y that match each distinct item of x.

    The matches of one x with all y are dealt out to bins, one for each y.
    """
    n, m, longest = len(x_offsets) - 1, len(y_offsets) - 1, 0
    for i in range(n):
        longest = max(longest, x_offsets[i + 1] - x_offsets[i])
    owner = np.empty(y_offsets[-1], np.int64)
    for j in range(m):
        longest = max(longest, y_offsets[j + 1] - y_offsets[j])
        owner[y_offsets[j] : y_offsets[j + 1]] = j
    powers = _powers(decay, 2 * longest + 2)
    places, match, chains = np.empty((0, 2), np.int32), np.empty(0), np.empty(0)
    ends = np.empty(m, np.int64)
    out = np.zeros((n, m), np.float32)
    for i in range(n):
        first, size = x_offsets[i], x_offsets[i + 1] - x_offsets[i]
        if size * y_offsets[-1] > len(match):
            places = np.empty((size * y_offsets[-1], 2), np.int32)
            match, chains = np.empty(len(places)), np.empty(len(places))
        for j in range(m):
            ends[j] = size * y_offsets[j]
        for a in range(size):
            item = x_ids[first + a]
            for k in range(starts[item], starts[item + 1]):
                j = owner[found[k]]
                places[ends[j], 0], places[ends[j], 1] = a, found[k] - y_offsets[j]
                match[ends[j]] = similarity[k]
                ends[j] += 1
        for j in range(m):
            value = _sum_chains(
                size * y_offsets[j], ends[j], places, match, powers, length_weights, chains
            )
            out[i, j] = value * x_scale[i] * y_scale[j]
    return out
