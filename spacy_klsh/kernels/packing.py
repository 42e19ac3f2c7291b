"""Paths as sequences of numbered items, and which of them stand side by side in lanes."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ..structures import Int32, Int64, Structures

N_LANES = 64


def similar_lengths(lengths: Int64) -> list[Int64]:
    """Rows that are compared side by side: at most `N_LANES`, of similar length."""
    order = np.argsort(-lengths, kind="stable")
    groups, first = [], 0
    while first < len(order):
        similar = lengths[order[first : first + N_LANES]] * 2 >= lengths[order[first]]
        groups.append(order[first : first + int(similar.sum())])
        first += len(groups[-1])
    return groups


def similar_pairs(x_lengths: Int64, y_lengths: Int64) -> list[Int64]:
    """Pairs that are compared side by side: of one length in x and similar ones in y."""
    return [
        rows[lanes]
        for length in np.unique(x_lengths)
        for rows in [np.flatnonzero(x_lengths == length)]
        for lanes in similar_lengths(y_lengths[rows])
    ]


def padded(items: Int32, ids: Int64, offsets: Int64, lanes: Int64) -> tuple[Int32, Int64]:
    """Distinct items of chosen sequences, and their rows (n_positions, n_lanes).

    Behind the end of a sequence stands an item without any symbol: it matches none.
    """
    lengths = np.diff(offsets)[lanes]
    positions = np.arange(lengths.max())[:, None]
    inside = positions < lengths
    rows = np.full(inside.shape, len(items))
    rows[inside] = ids[(offsets[lanes] + positions)[inside]]
    used, rows = np.unique(rows, return_inverse=True)
    nothing = np.full((1, items.shape[1]), -1, np.int32)
    return np.concatenate([items, nothing])[used], rows.reshape(inside.shape)


def distinct_items(structures: Structures, interleaved: bool) -> tuple[Int32, Int64, Int64]:
    """Structures as sequences of item numbers, and what the items are.

    Returns
    -------
    items : int32 array (n_distinct, n_attributes)
        Symbols of each distinct item; -1 where it has none: an edge on its own has no
        attributes, a node on its own no edge.
    ids : int64 array (n_items,)
        Rows of `items`.
    offsets : int64 array (n + 1,)
    """
    nodes, offsets = structures.nodes, structures.offsets
    if interleaved:
        lengths = structures.lengths
        rows = np.repeat(nodes, 2, axis=0)
        rows[0::2, 1:], rows[1::2, 0] = -1, -1  # the edge into a node, then the node
        inner = np.ones(len(rows), bool)
        inner[2 * offsets[:-1][lengths > 0]] = False  # no edge enters the first one
        nodes = rows[inner]
        offsets = np.concatenate([[0], np.cumsum(np.maximum(2 * lengths - 1, 0))])
    base = int(nodes.max(initial=0)) + 2
    first, ids = np.zeros(len(nodes), np.int64), nodes[:, 0].astype(np.int64)
    for column in nodes[:, 1:].T:  # pairs become numbers: they sort faster than rows
        _, first, ids = np.unique(ids * base + column, return_index=True, return_inverse=True)
    return np.ascontiguousarray(nodes[first]), ids, offsets.astype(np.int64)


def sorted_order(ids: Int64, offsets: Int64) -> Int64:
    """Order in which sequences that begin alike follow each other, int64 (n,)."""
    content, bounds = ids.astype(">i8").tobytes(), (8 * offsets).tolist()
    keys = [content[start:end] for start, end in pairwise(bounds)]
    return np.array(sorted(range(len(keys)), key=keys.__getitem__), np.int64)
