"""Parameters of a kernel whose codes tell most about the labels: grid and Metropolis-Hastings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from itertools import product
from math import exp
from typing import Any

import numpy as np

from ..hashing.klsh import KLSH
from ..structures import Int64
from ..views import Views, take
from .kernel_parameters import Slot, changed, value_of
from .objective import Objective, drawn_rows

MAX_POINTS = 1000  # of a grid

Record = dict[str, Any]


def judge(hashing: KLSH, kernel: Any, views: Views, y: Int64, objective: Objective) -> float:
    """The objective of the codes of `views` that `hashing` would give with this kernel.

    References and subsets stay.
    """
    other = copy(hashing)
    give_kernel(other, kernel)
    return objective(other.transform(views).bits(), y)


def give_kernel(hashing: KLSH, kernel: Any) -> None:
    """Put another kernel into `hashing`, on the same references and subsets."""
    rows = hashing.reference_rows_
    hashing.kernel = kernel
    hashing.fit_reference(hashing.reference_)
    hashing.reference_rows_ = rows


def grid(
    hashing: KLSH,
    views: Views,
    y: Int64,
    slots: Sequence[Slot],
    objective: Objective,
    *,
    n_samples: int = 1000,
    seed: int = 0,
) -> Iterator[Record]:
    """The best of all combinations of values, all on the same structures; a record of each.

    `hashing` has the best kernel so far after each record. The first record is that of the kernel
    as it is, which stays if none is better.

    Parameters
    ----------
    hashing : KLSH
        Fitted.
    views, y
        Structures and their label ids, -1: none is known.
    slots : sequence of Slot
    n_samples : int
        gamma, structures that the objective is estimated on.

    Yields
    ------
    dict
        ``step``, ``change`` (name to value), ``objective``, ``accepted``, ``best`` so far.

    Raises
    ------
    ValueError
        If there are more than 1,000 combinations.
    """
    n_points = int(np.prod([len(slot.ladder) for slot in slots], dtype=np.float64))
    if n_points > MAX_POINTS:
        raise ValueError(
            f"{[slot.name for slot in slots]} have {n_points:,} combinations, at most {MAX_POINTS} "
            "are tried; search fewer parameters, or walk with metropolis()."
        )
    rows = drawn_rows(np.random.default_rng([seed, 3]), y, n_samples)
    sample, labels, first = take(views, rows), y[rows], hashing.kernel
    best = judge(hashing, first, sample, labels, objective)
    yield _record(0, {}, best, True, best)
    for step, values in enumerate(product(*(slot.ladder for slot in slots)), start=1):
        kernel, change = first, {}
        for slot, value in zip(slots, values, strict=True):
            kernel, change[slot.name] = changed(kernel, slot.name, value, views), value
        found = judge(hashing, kernel, sample, labels, objective)
        accepted = found > best
        if accepted:
            best = found
            give_kernel(hashing, kernel)
        yield _record(step, change, found, accepted, best)


def metropolis(
    hashing: KLSH,
    views: Views,
    y: Int64,
    slots: Sequence[Slot],
    objective: Objective,
    *,
    n_steps: int = 300,
    n_samples: int = 300,
    patience: int = 150,
    seed: int = 0,
) -> Iterator[Record]:
    """A random walk over the values of `slots` that climbs more often than not.

    Each step proposes the next higher or lower value of one slot; beyond the end of a ladder
    there is none, so that a step and its reverse are equally likely. It is accepted with the
    probability ``min(1, exp(difference / objective.temperature))``. The walk ends after `n_steps`,
    or `patience` steps after the best kernel. Then the values of the best kernel go
    back to what they were, one after the other, where that costs less than a temperature.

    `hashing` has the best kernel so far after each record.

    Parameters
    ----------
    hashing, views, y, slots, objective
        See `grid`.
    n_samples : int
        gamma, structures that the objective is estimated on.

    Yields
    ------
    dict
        ``step``, ``change`` (name to value), ``objective`` with it, ``accepted``, ``best`` so far.

    References
    ----------
    Hastings 1970; Garg et al. 2019, sections 3.1 and 3.2.
    """
    if not slots:
        return
    rng = np.random.default_rng([seed, 4])
    rows = drawn_rows(rng, y, n_samples)
    sample, labels = take(views, rows), y[rows]
    given = kernel = hashing.kernel
    present = best = judge(hashing, kernel, sample, labels, objective)
    reached = 0
    for step in range(n_steps):
        slot, direction = slots[int(rng.integers(len(slots)))], int(rng.choice([-1, 1]))
        luck = float(rng.random())
        value = neighbour(slot, value_of(kernel, slot.name), direction)
        if value is None:
            continue
        proposed = changed(kernel, slot.name, value, views)
        found = judge(hashing, proposed, sample, labels, objective)
        accepted = luck < exp(min(0.0, (found - present) / objective.temperature))
        if accepted:
            kernel, present = proposed, found
        if found > best:
            best, reached = found, step
            give_kernel(hashing, proposed)
        yield _record(step, {slot.name: value}, found, accepted, best)
        if step - reached >= patience:
            break
    for step, (slot, value) in enumerate(_changes(given, hashing.kernel, slots), start=n_steps):
        simpler = changed(hashing.kernel, slot.name, value, views)
        found = judge(hashing, simpler, sample, labels, objective)
        accepted = found > best - objective.temperature
        if accepted:
            best = max(best, found)
            give_kernel(hashing, simpler)
        yield _record(step, {slot.name: value}, found, accepted, best)


def _record(
    step: int, change: dict[str, float], found: float, accepted: bool, best: float
) -> Record:
    return {
        "step": step,
        "change": change,
        "objective": found,
        "accepted": accepted,
        "best": best,
    }


def _changes(given: Any, kernel: Any, slots: Sequence[Slot]) -> list[tuple[Slot, float]]:
    """The slots of which `kernel` has another value than `given`, and the latter."""
    values = [(slot, value_of(given, slot.name)) for slot in slots]
    return [(slot, old) for slot, old in values if value_of(kernel, slot.name) != old]


def neighbour(slot: Slot, value: float, direction: int) -> float | None:
    """The next value up or down the ladder; from between two of them either one."""
    if len(slot.ladder) == 2 and value in slot.ladder:
        return slot.ladder[1 - slot.ladder.index(value)]  # a switch has no ends
    beyond = [step for step in slot.ladder if (step - value) * direction > 0]
    if not beyond:
        return None
    return min(beyond) if direction > 0 else max(beyond)
