"""Algorithm 1: the reference set whose codes tell most about the labels, member by member."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..hashing.klsh import KLSH
from ..structures import Int64
from ..views import Views, distinct, take
from .exchange import Exchange
from .leave_one_out import LeaveOneOut
from .objective import Held, Objective, drawn_rows
from .total_correlation import Float64

CHUNK = 50  # choices whose bits are judged at once

Record = dict[str, Any]


def choose_references(
    hashing: KLSH,
    views: Views,
    y: Int64,
    *,
    objective: Objective | None = None,
    n_candidates: int = 1000,
    n_samples: int = 300,
    n_steps: int | None = None,
    seed: int = 0,
) -> Iterator[Record]:
    """Replace the references one after the other by the best of many; a record of each step.

    Every step draws `n_samples` structures to estimate the objective on, and `n_candidates` as
    choices for the place of one reference, which it keeps if none is better. With a choice only
    the bits change whose subsets hold that place; they are judged while everything that the
    objective knows about the others is held.

    `hashing` has the better references after each step, and its ``reference_rows_`` are rows of
    `views`: stop whenever you like. ``joblib.parallel_config("threading", n_jobs=2)`` judges
    choices in two threads.

    Parameters
    ----------
    hashing : KLSH
        Fitted.
    views : Views
        Structures to learn from and to choose among.
    y : int64 array (n,)
        Their label ids; -1: none is known.
    objective : Objective, optional
        Default: `LeaveOneOut`.
    n_candidates : int
        beta, references to choose from in a step; at most all distinct ones.
    n_samples : int
        gamma, labelled structures on which a step estimates the objective; with as many others.
    n_steps : int, optional
        Default: M, the size of the reference set.
    seed : int

    Yields
    ------
    dict
        ``step``; ``reference``, its place; ``row`` of the structure that stands there now;
        ``objective`` before; ``gain``, what the step is thought to add; ``n_choices``.

    References
    ----------
    Garg et al. 2019, section 3.1, Algorithm 1.
    """
    objective = objective or LeaveOneOut()
    pool = Pool.of(hashing, views)
    rng = np.random.default_rng([seed, 2])
    size = len(hashing.reference_rows_)
    held = None
    for step in range(size if n_steps is None else n_steps):
        j = step % size
        rows = drawn_rows(rng, y, n_samples)
        choices = pool.choices(hashing, rng.permutation(len(pool.first))[:n_candidates])
        samples = take(pool.views, rows)
        gram = hashing.similarities(samples)
        changing = np.flatnonzero((hashing.subsets_ == j).any(axis=(1, 2)))
        held = objective.hold(hashing.encode(gram).bits(), y[rows], changing, held)
        gain = 0.0
        if len(choices) and len(changing):
            exchange = Exchange.of(hashing, j, changing, take(pool.views, choices), samples, gram)
            values = judged(exchange, held) - held.value
            best = int(values.argmax())
            gain = max(0.0, float(values[best]))
            if gain:
                hashing.replace(j, take(pool.views, [choices[best]]), int(choices[best]))
        yield {
            "step": step,
            "reference": j,
            "row": int(hashing.reference_rows_[j]),
            "objective": held.value,
            "gain": gain,
            "n_choices": len(choices),
        }


@dataclass(frozen=True, eq=False)
class Pool:
    """The structures that can become references.

    Parameters
    ----------
    views : Views
        Those that the kernel compares, of all structures.
    first : int64 array (n_distinct,)
        Rows of the distinct ones that are not empty.
    places : int64 array (n,)
        Number of each structure among all distinct ones.
    """

    views: Views
    first: Int64
    places: Int64

    @classmethod
    def of(cls, hashing: KLSH, views: Views) -> Pool:
        """The distinct ones of `views` that `hashing` can compare."""
        used = {name: views[name] for name in hashing.kernel.views}
        first, places = distinct(used)
        return cls(used, first[hashing.comparable(used)[first]], places)

    def choices(self, hashing: KLSH, drawn: Int64) -> Int64:
        """Rows of the drawn ones that are no references yet."""
        taken = self.places[hashing.reference_rows_]
        rows = self.first[drawn]
        return rows[~np.isin(self.places[rows], taken)]


def judged(exchange: Exchange, held: Held) -> Float64:
    """The objective with each choice in the place of the reference, float64 (n_choices,)."""
    from joblib import Parallel, delayed

    chunks = np.split(np.arange(len(exchange)), range(CHUNK, len(exchange), CHUNK))
    parts = Parallel(require="sharedmem")(
        delayed(_judged)(exchange, chunk.tolist(), held) for chunk in chunks
    )
    return np.concatenate(parts)


def _judged(exchange: Exchange, choices: list[int], held: Held) -> Float64:
    return held.values(np.stack([exchange.bits(choice) for choice in choices]))
