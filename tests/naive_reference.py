"""Slow, obvious twins of the choice of references: everything refitted for every choice."""

from copy import copy

import numpy as np

from spacy_klsh.views import concat_views, distinct, take


def leave_one_out(bits, y, penalty):
    """R² of as many ridge regressions as there are labelled candidates."""
    bits, y = bits[y >= 0], y[y >= 0]
    x = (2.0 * bits - 1) / np.sqrt(bits.shape[1])
    x -= x.mean(axis=0)
    targets = np.stack([y == label for label in np.unique(y)], axis=1).astype(float)
    targets -= targets.mean(axis=0)
    errors = []
    for i in range(len(y)):
        others = np.arange(len(y)) != i
        gram = x[others].T @ x[others] + penalty * np.eye(x.shape[1])
        weights = np.linalg.solve(gram, x[others].T @ targets[others])
        errors.append(targets[i] - x[i] @ weights)
    return 1 - np.square(errors).sum() / np.square(targets).sum()


def with_reference(hashing, j, one):
    """A new hashing, fitted to a reference set in which `one` stands in place `j`."""
    old = hashing.reference_
    changed = concat_views([take(old, slice(j)), one, take(old, slice(j + 1, None))])
    return copy(hashing).fit_reference(changed)


def greedy_step(hashing, views, y, objective, step, rng, n_candidates, n_samples):
    """The choices of a step as rows, their objectives, and that of the reference set as it is."""
    used = {name: views[name] for name in hashing.kernel.views}
    first, places = distinct(used)
    first = first[hashing.comparable(used)[first]]
    rows = np.sort(rng.permutation(len(y))[:n_samples])
    drawn = first[rng.permutation(len(first))[:n_candidates]]
    taken = set(places[hashing.reference_rows_].tolist())
    choices = [int(row) for row in drawn if int(places[row]) not in taken]
    samples = take(used, rows)
    j = step % len(hashing.reference_rows_)
    values = []
    for row in choices:
        other = with_reference(hashing, j, take(used, [row]))
        values.append(objective(other.transform(samples).bits(), y[rows]))
    present = objective(hashing.transform(samples).bits(), y[rows])
    return choices, np.array(values), present
