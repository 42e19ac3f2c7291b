"""Branches that many pairs of trees have in common: the compiled part of the graph kernel.

Each pair is computed on its own and in one fixed order: a value does not depend on what else
is compared.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..compiled import compiled
from ..structures import Float32, Int32, Int64, Structures
from .kernel import Float64


class Trees(NamedTuple):
    """Trees with the children of each node side by side, in the order of the text.

    Parameters
    ----------
    nodes : int32 array (n_nodes, n_attributes)
    rows : int64 array (n_nodes,)
        Where each node stands within its structure.
    first, last : int64 arrays (n_nodes,)
        Children of each node are those at ``first:last``.
    roots : int64 array (n,)
        -1 where a tree has no node.
    """

    nodes: Int32
    rows: Int64
    first: Int64
    last: Int64
    roots: Int64


class Room(NamedTuple):
    """Where the pairs of nodes of two trees that are reached from the roots are put.

    Parameters
    ----------
    pairs : int32 array (n_pairs + 1, 3)
        A node of either tree, and the place of the first pair of children of both; those
        end where the pairs of children of the next pair begin.
    values : float64 array (n_pairs,)
        c, then K.
    ended : float64 array (2, n_siblings)
        Of the sequences that ended so far: their sums of prices, and of prices times K.
    """

    pairs: Int32
    values: Float64
    ended: Float64


def room_for(x: Structures, y: Structures) -> Room:
    """Room for any two trees of `x` and `y`."""
    x_size, y_size = int(x.lengths.max(initial=0)), int(y.lengths.max(initial=0))
    n_pairs = x_size * y_size
    return Room(np.empty((n_pairs + 1, 3), np.int32), np.empty(n_pairs), np.empty((2, y_size)))


def pack_trees(structures: Structures, parents: Int32) -> Trees:
    """Trees of structures with these parents within each; the first node of each is the root."""
    lengths = structures.lengths
    firsts = np.repeat(structures.offsets[:-1], lengths)
    above = np.where(parents < 0, -1, parents + firsts)
    order = np.argsort(above, kind="stable")
    above, places = above[order], np.argsort(order)
    roots = np.full(len(structures), -1)
    roots[lengths > 0] = places[structures.offsets[:-1][lengths > 0]]
    return Trees(
        nodes=structures.nodes[order],
        rows=order - firsts[order],
        first=np.searchsorted(above, order, "left"),
        last=np.searchsorted(above, order, "right"),
        roots=roots,
    )


@compiled
def gram_values(
    similarity: Float32,
    x: Trees,
    y: Trees,
    attribute_weights: Float32,
    decay: float,
    gap: float,
    room: Room,
) -> Float64:
    """K of all trees of x and all of y, float64 (n, m); `similarity` is that of symbols."""
    out = np.zeros((len(x.roots), len(y.roots)))
    for i in range(len(x.roots)):
        for j in range(len(y.roots)):
            roots = x.roots[i], y.roots[j]
            out[i, j] = _value(similarity, x, y, roots, attribute_weights, decay, gap, room)
    return out


@compiled
def chosen_values(
    similarity: Float32,
    x: Trees,
    y: Trees,
    own: Int64,
    other: Int64,
    attribute_weights: Float32,
    decay: float,
    gap: float,
    room: Room,
) -> Float64:
    """K of trees ``own[i]`` of x and ``other[i]`` of y, float64 (n_pairs,)."""
    out = np.zeros(len(own))
    for i in range(len(own)):
        roots = x.roots[own[i]], y.roots[other[i]]
        out[i] = _value(similarity, x, y, roots, attribute_weights, decay, gap, room)
    return out


@compiled
def own_values(
    similarity: Float32,
    starts: Int64,
    symbol_weights: Float32,
    offsets: Int64,
    trees: Trees,
    attribute_weights: Float32,
    decay: float,
    gap: float,
    room: Room,
) -> Float64:
    """K of each tree and itself, float64 (n,).

    `similarity` and `starts` are those of `similarity.own_similarity`: nodes, and the
    attributes of nodes, of one tree take the place of symbols.
    """
    n_attributes = symbol_weights.shape[1]
    x_nodes, y_nodes = np.empty_like(trees.nodes), np.empty_like(trees.nodes)
    for k in range(n_attributes):
        x_nodes[:, k] = trees.rows
        y_nodes[:, k] = trees.rows * n_attributes + k
    x = Trees(x_nodes, trees.rows, trees.first, trees.last, trees.roots)
    y = Trees(y_nodes, trees.rows, trees.first, trees.last, trees.roots)
    out = np.zeros(len(trees.roots))
    for i in range(len(out)):
        weights = symbol_weights[offsets[i] : offsets[i + 1]]
        size, roots = len(weights), (trees.roots[i], trees.roots[i])
        values = similarity[starts[i] : starts[i + 1]].reshape(size, size, n_attributes)
        values = values * (weights.reshape(size, 1, n_attributes) * weights)
        table = values.reshape(size, size * n_attributes)
        out[i] = _value(table, x, y, roots, attribute_weights, decay, gap, room)
    return out


@compiled
def _value(
    similarity: Float32,
    x: Trees,
    y: Trees,
    roots: tuple[int, int],
    attribute_weights: Float32,
    decay: float,
    gap: float,
    room: Room,
) -> float:
    """K of two nodes: pairs that match are found downwards, and summed up upwards."""
    pairs, values, (a, b) = room.pairs, room.values, roots
    if a < 0 or b < 0:
        return 0.0
    c = _node_similarity(similarity, x.nodes, a, y.nodes, b, attribute_weights)
    if c == np.float32(0.0):
        return 0.0
    pairs[0, 0], pairs[0, 1], values[0] = a, b, c
    n, done = 1, 0
    while done < n:
        a, b = pairs[done, 0], pairs[done, 1]
        pairs[done, 2] = n
        for p in range(x.first[a], x.last[a]):
            for q in range(y.first[b], y.last[b]):
                c = _node_similarity(similarity, x.nodes, p, y.nodes, q, attribute_weights)
                if c > np.float32(0.0):
                    pairs[n, 0], pairs[n, 1], values[n] = p, q, c
                    n += 1
        done += 1
    pairs[n, 2] = n
    for i in range(n - 1, -1, -1):
        begin, end, b = pairs[i, 2], pairs[i + 1, 2], pairs[i, 1]
        if begin < end:
            siblings = y.first[b], y.last[b]
            values[i] += _sum_sequences(room, begin, end, siblings, decay, gap)
    value: float = values[0]
    return value


@compiled
def _node_similarity(
    similarity: Float32, x: Int32, a: int, y: Int32, b: int, attribute_weights: Float32
) -> np.float32:
    """c(a, b)."""
    edge: np.float32 = similarity[x[a, 0], y[b, 0]]
    if edge == np.float32(0.0):
        return edge
    node = np.float32(0.0)
    for k in range(len(attribute_weights)):
        node += attribute_weights[k] * similarity[x[a, k + 1], y[b, k + 1]]
    return edge * node


@compiled
def _sum_sequences(
    room: Room, begin: int, end: int, siblings: tuple[int, int], decay: float, gap: float
) -> float:
    """Sum over the sequences of the pairs ``begin:end`` of children.

    These stand in the order of the one tree, then of the other, in which the children are
    the nodes from ``siblings[0]`` to before ``siblings[1]``. A sequence that ended is worth
    `gap` for each child behind it, in either tree: 0 forbids gaps.
    """
    pairs, values, (first, last) = room.pairs, room.values, siblings
    price, total = decay * decay, 0.0
    prices, sums = room.ended[0, : last - first], room.ended[1, : last - first]
    prices[:], sums[:] = 0.0, 0.0
    for p in range(pairs[begin, 0], pairs[end - 1, 0] + 1):
        row_price = row_sum = before_price = before_sum = 0.0
        for q in range(last - first):
            old_price, old_sum = prices[q], sums[q]
            if begin < end and pairs[begin, 0] == p and pairs[begin, 1] == first + q:
                new_price = price * (1.0 + before_price)
                new_sum = values[begin] * new_price + price * before_sum
                row_price, row_sum = row_price + new_price, row_sum + new_sum
                total += new_sum
                begin += 1
            prices[q], sums[q] = gap * old_price + row_price, gap * old_sum + row_sum
            row_price, row_sum = gap * row_price, gap * row_sum
            before_price, before_sum = old_price, old_sum
    return total
