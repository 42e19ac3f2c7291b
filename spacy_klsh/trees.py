"""Paths in trees, and trees around paths."""

from __future__ import annotations

import numpy as np

from .compiled import compiled
from .structures import Int32, Int64


def chains(offsets: Int64) -> Int32:
    """Parents that make each structure one line, int32 (n_nodes,)."""
    firsts = np.repeat(offsets[:-1], np.diff(offsets))
    return (np.arange(len(firsts)) - firsts - 1).astype(np.int32)


@compiled
def tree_paths(governors: Int64, starts: Int64, ends: Int64) -> tuple[Int64, Int64, Int64]:
    """Shortest paths between nodes of a forest, one behind the other.

    Parameters
    ----------
    governors : int64 array (n_nodes,)
        Governor of each node; a root is its own.
    starts, ends : int64 arrays (n,)
        Nodes at which each path begins and ends.

    Returns
    -------
    nodes : int64 array (n_steps,)
    arcs : int64 array (n_steps,)
        The lower node of the arc by which a path enters each node: the node itself on the
        way down, the node before on the way up, -1 at the start.
    offsets : int64 array (n + 1,)
        Starts of the paths; nothing for two nodes of different trees.
    """
    n = len(starts)
    seen, height = np.full(len(governors), -1), np.zeros(len(governors), np.int64)
    top, offsets = np.full(n, -1), np.zeros(n + 1, np.int64)
    for k in range(n):
        node, steps = starts[k], 0
        while seen[node] != k:  # a root is met again at once
            seen[node], height[node] = k, steps
            node, steps = governors[node], steps + 1
        node, steps = ends[k], 0
        while seen[node] != k and governors[node] != node:
            node, steps = governors[node], steps + 1
        offsets[k + 1] = offsets[k]
        if seen[node] == k:
            top[k] = node
            offsets[k + 1] += height[node] + 1 + steps
    nodes, arcs = np.empty(offsets[-1], np.int64), np.empty(offsets[-1], np.int64)
    for k in range(n):
        if top[k] < 0:
            continue
        place, node = offsets[k], starts[k]
        nodes[place], arcs[place] = node, -1
        while node != top[k]:
            place, arc, node = place + 1, node, governors[node]
            nodes[place], arcs[place] = node, arc
        place, node = offsets[k + 1] - 1, ends[k]
        while node != top[k]:
            nodes[place], arcs[place] = node, node
            place, node = place - 1, governors[node]
    return nodes, arcs, offsets


@compiled
def rooted_trees(
    governors: Int64,
    neighbours: Int64,
    bounds: Int64,
    paths: Int64,
    offsets: Int64,
    spans: Int64,
    span_offsets: Int64,
    depth: int,
    upwards: bool,
) -> tuple[Int64, Int64, Int64, Int32, Int64]:
    """Trees around paths that start at one node, turned so that this is their root.

    Parameters
    ----------
    governors : int64 array (n_nodes,)
        Governor of each node; a root is its own.
    neighbours, bounds : int64 arrays (n_arcs,), (n_nodes + 1,)
        Node ``i`` governs or is governed by ``neighbours[bounds[i]:bounds[i + 1]]``, which rise.
    paths, offsets : int64 arrays (n_steps,), (n + 1,)
        Nodes on the paths of each tree, its root first; a tree without any is empty.
    spans, span_offsets : int64 arrays (n_spans, 3), (n + 1,)
        Start and end (exclusive) of the nodes of each tree that belong to it on its paths alone,
        and the node below which a leaf hangs; -1: no leaf.
    depth : int
        How many arcs from the paths a node may be.
    upwards : bool
        Whether arcs away from the paths may lead to governors.

    Returns
    -------
    nodes : int64 array (n_found,)
        A node and its leaves, then all below its first neighbour, and so on; a leaf has the
        node on which it hangs.
    steps : int64 array (n_found,)
        Row of `paths` in which the node is first met; -1: none.
    leaves : int64 array (n_found,)
        Row of `spans` of a leaf; -1: a node.
    parents : int32 array (n_found,)
        Parent of each node within its tree, -1 for the root.
    offsets : int64 array (n + 1,)
        Starts of the trees.
    """
    size = len(governors)
    tree_of, step_of, closed = np.full(size, -1), np.full(size, -1), np.full(size, -1)
    stack, found = np.empty((size, 4), np.int64), np.empty((len(paths), 4), np.int64)
    starts = np.zeros(len(offsets), np.int64)
    for tree in range(len(offsets) - 1):
        first = end = starts[tree]
        for step in range(offsets[tree + 1] - 1, offsets[tree] - 1, -1):  # the first one stays
            tree_of[paths[step]], step_of[paths[step]] = tree, step
        for span in range(span_offsets[tree], span_offsets[tree + 1]):
            closed[spans[span, 0] : spans[span, 1]] = tree
        found = _with_room(found, end, end + size + span_offsets[tree + 1] - span_offsets[tree])
        height = 0
        if offsets[tree] < offsets[tree + 1]:
            _fill(stack[0], paths[offsets[tree]], -1, -1, depth)
            height = 1
        while height:
            height -= 1
            node, before, left = stack[height, 0], stack[height, 1], stack[height, 3]
            step, place = step_of[node] if tree_of[node] == tree else -1, end - first
            _fill(found[end], node, step, -1, stack[height, 2])
            end += 1
            for span in range(span_offsets[tree], span_offsets[tree + 1]):
                if spans[span, 2] == node:
                    _fill(found[end], node, step, span, place)
                    end += 1
            for k in range(bounds[node + 1] - 1, bounds[node] - 1, -1):  # the first one on top
                other = neighbours[k]
                if other == before:
                    continue
                if tree_of[other] == tree:
                    _fill(stack[height], other, node, place, depth)
                elif left and closed[other] != tree and (upwards or other != governors[node]):
                    _fill(stack[height], other, node, place, left - 1)
                else:
                    continue
                height += 1
        starts[tree + 1] = end
    nodes, steps, leaves, parents = found[: starts[-1]].T.copy()
    return nodes, steps, leaves, parents.astype(np.int32), starts


@compiled
def _fill(row: Int64, first: int, second: int, third: int, fourth: int) -> None:
    row[0], row[1], row[2], row[3] = first, second, third, fourth


@compiled
def _with_room(rows: Int64, end: int, needed: int) -> Int64:
    """The rows before `end` with room for as many as are `needed`."""
    if needed <= len(rows):
        return rows
    more = np.empty((2 * needed, rows.shape[1]), np.int64)
    more[:end] = rows[:end]
    return more
