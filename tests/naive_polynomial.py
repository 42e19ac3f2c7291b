"""Slow, obvious twins of the polynomial kernel machines: sets, and sums over all subsets."""

import itertools
import math


def scores(support, weights, degree, x):
    """Of each machine: sum over support examples of weight times kernel."""
    kernel = [(1 + len(set(x) & set(y))) ** degree for y in support]
    return [
        math.fsum(k * row[machine] for k, row in zip(kernel, weights, strict=True))
        for machine in range(len(weights[0]))
    ]


def subset_weight(degree, size):
    """c_d(r) by its formula."""
    return sum(
        math.comb(degree, power)
        * sum((-1) ** (size - m) * m**power * math.comb(size, m) for m in range(size + 1))
        for power in range(size, degree + 1)
    )


def item_sets(support, weights, degree, sigma):
    """Weights of every machine of the large sets, by frozenset: all subsets are tried."""
    sizes = range(1, degree + 1)
    every = {
        s for y in support for r in sizes for s in map(frozenset, itertools.combinations(y, r))
    }
    machines = list(zip(*weights, strict=True))
    found = {}
    for s in every:
        owners = [i for i, y in enumerate(support) if s <= set(y)]
        w = [subset_weight(degree, len(s)) * math.fsum(m[i] for i in owners) for m in machines]
        if any(is_large(value, machine, sigma) for value, machine in zip(w, machines, strict=True)):
            found[s] = w
    return found


def is_large(value, machine, sigma):
    n_positive, n_negative = (sum(sign * w > 0 for w in machine) for sign in (1, -1))
    share = (n_positive if value > 0 else n_negative) / max(n_positive + n_negative, 1)
    return value != 0 and abs(value) >= sigma * share
