"""Slow, obvious twins of the ensembles: trees and linear models read in plain Python."""

import math


def leaf(tree, code):
    """The node of one scikit-learn tree in which a code, a list of bits, ends."""
    node = 0
    while tree.children_left[node] != -1:
        goes_left = code[tree.feature[node]] <= tree.threshold[node]
        node = tree.children_left[node] if goes_left else tree.children_right[node]
    return node


def tree_row(member, code):
    """Label distribution of the leaf of a scikit-learn tree."""
    counts = member.tree_.value[leaf(member.tree_, code)][0]
    return [count / sum(counts) for count in counts]


def linear_row(member, code):
    """Softmax of the scores of a linear scikit-learn model."""
    scores = [
        sum(w * bit for w, bit in zip(weights, code, strict=True)) + intercept
        for weights, intercept in zip(member.coef_, member.intercept_, strict=True)
    ]
    scores = [0.0, *scores] if len(member.classes_) == 2 else scores
    odds = [math.exp(score - max(scores)) for score in scores]
    return [value / sum(odds) for value in odds]


def probabilities(ensemble, codes, labels, n_labels):
    """Mean of the members of a scikit-learn ensemble; `labels[c]` is the label of class c."""
    members, rows = ensemble.estimators_, []
    for code in codes:
        row = [0.0] * n_labels
        for member, subspace in zip(members, ensemble.estimators_features_, strict=True):
            own = tree_row if hasattr(member, "tree_") else linear_row
            shares = own(member, [code[i] for i in subspace])
            for c, share in zip(member.classes_, shares, strict=True):
                row[labels[int(c)]] += share / len(members)
        rows.append(row)
    return rows


def total(y, weights):
    """How often each label is among `y`."""
    return [sum(label == k for label in y) for k in range(len(weights))]


def purity(sides, weights):
    """Weighted candidates that a random one of their side would label right."""
    found = 0.0
    for y in sides:
        heavy = [count * weight for count, weight in zip(total(y, weights), weights, strict=True)]
        found += sum(value**2 for value in heavy) / sum(heavy)
    return found


def splits(rows, y, min_leaf):
    """The labels on both sides of every bit by which the candidates can be split."""
    found = {}
    for bit in range(len(rows[0])):
        sides = [[k for row, k in zip(rows, y, strict=True) if row[bit] == b] for b in (0, 1)]
        if min(map(len, sides)) >= min_leaf:
            found[bit] = sides
    return found


def grown(nodes, counts, rows, y, weights, *, min_leaf, node=0):
    """How much purer the best split would have been than each that a tree has.

    Raises
    ------
    AssertionError
        If a split is impossible, a leaf could be split, or tells other labels than it has.
    """
    bit, target = nodes[node]
    possible = splits(rows, y, min_leaf) if len(set(y)) > 1 else {}
    if bit < 0:
        assert not possible
        n_labels = len(weights)
        found = counts[target - n_labels] if target >= n_labels else None
        assert (total(y, weights) == found) if len(set(y)) > 1 else (set(y) == {target})
        return []
    missed = [
        max(purity(sides, weights) for sides in possible.values()) - purity(possible[bit], weights)
    ]
    for side in (0, 1):
        own = [(row, k) for row, k in zip(rows, y, strict=True) if row[bit] == side]
        below = [list(part) for part in zip(*own, strict=True)]
        missed += grown(nodes, counts, *below, weights, min_leaf=min_leaf, node=target + side)
    return missed
