"""Slow, obvious twin of the shortest path kernel: sets of features, place by place."""

import math

import naive
import numpy as np


def shortest_path_value(s, t, *, vectors, attribute_weights=None, sigma=None, **token_kernel):
    """K of two paths of words before normalization."""

    def similarity(a, b):
        return naive.symbol_similarity(a, b, vectors=vectors, **token_kernel)

    def sigma_of(edge):
        return (sigma or {}).get(edge.removeprefix("dep=").rstrip("<>"), 1.0)

    def common_features(a, b):
        return sum(
            weight * similarity(p, q)
            for weight, p, q in zip(attribute_weights or [1.0] * len(a), a, b, strict=True)
            if p.partition("=")[2] and q.partition("=")[2]
        )

    if len(s) != len(t) or not s:
        return 0.0
    nodes = [common_features(a, b) for (_, *a), (_, *b) in zip(s, t, strict=True)]
    arcs = [
        sigma_of(a) * sigma_of(b) * similarity(a, b)
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
