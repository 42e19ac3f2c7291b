"""Items of candidates, each candidate scaled to length 1: rows for a solver, and scores."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..compiled import compiled
from ..structures import Float32, Int32, Int64

Float64 = NDArray[np.float64]

LEAST = 1e-12  # length of a candidate
SURE = 700.0  # scores beyond it are all the same: exp() has no larger numbers


def slots_of(columns: Int32, width: int) -> Int32:
    """Place of each item among the `columns`, int32 (width,); behind them all: of others."""
    slots = np.full(width, len(columns), np.int32)
    slots[columns] = np.arange(len(columns), dtype=np.int32)
    return slots


@compiled
def scaled_rows(
    columns: Int32, offsets: Int64, slots: Int32, squares: Float64, rarity: Float64
) -> tuple[Float64, Int32, Int32]:
    """Values and slots of the items that have one, divided by the length of all, and offsets."""
    n = len(offsets) - 1
    values, own = np.empty(len(columns), np.float64), np.empty(len(columns), np.int32)
    ends = np.zeros(n + 1, np.int32)
    for i in range(n):
        length, end = 0.0, ends[i]
        for k in range(offsets[i], offsets[i + 1]):
            slot = slots[columns[k]]
            length += squares[slot]
            if slot < len(rarity):
                values[end], own[end] = rarity[slot], slot
                end += 1
        values[ends[i] : end] /= max(np.sqrt(length), LEAST)
        ends[i + 1] = end
    return values[: ends[n]], own[: ends[n]], ends


@compiled
def probabilities(
    columns: Int32,
    offsets: Int64,
    slots: Int32,
    sides: Float64,
    biases: Float64,
) -> Float32:
    """Logistic probability of each machine, divided by their sum if there are several."""
    n, n_machines = len(offsets) - 1, len(biases)
    out, scores = np.empty((n, n_machines), np.float32), np.empty(n_machines, np.float64)
    longest = 0
    for i in range(n):
        longest = max(longest, offsets[i + 1] - offsets[i])
    rows = np.empty(longest, np.int32)
    for i in range(n):
        own, length = rows[: offsets[i + 1] - offsets[i]], 0.0
        for k in range(len(own)):
            own[k] = slots[columns[offsets[i] + k]]
            length += sides[own[k], 0]
        scale = 1.0 / np.sqrt(length) if length > 0 else 0.0
        total = 0.0
        for machine in range(n_machines):
            score = 0.0
            for row in own:
                score += sides[row, 1 + machine]
            score = min(max(score * scale + biases[machine], -SURE), SURE)
            scores[machine] = 1.0 / (1.0 + np.exp(-score))
            total += scores[machine]
        for machine in range(n_machines):
            out[i, machine] = scores[machine] / total if n_machines > 1 else scores[machine]
    return out
