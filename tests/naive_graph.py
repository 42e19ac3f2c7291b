"""Slow, obvious twin of the graph kernel: all sequences of children, one by one."""

import itertools
import math

import naive
import numpy as np


def graph_value(
    s,
    t,
    *,
    vectors,
    decay,
    contiguous=False,
    attribute_weights=None,
    sigma=None,
    **token_kernel,
):
    """K of two trees ``(nodes as words, parents)`` before normalization."""
    (x, x_parents), (y, y_parents) = s, t

    def similarity(a, b):
        return naive.symbol_similarity(a, b, vectors=vectors, **token_kernel)

    def c(a, b):
        own, other = (naive.items([node], interleaved=False)[0] for node in (x[a], y[b]))
        return naive.item_similarity(
            own, other, similarity=similarity, sigma=sigma, attribute_weights=attribute_weights
        )

    def sequences(children):
        for size in range(1, len(children) + 1):
            for places in itertools.combinations(range(len(children)), size):
                span = places[-1] - places[0] + 1
                if span == size or not contiguous:
                    yield span, [children[place] for place in places]

    def value(a, b):
        total = c(a, b)
        if total == 0:
            return 0.0
        for span, own in sequences(children_of(a, x_parents)):
            for other_span, other in sequences(children_of(b, y_parents)):
                if len(own) == len(other) and all(map(c, own, other)):
                    total += decay ** (span + other_span) * sum(map(value, own, other))
        return total

    return value(0, 0) if x and y else 0.0


def children_of(node, parents):
    return [child for child, parent in enumerate(parents) if parent == node]


def graph_gram(x, y, **parameters):
    """Normalized values of all pairs of trees, 0 where a norm is 0."""
    x_norms = [math.sqrt(graph_value(s, s, **parameters)) for s in x]
    y_norms = [math.sqrt(graph_value(t, t, **parameters)) for t in y]
    return np.array(
        [
            graph_value(s, t, **parameters) / (p * q) if p * q else 0.0
            for s, p in zip(x, x_norms, strict=True)
            for t, q in zip(y, y_norms, strict=True)
        ]
    ).reshape(len(x), len(y))
