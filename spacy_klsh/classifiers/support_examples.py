"""Scores of polynomial kernel machines from their support examples: PKB and PKI."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..compiled import compiled
from ..hashing.features import Features
from ..structures import Int32, Int64

Float64 = NDArray[np.float64]
KINDS = {"columns": "int32 1d", "offsets": "int64 1d", "weights": "float64 2d"}


@dataclass(frozen=True, slots=True, eq=False)
class SupportExamples:
    """Machines that score items X by the sum over support examples Y of w (1 + |X ∩ Y|)^degree.

    Parameters
    ----------
    rows : Features
        Items of the support examples of all machines.
    weights : float64 array (n_support, n_machines), C order
        y alpha: above 0 for a positive example of a machine, below for a negative one.
    degree : int

    References
    ----------
    Kudo and Matsumoto 2003, section 4 (PKB).
    """

    rows: Features
    weights: Float64
    degree: int

    def scores(self, x: Features) -> Float64:
        """Scores, float64 (n, n_machines), by comparing with each support example."""
        rows, weights = self.rows, self.weights
        return _by_merging(x.columns, x.offsets, rows.columns, rows.offsets, weights, self.degree)

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that `scores` needs but the degree, as arrays."""
        rows = self.rows
        return dict(columns=rows.columns, offsets=rows.offsets, weights=self.weights)

    @classmethod
    def restore(cls, state: Mapping[str, NDArray[Any]], width: int, degree: int) -> SupportExamples:
        """Support examples over `width` columns from the arrays of `state`.

        Raises
        ------
        ValueError
            If an array is missing or added, or they do not fit each other.
        """
        found = {name: f"{array.dtype} {array.ndim}d" for name, array in state.items()}
        if found != KINDS:
            raise ValueError(f"the support examples are {found}, but {KINDS} are needed.")
        columns, offsets, weights = (np.asarray(state[name], order="C") for name in KINDS)
        rows = Features(columns, offsets, width)
        if len(rows) != len(weights) or not np.isfinite(weights).all():
            raise ValueError(
                f"{len(rows)} support examples have {len(weights)} rows of weights; each needs "
                "finite ones."
            )
        return cls(rows, weights, degree)


class InvertedIndex:
    """The same scores, bit for bit, from lists of the support examples that have an item.

    Parameters
    ----------
    support : SupportExamples

    References
    ----------
    Kudo and Matsumoto 2003, section 4.1 (PKI).
    """

    def __init__(self, support: SupportExamples) -> None:
        self.support = support
        self.examples, self.starts = support.rows.inverted()

    def scores(self, x: Features) -> Float64:
        """Scores, float64 (n, n_machines)."""
        support = self.support
        return _by_index(
            *(x.columns, x.offsets, self.examples, self.starts, support.weights, support.degree)
        )

    def state(self) -> dict[str, NDArray[Any]]:
        """That of the support examples."""
        return self.support.state()


@compiled
def _by_merging(
    x_columns: Int32,
    x_offsets: Int64,
    columns: Int32,
    offsets: Int64,
    weights: Float64,
    degree: int,
) -> Float64:
    out = np.zeros((len(x_offsets) - 1, weights.shape[1]))
    for i in range(len(out)):
        for row in range(len(weights)):
            p, p_end = np.uint64(x_offsets[i]), np.uint64(x_offsets[i + 1])
            q, q_end = np.uint64(offsets[row]), np.uint64(offsets[row + 1])
            common = 0
            while p < p_end and q < q_end:  # without branches or negative indices: fastest
                a, b = x_columns[p], columns[q]
                common += a == b
                p += np.uint64(a <= b)
                q += np.uint64(b <= a)
            _add(out[i], weights[row], common, degree)
    return out


@compiled
def _by_index(
    x_columns: Int32,
    x_offsets: Int64,
    examples: Int32,
    starts: Int64,
    weights: Float64,
    degree: int,
) -> Float64:
    out = np.zeros((len(x_offsets) - 1, weights.shape[1]))
    common = np.zeros(len(weights), np.int32)
    for i in range(len(out)):
        for column in x_columns[x_offsets[i] : x_offsets[i + 1]]:
            for k in range(starts[column], starts[column + 1]):
                common[np.uint64(examples[k])] += 1
        for row in range(len(weights)):
            _add(out[i], weights[row], common[row], degree)
            common[row] = 0
    return out


@compiled
def _add(out: Float64, weights: Float64, common: int, degree: int) -> None:
    """Add `weights` times the kernel of two candidates with `common` items to `out`."""
    kernel = 1.0
    for _ in range(degree):
        kernel *= 1 + common
    for machine in range(len(out)):
        out[machine] += weights[machine] * kernel
