"""Training of support vector machines whose kernel depends on the number of common items."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..compiled import compiled
from ..hashing.features import Features
from ..structures import Int32, Int64
from .targets import ClassWeight

logger = logging.getLogger(__name__)

Float64 = NDArray[np.float64]
Unsigned = NDArray[np.unsignedinteger[Any]]
TOLERANCE = 1e-3  # of the margin, which is 1
FLATTEST = 1e-12  # curvature that a step goes by at least
TILE = 64  # rows and columns that are mirrored at once, in the cache
MOST_STEPS = 10_000_000  # or 100 a row; what takes more is nearly there


def common_items(x: Features) -> Unsigned:
    """Numbers of items that two rows have in common, (n, n), as small a type as holds them."""
    longest = np.diff(x.offsets).max(initial=0)
    out = np.zeros((len(x), len(x)), np.min_scalar_type(longest))
    _count_common(x.columns, x.offsets, *x.inverted(), out)
    return out


def drawn_rows(y: NDArray[np.integer[Any]], most: int, seed: int) -> tuple[Int64, Float64]:
    """Rows to train on, rising, and how many candidates each of them stands for.

    If there are more than `most`, all candidates with a label stay and some of those with label
    0 are drawn; of labels too, if they are more than half of `most`. A warning says so.
    """
    others, related = np.flatnonzero(y == 0), np.flatnonzero(y)
    if len(y) > most:
        logger.warning("trains on %d of %d candidates; max_training_candidates", most, len(y))
    n_related = min(len(related), max(most // 2, most - len(others)))
    sizes = min(len(others), most - n_related), n_related
    rng, parts = np.random.default_rng(seed), (others, related)
    drawn = [rng.choice(part, n, replace=False) for part, n in zip(parts, sizes, strict=True)]
    rows = np.sort(np.concatenate(drawn))
    worth = [len(part) / max(n, 1) for part, n in zip(parts, sizes, strict=True)]
    return rows, np.where(y[rows] == 0, *worth)


def train_machine(
    common: Unsigned, rows: Int64, kernel: Float64, target: NDArray[np.bool_], caps: Float64
) -> tuple[Float64, float]:
    """Weights y alpha of the training rows and the bias of a machine: a C-SVM.

    Sequential minimal optimization; each step moves the two weights that promise most.

    Parameters
    ----------
    common : unsigned int array (n, n)
        Items in common, from `common_items`.
    rows : int64 array (n_train,)
        The rows to train on.
    kernel : float64 array
        Its value for each number of items in common.
    target : bool array (n_train,)
        If all are the same, all weights are 0 and the bias is the score 1 or -1.
    caps : float64 array (n_train,)
        Largest alpha of each row.

    Returns
    -------
    weights : float64 array (n_train,)
    bias : float

    References
    ----------
    Fan, Chen and Lin 2005 (second order working set selection), as in LIBSVM.
    """
    if target.all() or not target.any():
        return np.zeros(len(rows)), 1.0 if target.all() else -1.0
    y = np.where(target, 1.0, -1.0)
    alphas, slopes = _optimized(common, rows, kernel, y, caps)
    free = (alphas > 0) & (alphas < caps)
    if free.any():
        return y * alphas, float(slopes[free].mean())
    can_rise = np.where(target, alphas < caps, alphas > 0)
    can_fall = np.where(target, alphas > 0, alphas < caps)
    return y * alphas, float(slopes[can_rise].max() + slopes[can_fall].min()) / 2


def train_machines(
    common: Unsigned,
    rows: Int64,
    kernel: Float64,
    targets: Sequence[NDArray[np.bool_]],
    caps: Sequence[Float64],
) -> tuple[Float64, Float64]:
    """Weights, float64 (n_train, n_machines), and biases of a machine for each of `targets`."""
    from joblib import Parallel, delayed

    pairs = zip(targets, caps, strict=True)
    found = Parallel()(delayed(train_machine)(common, rows, kernel, *pair) for pair in pairs)
    weights, biases = zip(*found, strict=True)
    return np.stack(weights, axis=1), np.array(biases)


def largest_alphas(
    target: NDArray[np.bool_], y: NDArray[np.integer[Any]], cost: float, weight: ClassWeight
) -> Float64:
    """Caps, float64 (n,), of candidates with the labels `y`: `cost` times their class weight.

    "balanced" gives both sides of `target` the same sum.
    """
    if weight == "balanced":
        return np.asarray(cost / 2 / np.where(target, target.mean(), 1 - target.mean()))
    factors = weight if isinstance(weight, Mapping) else {}
    return cost * np.array([factors.get(label, 1.0) for label in y.tolist()])


@compiled
def machine_scores(
    common: Unsigned, rows: Int64, trained: Int64, kernel: Float64, weights: Float64
) -> Float64:
    """Scores without bias, (n, n_machines), of `rows` by machines with `weights` of `trained`."""
    out = np.zeros((len(rows), weights.shape[1]))
    for i in range(len(rows)):
        for k in range(len(trained)):
            value = kernel[common[rows[i], trained[k]]]
            for machine in range(weights.shape[1]):
                out[i, machine] += value * weights[k, machine]
    return out


@compiled
def _count_common(
    columns: Int32, offsets: Int64, owners: Int32, starts: Int64, out: Unsigned
) -> None:
    """Each row looks at itself and those behind it in the lists; the others are mirrored."""
    firsts, n = starts.copy(), len(out)
    for row in range(n):
        for column in columns[offsets[row] : offsets[row + 1]]:
            for k in range(firsts[column], starts[column + 1]):
                out[row, np.uint64(owners[k])] += 1
            firsts[column] += 1
    for top in range(0, n, TILE):
        for left in range(top, n, TILE):
            for i in range(top, min(top + TILE, n)):
                for j in range(max(left, i + 1), min(left + TILE, n)):
                    out[j, i] = out[i, j]


@compiled
def _optimized(
    common: Unsigned, rows: Int64, kernel: Float64, y: Float64, caps: Float64
) -> tuple[Float64, Float64]:
    """Alphas, and y minus the score without bias: equal for all rows that are free to move.

    A step along +y of one row i, -y of another j raises the score of i and lowers that of j.
    """
    n = len(rows)
    alphas, slopes = np.zeros(n), y.copy()
    diagonal = np.array([kernel[common[row, row]] for row in rows])
    for _ in range(max(MOST_STEPS, 100 * n)):
        up, highest, lowest = -1, -np.inf, np.inf
        for k in range(n):
            if slopes[k] > highest and (alphas[k] < caps[k] if y[k] > 0 else alphas[k] > 0):
                up, highest = k, slopes[k]
        if up < 0:
            return alphas, slopes
        down, best = -1, 0.0
        for k in range(n):
            if alphas[k] > 0 if y[k] > 0 else alphas[k] < caps[k]:
                lowest = min(lowest, slopes[k])
                gap = highest - slopes[k]
                if gap > 0:
                    curve = diagonal[up] + diagonal[k] - 2 * kernel[common[rows[up], rows[k]]]
                    gain = gap * gap / max(curve, FLATTEST)
                    if gain > best:
                        down, best = k, gain
        if down < 0 or highest - lowest < TOLERANCE:
            return alphas, slopes
        between = kernel[common[rows[up], rows[down]]]
        curve = max(diagonal[up] + diagonal[down] - 2 * between, FLATTEST)
        step = (highest - slopes[down]) / curve
        step = min(step, caps[up] - alphas[up] if y[up] > 0 else alphas[up])
        step = min(step, alphas[down] if y[down] > 0 else caps[down] - alphas[down])
        alphas[up] += y[up] * step
        alphas[down] -= y[down] * step
        for k in range(n):
            first, second = kernel[common[rows[up], rows[k]]], kernel[common[rows[down], rows[k]]]
            slopes[k] -= step * (first - second)
    return alphas, slopes
