"""Common subsequences of many pairs at once: the compiled part of the path kernel.

The pairs of one call lie side by side in lanes, so that every loop over lanes is one
vector operation. Each lane is computed on its own and in one fixed order: a value does
not depend on what else is compared.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..compiled import compiled
from ..structures import Float32, Int64

Float64 = NDArray[np.float64]
Bool = NDArray[np.bool_]

STATE_BYTES = 2**24  # for what beginnings of sequences have in common


@compiled
def sum_subsequences(
    ids: Int64,
    offsets: Int64,
    order: Int64,
    match: Float32,
    decay: float,
    length_weights: Float64,
) -> Float64:
    """Sum of w_l K_l for each sequence of rows of `match`, in every lane.

    Parameters
    ----------
    ids : int64 array
        Rows of `match`, one for each item of the sequences that `offsets` part.
    offsets : int64 array (n + 1,)
    order : int64 array (n,)
        The sequences as they are worked on. What two neighbours begin with in common is
        computed once, so a sorted order is fast; values do not depend on it.
    match : float32 array (n_rows, n_positions, n_lanes)
        Similarity of an item to the one at each position of the lane's own sequence.
    decay : float
    length_weights : float64 array (max_length,)

    Returns
    -------
    float64 array (n, n_lanes)
    """
    n, (n_rows, n_positions, n_lanes) = len(order), match.shape
    filled = np.zeros((n_rows, n_positions), np.bool_)
    busy = np.zeros(n_rows, np.bool_)
    for row in range(n_rows):
        for b in range(n_positions):
            filled[row, b] = _any(match[row, b])
            busy[row] |= filled[row, b]
    width = len(length_weights) * n_lanes
    shared = _shared_beginnings(ids, offsets, order, STATE_BYTES // (4 * n_positions * width + 1))
    n_states = shared.max() + 3  # of the empty beginning, of those shared, and two by turns
    totals = np.zeros((n_states, width), np.float32)
    shorter = np.empty((n_states, n_positions, width - n_lanes), np.float32)
    out = np.zeros((n, n_lanes), np.float64)
    for k in range(n):
        i, known = order[k], shared[k : k + 2]
        rows = ids[offsets[i] : offsets[i + 1]]
        last = _read_sequence(rows, known, match, filled, busy, np.float32(decay), shorter, totals)
        for length, weight in enumerate(length_weights):
            for lane in range(n_lanes):
                out[i, lane] += weight * totals[last, length * n_lanes + lane]
    return out


@compiled
def _shared_beginnings(ids: Int64, offsets: Int64, order: Int64, limit: int) -> Int64:
    """Items that each sequence begins with like the one before, int64 (n + 1,), the ends 0."""
    shared = np.zeros(len(order) + 1, np.int64)
    for k in range(1, len(order)):
        one = ids[offsets[order[k - 1]] : offsets[order[k - 1] + 1]]
        other = ids[offsets[order[k]] : offsets[order[k] + 1]]
        most = min(len(one), len(other), limit)
        while shared[k] < most and one[shared[k]] == other[shared[k]]:
            shared[k] += 1
    return shared


@compiled
def _read_sequence(
    rows: Int64,
    known: Int64,
    match: Float32,
    filled: Bool,
    busy: Bool,
    decay: np.float32,
    shorter: Float32,
    totals: Float32,
) -> int:
    """Row of `totals` where K_1, K_2, … of one sequence stand.

    Rows of `shorter` and `totals` are states, those after 0, 1, 2, … items first. The
    first ``known[0]`` items are read already, the first ``known[1]`` states are kept for the
    next sequence, and the two rows behind all of these take turns.
    """
    n_lanes, state = match.shape[2], int(known[0])
    longer = np.empty(totals.shape[1], np.float32)
    recent = np.empty(shorter.shape[2], np.float32)
    n_seen, n_left = busy[rows[:state]].sum(), busy[rows[state:]].sum()
    for a in range(known[0], len(rows)):
        kept, row = a < known[1], rows[a]
        if n_left == 0 and not kept:
            break
        goal = a + 1 if kept else len(totals) - 1 - (state == len(totals) - 1)
        width = min(n_seen * n_lanes, len(recent))
        n_seen, n_left = n_seen + busy[row], n_left - busy[row]
        wider = min(n_seen * n_lanes, len(recent)) if kept or n_left else 0
        totals[goal] = totals[state]
        if busy[row]:
            _read_item(
                match[row],
                filled[row],
                decay,
                width,
                shorter[state],
                shorter[goal],
                longer[: width + n_lanes],
                recent[:wider],
                totals[goal],
            )
        else:
            _scale(shorter[state], shorter[goal], wider, decay)
        state = goal
    return state


@compiled
def _read_item(
    match: Float32,
    filled: Bool,
    decay: np.float32,
    width: int,
    shorter: Float32,
    after: Float32,
    longer: Float32,
    recent: Float32,
    totals: Float32,
) -> None:
    """Add the common subsequences that end in one more item to `totals` (K_1, K_2, …).

    In the words of Lodhi et al. 2002, section 4.1, ``shorter[b]`` is K'_1, K'_2, … of
    the items read before and the first b positions of the lane, ``after[b]`` the same
    with this item, and `recent` is K''_1, K''_2, …, what this item adds to them. `longer`
    are the subsequences that end in the present position too. All lanes of K_1 come
    first, then those of K_2, …; every array is only as wide as something can stand there.
    """
    recent[:] = np.float32(0.0)
    for b in range(len(match)):
        if filled[b]:
            _extend(longer, match[b], shorter[b], decay)
            _add(totals, longer)
        _pass_on(shorter[b][:width], after[b], recent, decay)
        if filled[b]:
            _add(recent, longer[: len(recent)])


@compiled
def _extend(longer: Float32, match: Float32, shorter: Float32, decay: np.float32) -> None:
    """The match on its own, and behind each of the shorter ones."""
    n_lanes, price = len(match), decay * decay
    for lane in range(n_lanes):
        longer[lane] = match[lane] * price
    for first in range(n_lanes, len(longer), n_lanes):
        above, below = longer[first:], shorter[first - n_lanes :]
        for lane in range(n_lanes):
            above[lane] = match[lane] * price * below[lane]


@compiled
def _pass_on(before: Float32, after: Float32, recent: Float32, decay: np.float32) -> None:
    """To the next item of the one sequence, and to the next position of the other."""
    both = min(len(before), len(recent))
    for i in range(both):
        after[i] = before[i] * decay + recent[i]
        recent[i] *= decay
    for i in range(both, len(recent)):
        after[i] = recent[i]
        recent[i] *= decay


@compiled
def _scale(before: Float32, after: Float32, width: int, decay: np.float32) -> None:
    """`_pass_on` at all positions where nothing is to be added."""
    for b in range(len(before)):
        for i in range(width):
            after[b, i] = before[b, i] * decay


@compiled
def _any(values: Float32) -> bool:
    found = 0
    for i in range(len(values)):
        found |= values[i] != np.float32(0.0)
    return found != 0


@compiled
def _add(values: Float32, others: Float32) -> None:
    for i in range(len(others)):
        values[i] += others[i]
