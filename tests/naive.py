"""Slow, obvious twins of the package: loops over the definitions, no recursions, no numba."""

import itertools
import math

import numpy as np
from sklearn.svm import SVC


def thresholded_cosine(a, b, threshold):
    cosine = min(1.0, sum(float(p) * float(q) for p, q in zip(a, b, strict=True)))
    if threshold == 1:
        return 0.0
    return max(0.0, (cosine - threshold) / (1 - threshold)) * cosine


def edge_class(symbol, edges):
    """What counts of a symbol that is an arc with a direction; other symbols as they are."""
    if edges == "label" or symbol[:4] != "dep=" or symbol[-1] not in "<>":
        return symbol
    return {"direction": symbol[-1], "any": "an arc"}[edges]


def symbol_similarity(
    a, b, *, vectors, threshold=0.4, tokens="cosine", bandwidth=1.0, edges="label"
):
    """1 for equal symbols, else the token kernel, 0 where one has no vector."""
    classes = [edge_class(symbol, edges) for symbol in (a, b)]
    if classes[0] == classes[1]:
        return 1.0
    if classes != [a, b] or not any(vectors.get(a, ())) or not any(vectors.get(b, ())):
        return 0.0
    pairs = [(float(p), float(q)) for p, q in zip(vectors[a], vectors[b], strict=True)]
    return {
        "cosine": lambda: thresholded_cosine(vectors[a], vectors[b], threshold),
        "equality": lambda: 0.0,
        "gaussian": lambda: math.exp(-sum((p - q) ** 2 for p, q in pairs) / bandwidth),
        "sigmoid": lambda: (1 + math.tanh(sum(p * q for p, q in pairs))) / 2,
    }[tokens]()


def items(path, *, interleaved):
    """Items (edge, attributes) of a path; an interleaved item lacks one of the two."""
    if not interleaved:
        return [(edge, tuple(attributes)) for edge, *attributes in path]
    both = [[(edge, None), (None, tuple(attributes))] for edge, *attributes in path]
    return list(itertools.chain.from_iterable(both))[1:]


def item_similarity(x, y, *, similarity, sigma, attribute_weights):
    (x_edge, x_attributes), (y_edge, y_attributes) = x, y
    if (x_edge is None) != (y_edge is None) or (x_attributes is None) != (y_attributes is None):
        return 0.0
    value = 1.0
    if x_edge is not None:
        for edge in (x_edge, y_edge):
            value *= (sigma or {}).get(edge.removeprefix("dep=").rstrip("<>"), 1.0)
        value *= similarity(x_edge, y_edge)
    if x_attributes is not None:
        weights = attribute_weights or [1.0] * len(x_attributes)
        similarities = map(similarity, x_attributes, y_attributes)
        value *= sum(map(math.prod, zip(weights, similarities, strict=True))) / sum(weights)
    return value


def subsequence_value(
    s,
    t,
    *,
    vectors,
    decay,
    max_length,
    length_weights=None,
    attribute_weights=None,
    sigma=None,
    symbol_weights=None,
    interleaved=False,
    **token_kernel,
):
    """K(s, t) before normalization, by enumeration of all pairs of index tuples."""

    def similarity(a, b):
        weights = [(symbol_weights or {}).get(symbol, 1.0) for symbol in (a, b)]
        return math.prod(weights) * symbol_similarity(a, b, vectors=vectors, **token_kernel)

    c = [
        [
            item_similarity(
                x, y, similarity=similarity, sigma=sigma, attribute_weights=attribute_weights
            )
            for y in items(t, interleaved=interleaved)
        ]
        for x in items(s, interleaved=interleaved)
    ]
    n, m = len(c), len(c[0]) if c else 0
    total = 0.0
    for length, weight in enumerate(length_weights or [1.0] * max_length, start=1):
        for i in itertools.combinations(range(n), length):
            for j in itertools.combinations(range(m), length):
                span = (i[-1] - i[0] + 1) + (j[-1] - j[0] + 1)
                matches = math.prod(c[a][b] for a, b in zip(i, j, strict=True))
                total += weight * decay**span * matches
    return total


def subsequence_gram(x, y, **parameters):
    """Normalized values of all pairs of paths, 0 where a norm is 0."""
    x_norms = [math.sqrt(subsequence_value(s, s, **parameters)) for s in x]
    y_norms = [math.sqrt(subsequence_value(t, t, **parameters)) for t in y]
    return np.array(
        [
            subsequence_value(s, t, **parameters) / (p * q) if p * q else 0.0
            for s, p in zip(x, x_norms, strict=True)
            for t, q in zip(y, y_norms, strict=True)
        ]
    ).reshape(len(x), len(y))


def combined_value(values, own, other, *, weights, operation):
    """Sum or product of normalized values, 0 where a norm is 0, normalized again.

    `own` and `other` tell for each kernel whether its norm is above 0 on that side.
    """

    def combined(values):
        terms = [weight * value for weight, value in zip(weights, values, strict=True)]
        if operation == "sum":
            return sum(terms)
        n = len(terms)
        choices = [c for size in range(1, n + 1) for c in itertools.combinations(terms, size)]
        return sum(map(math.prod, choices))

    norms = combined(own) * combined(other)
    return combined(values) / math.sqrt(norms) if norms else 0.0


def matches(
    s,
    t,
    *,
    vectors,
    decay=None,
    max_length=None,
    length_weights=None,
    attribute_weights=None,
    sigma=None,
    symbol_weights=None,
    interleaved=False,
    **token_kernel,
):
    """Similar items as (node in s, node in t, similarity, part), in the order of the paths."""

    def similarity(a, b):
        weights = [(symbol_weights or {}).get(symbol, 1.0) for symbol in (a, b)]
        return math.prod(weights) * symbol_similarity(a, b, vectors=vectors, **token_kernel)

    def place(k):
        return (k + 1) // 2 if interleaved else k

    found = []
    for a, x in enumerate(items(s, interleaved=interleaved)):
        for b, y in enumerate(items(t, interleaved=interleaved)):
            value = item_similarity(
                x, y, similarity=similarity, sigma=sigma, attribute_weights=attribute_weights
            )
            part = "edge" if x[1] is None else "node" if x[0] is None else "both"
            if value > 0:
                found.append((place(a), place(b), value, part))
    return sorted(found, key=lambda match: (*match[:2], match[3]))


def nearest_bit(row, first, second):
    """RkNN: 1 iff the nearest of `second` is nearer than the nearest of `first`."""
    return int(max(row[k] for k in first) < max(row[k] for k in second))


def margin_decision(gram, first, second, rows):
    """RMM: decision values of a C-SVM on the members' gram for `rows` of kernel values."""
    members = [*first, *second]
    labels = [0] * len(first) + [1] * len(second)
    gram, rows = gram[np.ix_(members, members)].astype(float), rows[:, members].astype(float)
    return SVC(kernel="precomputed", C=1.0, tol=1e-9).fit(gram, labels).decision_function(rows)


def kulis_weights(gram, first, second):
    """Kulis: K_S^(-1/2) (1_S1 / alpha - 1 / (2 alpha)), the root being a pseudo-inverse."""
    members = [*first, *second]
    values, vectors = np.linalg.eigh(gram[np.ix_(members, members)].astype(float))
    inverse_root = np.zeros((len(members), len(members)))
    for value, vector in zip(values, vectors.T, strict=True):
        if value > 1e-6 * max(values):
            inverse_root += np.outer(vector, vector) / math.sqrt(value)
    in_first = np.array([1.0] * len(first) + [0.0] * len(second))
    return inverse_root @ (in_first / len(first) - 1.0 / len(members))


def pack(code):
    """64-bit words of one code: bit l is bit l % 64 of word l // 64."""
    words = [0] * math.ceil(len(code) / 64)
    for position, bit in enumerate(code):
        words[position // 64] += int(bit) * 2 ** (position % 64)
    return words


def hamming(x, y):
    return [[sum(p != q for p, q in zip(a, b, strict=True)) for b in y] for a in x]


def same_bits(a, b):
    """Equal in type, shape and every bit: tells -0.0 from 0.0, which == does not."""
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def platt_probability(score, a, b):
    z = a * score + b
    return math.exp(-z) / (1 + math.exp(-z)) if z > 0 else 1 / (1 + math.exp(z))


def smoothed_cross_entropy(points, a, b):
    """Loss of Platt's sigmoid on (score, truth) points."""
    n_true = sum(true for _, true in points)
    n_false, loss = len(points) - n_true, 0.0
    for score, true in points:
        target = (n_true + 1) / (n_true + 2) if true else 1 / (n_false + 2)
        z = a * score + b
        softplus = max(z, 0) + math.log1p(math.exp(-abs(z)))  # -log p; -log(1 - p) is that - z
        loss += target * softplus + (1 - target) * (softplus - z)
    return loss
