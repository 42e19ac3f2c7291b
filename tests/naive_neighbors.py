"""Nearest neighbours as one would explain them."""

from naive import hamming


def nearest(x, y, k):
    """Rows of the `k` codes of y with the fewest differing bits, the lower of equally near ones."""
    return [sorted(range(len(y)), key=row.__getitem__)[:k] for row in hamming(x, y)]


def neighborhood(code, stored, tables, most, least):
    """Rows of the nearest `most` codes that agree in all bits of a table, or of any codes."""
    shared = [
        row
        for row, other in enumerate(stored)
        if any(all(code[bit] == other[bit] for bit in table) for table in tables)
    ]
    rows = shared if len(shared) >= least else range(len(stored))
    distances = dict(zip(rows, hamming([code], [stored[row] for row in rows])[0], strict=True))
    return sorted(distances, key=distances.get)[:most]


def grouped(things, y):
    """Labels of the training candidates that are each distinct thing, in order."""
    groups = {}
    for thing, label in zip(map(tuple, things), y, strict=True):
        groups.setdefault(thing, []).append(int(label))
    return groups


def shares(groups, weights, prior, k, smoothing):
    """Probabilities by the labels of the nearest groups of equal candidates."""
    votes = [smoothing * share for share in prior]
    for labels, weight in zip(groups, weights, strict=True):
        taken = min(k, len(labels))
        k -= taken
        for label in labels:
            votes[label] += weight * taken / len(labels)
    return [vote / sum(votes) for vote in votes]


def prior(y, n_labels):
    return [list(y).count(label) / len(y) for label in range(n_labels)]
