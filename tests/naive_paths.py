"""Slow, obvious twins of paths and trees around them: breadth-first search and sets."""

from collections import deque


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


def tree(governors, paths, closed, leaves, depth, *, whole=False):
    """(node or name of a leaf, place of what stands above it or None) around paths from one node.

    What is not on a path has at most `depth` arcs, all of them downwards, between the paths and
    itself, and none of `closed` on the way; with `whole` any arcs. `leaves` maps names to nodes.
    Nothing if one of the paths is empty.
    """
    if not all(paths):
        return []
    on_paths, root = {node for nodes in paths for node in nodes}, paths[0][0]
    above = {}
    for node in range(len(governors)):
        way = path(governors, root, node)
        off = [step for step in way if step[0] not in on_paths]
        near = whole or (len(off) <= depth and all(arc == node for node, arc in off))
        if way and near and not closed.intersection(node for node, _ in off):
            above[node] = way[-2][0] if len(way) > 1 else None
    found = []

    def visit(node, place):
        found.append((node, place))
        place = len(found) - 1
        found.extend((name, place) for name, bearer in leaves.items() if bearer == node)
        for child in sorted(above):
            if above[child] == node:
                visit(child, place)

    visit(root, None)
    return found
