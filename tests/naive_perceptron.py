"""Perceptrons with a dictionary of weights for each state, all of which are averaged."""

from collections import defaultdict

import numpy as np


def output(weights, items):
    return sum(weights[item] for item in items)


def states(weights, rows, signs):
    """Weights of one class after each candidate; items are sets, "" is the constant."""
    for items, sign in zip(rows, signs, strict=True):
        items = [*items, ""]
        if sign * output(weights, items) <= 0:
            weights = defaultdict(float, weights)
            for item in items:
                weights[item] += sign
        yield weights


def mean(many):
    names = {name for weights in many for name in weights}
    return defaultdict(float, {n: sum(w[n] for w in many) / len(many) for n in names})


def trained(rows, signs, *, most, averaged, start=()):
    """All passes, also those that change nothing; the mean over the last ones."""
    weights, seen = defaultdict(float, start), []
    for number in range(most):
        after = list(states(weights, rows, signs))
        weights = after[-1]
        seen += after if number >= most - averaged else []
    return mean(seen) if seen else weights


def top_down(rows, labels_of_class, y, tree, **passes):
    """Weights of each class; `tree` has the parent of each, -1: none."""
    found = {}

    def learn(k):
        if k not in found:
            start = learn(tree[k]) if tree[k] >= 0 else {}
            signs = [1 if label in labels_of_class[k] else -1 for label in y]
            found[k] = trained(rows, signs, start=start, **passes)
        return found[k]

    return [learn(k) for k in range(len(tree))]


def dense(weights, width):
    return np.array([*(weights[i] for i in range(width)), weights[""]])
