"""Item sets that weigh much among the support examples of polynomial kernel machines."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..compiled import compiled
from ..hashing.features import Features
from ..structures import Float32, Int32, Int64
from .support_examples import SupportExamples

Float64 = NDArray[np.float64]
SUBSET_WEIGHTS = {1: (1, 1), 2: (1, 3, 2), 3: (1, 7, 12, 6)}  # c_d(r), r = 0..d, of each degree d


def mine(support: SupportExamples, sigma: float, max_sets: int) -> tuple[Int32, Int64, Float32]:
    """The trie of the sets s with a large w(s) = c_d(|s|) · sum of y alpha over examples with s.

    Large is, for a machine with p positive and n negative support examples, a weight of
    ``sigma * p / (p + n)`` or more, or of ``-sigma * n / (p + n)`` or less, but not 0.
    A set that is large for one machine is kept with its weights for all.

    Parameters
    ----------
    support : SupportExamples
    sigma : float
    max_sets : int
        Nodes that the trie may have.

    Returns
    -------
    columns : int32 array (n_nodes,)
    starts : int64 array (n_nodes + 1,)
    weights : float32 array (n_nodes, n_machines)
        As in `ItemSets`; the items of a set stand from the rarest to the most frequent.

    Raises
    ------
    ValueError
        If the trie would have more nodes, or none.

    References
    ----------
    Kudo and Matsumoto 2003, section 4.2.2; Pei et al. 2001 (PrefixSpan).
    """
    rows, weights, degree = support.rows, support.weights, support.degree
    n_signs = np.stack([(weights > 0).sum(axis=0), (weights < 0).sum(axis=0)])
    least = sigma * n_signs / np.maximum(n_signs.sum(axis=0), 1)
    used, items = _rarest_first(rows)
    subset_weights = np.array(SUBSET_WEIGHTS[degree], np.float64)
    sizes, nodes, starts, table = _mine(
        items, rows.offsets, weights, subset_weights, least, len(used), max_sets
    )
    if sizes.sum() > max_sets:
        raise ValueError(
            f"more than max_sets = {max_sets} item sets are needed at sigma = {sigma}; raise "
            'sigma or max_sets, lower the degree, or set method = "index", which is exact.'
        )
    if not sizes.any():
        raise ValueError(
            f"no item set has a weight that reaches sigma = {sigma}; lower sigma, or set method = "
            '"index", which needs none.'
        )
    ends = np.cumsum(sizes)
    levels = [(nodes[k, :n], ends[k] + starts[k, :n], table[k, :n]) for k, n in enumerate(sizes)]
    chosen, children, kept = map(np.concatenate, zip(*levels, strict=True))
    return used[chosen], np.append(children, ends[-1]), kept


def _rarest_first(rows: Features) -> tuple[Int32, Int32]:
    """The columns in use, the rarest first, and each row as rising numbers of them.

    A set then hangs in the trie below its rarest item, where few candidates look.
    """
    used, inverse, counts = np.unique(rows.columns, return_inverse=True, return_counts=True)
    order = np.argsort(counts, kind="stable")
    ranks = np.empty(len(used), np.int32)
    ranks[order] = np.arange(len(used))
    items = ranks[inverse]
    of_row = np.repeat(np.arange(len(rows)), np.diff(rows.offsets))
    return used[order], items[np.lexsort((items, of_row))]


@compiled
def _mine(
    items: Int32,
    offsets: Int64,
    weights: Float64,
    subset_weights: Float64,
    least: Float64,
    n_items: int,
    max_sets: int,
) -> tuple[Int64, Int32, Int64, Float32]:
    """Sizes of the levels of the trie, and items, first children and weights level by level.

    The sizes add up to more than `max_sets` where there is no room.
    """
    degree, (n, n_machines) = len(subset_weights) - 1, weights.shape
    size = max(len(items), n)
    rows, places = np.empty((degree, size), np.int64), np.empty((degree, size), np.int64)
    for row in range(n):
        rows[0, row], places[0, row] = row, offsets[row] - 1
    sums = np.zeros((degree, n_items, n_machines, 2))
    counts, touched = np.zeros((degree, n_items), np.int64), np.empty((degree, n_items), np.int64)
    data, scratch = (items, offsets, weights), (rows, places, sums, counts, touched)
    sizes = np.zeros(degree + 1, np.int64)
    nodes = np.empty((degree, max_sets), np.int32)  # memory is taken only where it is written
    starts = np.empty((degree, max_sets), np.int64)
    table = np.empty((degree, max_sets, n_machines), np.float32)
    cursors, n_touched = np.zeros(degree, np.int64), np.zeros(degree, np.int64)
    level, n_touched[0] = 0, _project(0, 0, n, 0, data, scratch)
    while level >= 0:  # depth first; a stack, as numba cannot load recursion from its cache
        if cursors[level] == n_touched[level]:
            level -= 1
            node = sizes[level] - 1
            if level >= 0 and starts[level, node] == sizes[level + 1]:
                sizes[level] -= not table[level, node].any()  # it led to nothing
            continue
        cursor, size = cursors[level], level + 1
        cursors[level] += 1
        item = touched[level, cursor]
        positive, negative = sums[level, item].T
        weight = subset_weights[size] * (positive + negative)
        is_large = _any_large(weight, weight, least)
        most = subset_weights[size + 1 :].max() if size < degree else 0.0
        leads_on = _any_large(most * positive, most * negative, least)
        if not (is_large or leads_on):
            continue
        if sizes.sum() == max_sets:
            sizes[level] += 1
            break
        node = sizes[level]
        sizes[level] += 1
        nodes[level, node], starts[level, node] = item, sizes[size]
        table[level, node] = weight if is_large else 0 * weight
        if leads_on:
            begin = counts[level, touched[level, cursor - 1]] if cursor else 0
            end = counts[level, item]
            n_touched[size] = _project(size, begin, end, n_touched[size], data, scratch)
            level, cursors[size] = size, 0
    return sizes[:-1], nodes, starts, table


@compiled
def _project(level: int, begin: int, end: int, n_before: int, data: Any, scratch: Any) -> int:
    """Sum up weights by each item that extends the set of some support examples; count those.

    The examples are ``rows[level, begin:end]``, the places of the last item of the set in
    them ``places[level, begin:end]``. They then stand in the next level once for each item,
    those of the item before up to ``counts[level, item]``. `n_before` are the items of
    this level that the call before touched.
    """
    items, offsets, weights = data
    rows, places, sums, counts, touched = scratch
    for item in touched[level, :n_before]:
        sums[level, item], counts[level, item] = 0, 0
    n_touched = 0
    for k in range(begin, end):
        row = rows[level, k]
        for place in range(places[level, k] + 1, offsets[row + 1]):
            item = items[place]
            if counts[level, item] == 0:
                touched[level, n_touched] = item
                n_touched += 1
            counts[level, item] += 1
            for machine, weight in enumerate(weights[row]):
                sums[level, item, machine, int(weight < 0)] += weight
    touched[level, :n_touched] = np.sort(touched[level, :n_touched])
    filled = 0
    for item in touched[level, :n_touched]:
        count, counts[level, item] = counts[level, item], filled
        filled += count
    if level + 1 < len(rows):
        for k in range(begin, end):
            row = rows[level, k]
            for place in range(places[level, k] + 1, offsets[row + 1]):
                slot = counts[level, items[place]]
                rows[level + 1, slot], places[level + 1, slot] = row, place
                counts[level, items[place]] += 1
    return n_touched


@compiled
def _any_large(positive: Float64, negative: Float64, least: Float64) -> bool:
    """Whether a machine has a positive or a negative weight that is not too small to keep."""
    for machine in range(len(positive)):
        if positive[machine] > 0 and positive[machine] >= least[0, machine]:
            return True
        if negative[machine] < 0 and negative[machine] <= -least[1, machine]:
            return True
    return False
