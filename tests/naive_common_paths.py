"""Slow, obvious twin of the common-paths kernel: all paths of both trees, position by position."""

import math
from itertools import product

import naive
import numpy as np


def path(tree, start, end):
    """Nodes from `start` up to the highest one, and those from below it down to `end`."""
    ways = []
    for node in (start, end):
        way = [node]
        while tree.governors[way[-1]] != way[-1]:
            way.append(tree.governors[way[-1]])
        ways.append(way)
    top = next(node for node in ways[0] if node in ways[1])
    up, down = (way[: way.index(top)] for way in ways)
    return [*up, top], down[::-1]


def directed_paths(tree, anchors):
    """(names of its ends, share, (up, down)) of all paths: half of each from either end."""
    if anchors == "any":
        ends = [(None, node) for node in range(len(tree.words))]
        pairs = [(a, b, 1.0 if a == b else 0.5) for a, b in product(ends, ends)]
    else:
        pairs = [(a, b, 0.5) for a, b in product(tree.arguments, tree.arguments) if a[0] != b[0]]
    return [((a[0], b[0]), share, path(tree, a[1], b[1])) for a, b, share in pairs]


def value(
    s,
    t,
    *,
    vectors,
    alpha=0.25,
    anchors="any",
    edges="label",
    threshold=0.4,
    attribute_weights=None,
    sigma=None,
):
    """K(s, t) before normalization."""

    def similarity(a, b):
        return naive.symbol_similarity(a, b, vectors=vectors, threshold=threshold)

    def match(a, b):
        x, y = s.words[a], t.words[b]
        weights = attribute_weights or [1.0] * len(x)
        return sum(map(math.prod, zip(weights, map(similarity, x, y), strict=True))) / sum(weights)

    def arcs_match(a, b):
        labels = s.labels[a], t.labels[b]
        alike = edges != "label" or labels[0] == labels[1]
        return alike * math.prod((sigma or {}).get(k, 1.0) for k in labels)

    total = 0.0
    for own_ends, share, (up, down) in directed_paths(s, anchors):
        for other_ends, _, (other_up, other_down) in directed_paths(t, anchors):
            if own_ends == other_ends and len(up) == len(other_up) and len(down) == len(other_down):
                nodes = zip(up + down, other_up + other_down, strict=True)
                lower = zip(up[:-1] + down, other_up[:-1] + other_down, strict=True)
                price = alpha ** (len(up) - 1 + len(down))
                matches = [*(match(*pair) for pair in nodes), *(arcs_match(*p) for p in lower)]
                total += share * price * math.prod(matches)
    return total


def gram(x, y, **parameters):
    """Normalized values of all pairs of trees, 0 where a norm is 0."""
    x_norms, y_norms = (
        [math.sqrt(value(tree, tree, **parameters)) for tree in side] for side in (x, y)
    )
    return np.array(
        [
            value(s, t, **parameters) / (p * q) if p * q else 0.0
            for s, p in zip(x, x_norms, strict=True)
            for t, q in zip(y, y_norms, strict=True)
        ]
    ).reshape(len(x), len(y))
