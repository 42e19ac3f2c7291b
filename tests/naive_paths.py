"""Slow, obvious twins of paths and subtrees: breadth-first search and sets."""

from collections import deque
from itertools import pairwise


def path(governors, start, end):
    """(node, lower node of the arc that enters it) by breadth-first search; [] if there is none."""
    queue, seen = deque([[(start, -1)]]), {start}
    while queue:
        found = queue.popleft()
        node = found[-1][0]
        if node == end:
            return found
        steps = [(governors[node], node), *((i, i) for i, g in enumerate(governors) if g == node)]
        for step in steps:
            if step[0] not in seen:
                seen.add(step[0])
                queue.append([*found, step])
    return []


def tree(paths):
    """(node, node above it or None) of the union of paths from one node, each as it is first met.

    Nothing if one of the paths is empty.
    """
    above = {}
    for nodes in paths:
        if not nodes:
            return []
        above.setdefault(nodes[0], None)
        for upper, lower in pairwise(nodes):
            above.setdefault(lower, upper)
    return list(above.items())
