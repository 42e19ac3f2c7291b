"""Slow, obvious twin of the shortest path kernel: sets of features, place by place."""

import math

import naive
import numpy as np


def shortest_path_value(
    s, t, *, vectors, threshold, edges="direction", attribute_weights=None, sigma=None
):
    """K of two paths of words before normalization."""

    def sigma_of(edge):
        return (sigma or {}).get(edge.removeprefix("dep=").rstrip("<>"), 1.0)

    def has_direction(edge):
        return edge.startswith("dep=") and edge[-1] in "<>"

    def edges_alike(a, b):
        if edges != "label" and has_direction(a) and has_direction(b):
            return float(edges == "any" or a[-1] == b[-1])
        return naive.symbol_similarity(a, b, vectors=vectors, threshold=threshold)

    def common_features(a, b):
        total = 0.0
        for weight, p, q in zip(attribute_weights or [1.0] * len(a), a, b, strict=True):
            if p.partition("=")[2] and q.partition("=")[2]:
                alike = naive.symbol_similarity(p, q, vectors=vectors, threshold=threshold)
                total += weight * alike
        return total

    if len(s) != len(t) or not s:
        return 0.0
    nodes = [common_features(a, b) for (_, *a), (_, *b) in zip(s, t, strict=True)]
    arcs = [
        sigma_of(a) * sigma_of(b) * edges_alike(a, b)
        for (a, *_), (b, *_) in zip(s[1:], t[1:], strict=True)
    ]
    return math.prod(nodes) * math.prod(arcs)


def shortest_path_gram(x, y, **parameters):
    """Normalized values of all pairs of paths, 0 where a norm is 0."""
    x_norms = [math.sqrt(shortest_path_value(s, s, **parameters)) for s in x]
    y_norms = [math.sqrt(shortest_path_value(t, t, **parameters)) for t in y]
    return np.array(
        [
            shortest_path_value(s, t, **parameters) / (p * q) if p * q else 0.0
            for s, p in zip(x, x_norms, strict=True)
            for t, q in zip(y, y_norms, strict=True)
        ]
    ).reshape(len(x), len(y))
