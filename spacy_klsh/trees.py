"""Paths in trees."""

from __future__ import annotations

import numpy as np

from .compiled import compiled
from .structures import Int32, Int64


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
def join_paths(
    nodes: Int64, offsets: Int64, paths: Int64, bounds: Int64, marks: Int64
) -> tuple[Int64, Int32, Int64]:
    """Trees that paths from one node make together.

    Parameters
    ----------
    nodes : int64 array (n_steps,)
        Nodes of paths in a forest, one behind the other, as `tree_paths` gives them.
    offsets : int64 array (n_paths + 1,)
        Starts of the paths.
    paths : int64 array (n_pieces,)
        The paths of each tree; all paths of a tree start at the same node.
    bounds : int64 array (n + 1,)
        Starts of the trees in `paths`.
    marks : int64 array (n_pieces,)
        What hangs as a further leaf below the end of each path; -1: nothing.

    Returns
    -------
    steps : int64 array (n_nodes,)
        Step at which each node is first met, or the mark of a leaf.
    parents : int32 array (n_nodes,)
        Parent of each node within its tree, -1 for the root.
    offsets : int64 array (n + 1,)
        Starts of the trees; nothing for a tree one of whose paths is empty.
    """
    size = 0
    for path in paths:
        size += offsets[path + 1] - offsets[path] + 1
    steps, parents = np.empty(size, np.int64), np.empty(size, np.int32)
    starts = np.zeros(len(bounds), np.int64)
    seen = np.full(nodes.max() + 1 if len(nodes) else 0, -1)
    place = np.zeros(len(seen), np.int32)
    for tree in range(len(bounds) - 1):
        first = end = starts[tree]
        for k in range(bounds[tree], bounds[tree + 1]):
            start, stop, parent = offsets[paths[k]], offsets[paths[k] + 1], np.int32(-1)
            if start == stop:
                end = first
                break
            for step in range(start, stop):
                node = nodes[step]
                if seen[node] != tree:
                    seen[node], place[node] = tree, end - first
                    steps[end], parents[end] = step, parent
                    end += 1
                parent = place[node]
            if marks[k] >= 0:
                steps[end], parents[end] = marks[k], parent
                end += 1
        starts[tree + 1] = end
    return steps[: starts[-1]].copy(), parents[: starts[-1]].copy(), starts
