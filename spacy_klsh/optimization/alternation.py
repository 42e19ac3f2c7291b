"""Everything that codes depend on, in turns: kernel parameters, sigma, references."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from copy import copy
from typing import Any

import numpy as np

from ..hashing.klsh import KLSH
from ..structures import Int64
from ..views import Views, take
from .information import MutualInformation
from .kernel_parameters import parameter_slots, sigma_slots
from .leave_one_out import LeaveOneOut
from .objective import Objective, drawn_rows
from .reference import choose_references
from .search import grid, metropolis

STAGES: Mapping[str, tuple[str, ...]] = {
    "none": (),
    "references": ("references",),
    "kernel": ("kernel",),
    "sigma": ("sigma",),
    "all": ("kernel", "sigma", "references"),
}
OBJECTIVES: Mapping[str, Callable[..., Objective]] = {
    "leave_one_out": LeaveOneOut,
    "mutual_information": MutualInformation,
}
MAX_ROUNDS = 3
MAX_GRID = 60  # points; where there are more, the parameters are walked through
N_SAMPLES = 1000  # structures that a search for kernel parameters looks at; for sigma 300 do
N_CHECKED = 1000  # others, as far as there are any, that say whether a stage is worth keeping

Record = dict[str, Any]


def optimize(
    hashing: KLSH,
    views: Views,
    y: Int64,
    what: str = "references",
    *,
    objective: Objective | None = None,
    n_candidates: int = 1000,
    seed: int = 0,
) -> Iterator[Record]:
    """Raise the objective of the codes of `hashing`, stage by stage; a record of each step.

    "all" takes turns: kernel parameters by a grid if it is small and else by a random walk, sigma
    by a random walk, then the references, until a round raises nothing, three times at most.
    A stage is undone if the objective is not higher after it, both measured on structures drawn
    anew. `hashing` changes in place.

    Parameters
    ----------
    hashing : KLSH
        Fitted.
    views, y
        Structures and their label ids, -1: none is known.
    what : {"none", "references", "kernel", "sigma", "all"}
    objective : Objective, optional
        Default: `LeaveOneOut`.
    n_candidates : int
        Structures to choose each reference from.
    seed : int

    Yields
    ------
    dict
        ``stage``, ``round`` and what `choose_references`, `grid` and `metropolis` record; at the
        end of a stage ``stage = "check"`` with the objective ``before`` and ``after``, and
        whether it is ``accepted``.

    References
    ----------
    Garg et al. 2019, section 3.1 ("can be optimized in an iterative manner").
    """
    objective = objective or LeaveOneOut()
    for turn in range(MAX_ROUNDS if len(STAGES[what]) > 1 else 1):
        raised = False
        for stage in STAGES[what]:
            old, rng = copy(hashing), [seed, turn, len(stage)]
            start = seed + 1000 * turn
            for record in _steps(hashing, views, y, stage, objective, n_candidates, start):
                yield {"stage": stage, "round": turn, **record}
            check = _check(old, hashing, views, y, objective, np.random.default_rng(rng))
            yield {"stage": "check", "round": turn, "of": stage, **check}
            raised |= check["accepted"]
        if not raised:
            return


def _steps(
    hashing: KLSH,
    views: Views,
    y: Int64,
    stage: str,
    objective: Objective,
    n_candidates: int,
    seed: int,
) -> Iterator[Record]:
    if stage == "references":
        yield from choose_references(
            hashing, views, y, objective=objective, n_candidates=n_candidates, seed=seed
        )
    elif stage == "sigma":
        slots = sigma_slots(hashing.kernel, views)
        yield from metropolis(hashing, views, y, slots, objective, seed=seed)
    else:
        slots = parameter_slots(hashing.kernel, views)
        small = np.prod([len(slot.ladder) for slot in slots], dtype=np.float64) <= MAX_GRID
        search = grid if small else metropolis
        yield from search(hashing, views, y, slots, objective, n_samples=N_SAMPLES, seed=seed)


def _check(
    old: KLSH,
    hashing: KLSH,
    views: Views,
    y: Int64,
    objective: Objective,
    rng: np.random.Generator,
) -> Record:
    """The objective before and after a stage, which is undone if it did not raise it."""
    rows = drawn_rows(rng, y, N_CHECKED)
    sample = take(views, rows)
    before, after = (objective(each.transform(sample).bits(), y[rows]) for each in (old, hashing))
    if after <= before:
        hashing.kernel = old.kernel
        hashing.restore(
            old.reference_, old.reference_rows_, old.subsets_, old.weights_, old.biases_
        )
    return {"before": before, "after": after, "accepted": after > before}
