"""Probabilities from the scores of a classifier by a fitted sigmoid."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..compiled import compiled

Float64 = NDArray[np.float64]

MAX_STEPS = 100
SMALLEST_STEP = 1e-10  # of a line search
FLAT = 1e-9  # gradient a score at which the optimum is reached


def fit_platt(
    scores: Float64, y: NDArray[np.bool_], weights: Float64 | None = None
) -> tuple[float, float]:
    """`a` and `b` of the probability ``1 / (1 + exp(a * score + b))`` of a True in `y`.

    Cross-entropy against smoothed targets, minimized by Newton's method with a line
    search; `a` is below 0 where higher scores mean True.

    Parameters
    ----------
    scores : float64 array (n,)
        Of candidates that the classifier was not trained on.
    y : bool array (n,)
    weights : float64 array (n,), optional
        Candidates that each stands for; default 1.

    Raises
    ------
    ValueError
        If the lengths differ, or a score is not finite.

    References
    ----------
    Platt 1999; Lin, Lin and Weng 2007.
    """
    if scores.shape != y.shape or scores.ndim != 1:
        raise ValueError(
            f"scores have shape {scores.shape}, but y {y.shape}; give one score a candidate."
        )
    if not np.isfinite(scores).all():
        raise ValueError(f"{(~np.isfinite(scores)).sum()} scores are not finite; all must be.")
    scale = float(np.abs(scores).max(initial=0.0)) or 1.0  # steps are of one size for any scores
    scores, weights = scores / scale, np.ones(len(y)) if weights is None else weights
    n_true, n_false = float(weights[y].sum()), float(weights[~y].sum())
    targets = np.where(y, (n_true + 1) / (n_true + 2), 1 / (n_false + 2))
    a, b = 0.0, math.log((n_false + 1) / (n_true + 1))
    for _ in range(MAX_STEPS):
        p = platt(scores, a, b)
        slope, curve = weights * (targets - p), weights * p * (1 - p)
        slope_a, slope_b = float((scores * slope).sum()), float(slope.sum())
        if max(abs(slope_a), abs(slope_b)) <= FLAT * (n_true + n_false):
            break
        aa, bb = float((scores**2 * curve).sum()) + 1e-12, float(curve.sum()) + 1e-12
        ab = float((scores * curve).sum())
        determinant = aa * bb - ab * ab
        step_a = (ab * slope_b - bb * slope_a) / determinant
        step_b = (ab * slope_a - aa * slope_b) / determinant
        size = _step_size(
            scores, targets, weights, (a, b), (step_a, step_b), slope_a * step_a + slope_b * step_b
        )
        if size < SMALLEST_STEP:
            break
        a, b = a + size * step_a, b + size * step_b
    return a / scale, b


def _step_size(
    scores: Float64,
    targets: Float64,
    weights: Float64,
    start: tuple[float, float],
    step: tuple[float, float],
    descent: float,
) -> float:
    """The first of 1, 1/2, 1/4 … of `step` that lowers the loss enough, by its `descent`."""
    loss, size = _loss(scores, targets, weights, *start), 1.0
    while size >= SMALLEST_STEP:
        a, b = start[0] + size * step[0], start[1] + size * step[1]
        new = _loss(scores, targets, weights, a, b)
        if new < loss + 1e-4 * size * descent:
            break
        size /= 2
    return size


def _loss(scores: Float64, targets: Float64, weights: Float64, a: float, b: float) -> float:
    """Cross-entropy of the probabilities against the targets, nats."""
    z = a * scores + b
    return float((weights * (np.logaddexp(0, z) - (1 - targets) * z)).sum())


@compiled
def platt(scores: Float64, a: float, b: float) -> Float64:
    """Probabilities, float64 (n,), of `scores`, float64 (n,), each on its own."""
    out = np.empty(len(scores))
    for i in range(len(scores)):
        z = a * scores[i] + b
        small = math.exp(-abs(z))
        out[i] = (small if z > 0 else 1.0) / (1.0 + small)
    return out
