"""Linear classes that learn from errors: steps over candidates, averages, replicates."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..compiled import compiled
from ..hashing.features import Features
from ..structures import Float32, Int32, Int64
from .hierarchy import Tree, top_down

Float64 = NDArray[np.float64]
Int8 = NDArray[np.int8]

MAX_CELLS = 2**27  # of the weights of a file that is not damaged
MAX_WEIGHT, MAX_STEPS = 1e30, 2**62  # likewise


@dataclass(slots=True, eq=False)
class Averaged:
    """Weights of all classes, and their mean over all states that they had.

    Parameters
    ----------
    current : float32 array (n_classes, width + 1), C order
        The last state; the last column is the constant.
    drift : float64 array (n_classes, width + 1), C order
        All steps, each times the number of states before it.
    n_states : int

    Attributes
    ----------
    mean : float32 array (n_classes, width + 1)
        ``current - drift / n_states``.
    """

    current: Float32
    drift: Float64
    n_states: int
    mean: Float32 = field(init=False)

    def __post_init__(self) -> None:
        self.mean = _mean(self.current, self.drift, self.n_states)

    @classmethod
    def spread(cls, width: int, items: Int32, current: Any, drift: Any, n_states: Any) -> Averaged:
        """These columns of `current` and `drift` among zeros, and the number of states."""
        shape = len(current), width + 1
        whole = np.zeros(shape, np.float32), np.zeros(shape)
        whole[0][:, items], whole[1][:, items] = current, drift
        return cls(*whole, int(n_states))

    def learn(self, x: Features, signs: Int8) -> int:
        """Go over the candidates once, change the weights at errors, and count these.

        Parameters
        ----------
        x : Features of n candidates
        signs : int8 array (n_classes, n)
            1 where a candidate belongs to a class, else -1.
        """
        order, n_errors = np.arange(len(x)), 0
        for current, drift, targets in zip(self.current, self.drift, signs, strict=True):
            n_errors += _learn(x.columns, x.offsets, order, targets, current, drift, self.n_states)
        self.n_states += len(x)
        self.mean = _mean(self.current, self.drift, self.n_states)
        return n_errors

    def state(self) -> dict[str, NDArray[Any]]:
        """The columns that are not zero, and the rest, as arrays."""
        items = np.flatnonzero(self.current.any(axis=0) | self.drift.any(axis=0))
        return {
            "items": items.astype(np.int32),
            "current": self.current[:, items],
            "drift": self.drift[:, items],
            "n_states": np.array(self.n_states, np.int64),
        }


def are_weights(
    width: int, items: Int32, current: Float32, drift: Float64, n_states: NDArray[np.int64]
) -> bool:
    """Whether `Averaged.state` may have given these for items below `width`."""
    n_classes, n = len(current), int(n_states)
    return bool(
        0 < n_classes * (width + 1) <= MAX_CELLS
        and (items[1:] > items[:-1]).all()
        and ((items >= 0) & (items <= width)).all()
        and current.shape == drift.shape == (n_classes, len(items))
        and 0 <= n < MAX_STEPS
        and (n > 0 or not drift.any())
        and (np.abs(current) < MAX_WEIGHT).all()
        and (np.abs(drift) < MAX_WEIGHT * max(n, 1)).all()
    )


class Passes(NamedTuple):
    """How often the candidates are gone over, at most, and how many of the last count."""

    most: int
    averaged: int


def bagged(
    x: Features, signs: Int8, tree: Tree, passes: Passes, n_replicates: int, seed: int
) -> tuple[Float32, Float64, NDArray[np.bool_]]:
    """Weights of all classes from bootstrap replicates, and their outputs for what was left out.

    Each replicate is trained from the top of the tree down, by itself.

    Parameters
    ----------
    x : Features of n candidates
    signs : int8 array (n_classes, n)
        1 where a candidate belongs to a class, else -1.
    tree : Tree
        Where it has a parent, a class starts from the averaged weights of that.

    Returns
    -------
    weights : float32 array (n_classes, width + 1)
        Mean over the replicates; the last column is the constant.
    left_out : float64 array (n, n_classes)
        Mean output of the replicates that did not draw a candidate; 0 if all did.
    any_left_out : bool array (n,)
    """
    total = np.zeros((len(tree), x.width + 1))
    sums, counts = np.zeros((len(x), len(tree))), np.zeros(len(x))
    for replicate in range(n_replicates):
        drawn = np.random.default_rng((seed, replicate)).integers(len(x), size=len(x))
        weights = np.zeros(total.shape, np.float32)
        for k in top_down(tree):
            start = weights[tree[k]] if tree[k] >= 0 else weights[k]
            weights[k] = _trained(x, signs[k], start.copy(), drawn, passes)
        rest = np.ones(len(x), bool)
        rest[drawn] = False
        total += weights
        sums[rest] += outputs(x, weights)[rest]
        counts += rest
    weights = (total / n_replicates).astype(np.float32)
    return weights, sums / np.maximum(counts, 1)[:, None], counts > 0


def _trained(x: Features, signs: Int8, current: Float32, order: Int64, passes: Passes) -> Float32:
    """Averaged weights of one class, float32 (width + 1,), from the state `current` on."""
    drift = np.zeros(len(current))
    for number in range(passes.averaged - passes.most, passes.averaged):
        n_before = number * len(order)
        if not _learn(x.columns, x.offsets, order, signs, current, drift, n_before):
            break  # nor would it change in another pass
    return _mean(current, drift, passes.averaged * len(order))


def _mean(current: Float32, drift: Float64, n_states: int) -> Float32:
    return (current - drift / max(n_states, 1)).astype(np.float32)


def outputs(x: Features, weights: Float32) -> Float64:
    """Sums of the weights of the items of each candidate, float64 (n, n_classes)."""
    return _outputs(x.columns, x.offsets, weights)


@compiled
def _learn(
    columns: Int32,
    offsets: Int64,
    order: Int64,
    signs: Int8,
    current: Float32,
    drift: Float64,
    n_before: int,
) -> int:
    """Go over the rows in `order`; only states from the number 0 on will be averaged."""
    constant, n_errors = len(current) - 1, 0
    for i in range(len(order)):
        row = order[i]
        items, sign = columns[offsets[row] : offsets[row + 1]], int(signs[row])
        if sign * _output(items, current) > 0:
            continue
        n_errors += 1
        age = max(n_before + i, 0) * sign
        current[constant] += sign
        drift[constant] += age
        for column in items:
            current[np.uint64(column)] += sign
            drift[np.uint64(column)] += age
    return n_errors


@compiled
def _outputs(columns: Int32, offsets: Int64, weights: Float32) -> Float64:
    out = np.empty((len(offsets) - 1, len(weights)), np.float64)
    for k in range(len(weights)):  # the weights of one class at a time stay in the cache
        for i in range(len(out)):
            out[i, k] = _output(columns[offsets[i] : offsets[i + 1]], weights[k])
    return out


@compiled
def _output(items: Int32, weights: Float32) -> float:
    """Sum of the weights of the items and the constant."""
    total = np.float64(weights[len(weights) - 1])
    for item in items:
        total += weights[np.uint64(item)]
    return total
