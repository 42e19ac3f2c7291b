"""Paths in trees."""

from __future__ import annotations

import numpy as np

from .compiled import compiled
from .structures import Int64


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
