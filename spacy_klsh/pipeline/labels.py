"""Between relations and classes: training targets of candidates, and back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..structures import Float32
from .candidates import Candidates
from .relations import EntityIndex, Record

Bool: TypeAlias = NDArray[np.bool_]
DIRECTIONS = ("ordered", "label", "none")
Lost: TypeAlias = Counter[tuple[str, str]]


class Attached(NamedTuple):
    """A relation, the row of its candidate, and whether that has head and tail exchanged."""

    record: Record
    row: int
    turned: bool


@dataclass(frozen=True)
class LabelScheme:
    """Relation labels, how their direction is told, and how many a candidate may have.

    With direction ``ordered`` both orders of a pair are candidates and a class is a
    label. With ``label`` a pair is one candidate in document order, and each label is
    two classes: head first, tail first. With ``none`` the order means nothing.
    Class 0 is always "no relation".

    Parameters
    ----------
    labels : tuple of str
    direction : {"ordered", "label", "none"}
    exclusive : bool
        One label a candidate at most; False: each label on its own.
    symmetric : frozenset of str
        Labels whose order means nothing: both orders are gold, one is predicted.
    negative : frozenset of str
        Gold labels that mean "no relation".
    interchangeable : tuple of tuples of str
        Roles that mean the same: their arguments stand in document order.
    """

    labels: tuple[str, ...] = ()
    direction: str = "ordered"
    exclusive: bool = True
    symmetric: frozenset[str] = frozenset()
    negative: frozenset[str] = frozenset()
    interchangeable: tuple[tuple[str, ...], ...] = ()

    def __post_init__(self) -> None:
        if self.direction not in DIRECTIONS:
            raise ValueError(
                f"direction is {self.direction!r}; choose one of {', '.join(DIRECTIONS)}."
            )
        both = self.symmetric & self.negative
        if both:
            raise ValueError(
                f"{sorted(both)} stand in symmetric_labels and in negative_labels; a label that "
                "means no relation has no direction."
            )

    @classmethod
    def of(cls, generator: Any, **settings: Any) -> LabelScheme:
        """The scheme for what a candidate generator proposes; raises like `check_roles`."""
        groups = getattr(generator, "interchangeable", ())
        scheme = cls(interchangeable=tuple(map(tuple, groups)), **settings)
        if hasattr(generator, "roles"):
            scheme.check_roles(tuple(generator.roles))
        return scheme

    def check_roles(self, roles: Sequence[str]) -> None:
        """Refuse settings for pairs where candidates have other roles than head and tail.

        Raises
        ------
        ValueError
            If relations, or some of them, have no order.
        """
        if not self.ordered or self.symmetric:
            raise ValueError(
                f"candidates have the roles {', '.join(roles)}, but direction is "
                f"{self.direction!r} and symmetric_labels are {sorted(self.symmetric)}, which are "
                'for head and tail; set direction = "ordered" and symmetric_labels = [], and name '
                "roles that mean the same as interchangeable."
            )

    @property
    def ordered(self) -> bool:
        """Whether both orders of a pair are candidates."""
        return self.direction == "ordered"

    @property
    def classes(self) -> list[tuple[str, bool]]:
        """(label, tail first) of each class; class 0 is ``("", False)``."""
        classes = [("", False)]
        for label in self.labels:
            turns = self.direction == "label" and not self.is_symmetric(label)
            classes += [(label, False), (label, True)] if turns else [(label, False)]
        return classes

    def is_symmetric(self, label: str) -> bool:
        """Whether the order of head and tail means nothing."""
        return self.direction == "none" or label in self.symmetric

    def plain(self, record: Record) -> Record:
        """The record as it is compared: what has no order in document order."""
        if self.is_symmetric(record.label):
            return in_order(record, sorted(argument.role for argument in record.arguments))
        for roles in self.interchangeable:
            record = in_order(record, roles)
        return record

    def gold(self, records: Iterable[Record]) -> list[Record]:
        """What counts as a gold relation, each once."""
        plain = [self.plain(r)._replace(score=1.0) for r in records if r.label not in self.negative]
        return list(dict.fromkeys(plain))

    def targets(self, candidates: Candidates, gold: Sequence[Record]) -> tuple[Bool, Lost]:
        """Classes of each candidate, and gold relations that found no place.

        Parameters
        ----------
        candidates : Candidates
        gold : sequence of Record

        Returns
        -------
        y : bool array (n, n_classes)
            Class 0 where there is no other; exclusive: one class a row.
        lost : Counter of (reason, label)
            ``unreachable``: no candidate stands for the relation; ``second_label``: its
            candidate already has another label.

        Raises
        ------
        ValueError
            If there are more than two roles, but relations without an order.
        """
        if len(candidates.roles) > 2:
            self.check_roles(candidates.roles)
        rows = {tuple(row): i for i, row in enumerate(candidates.arguments.tolist())}
        numbers = {name: k for k, name in enumerate(self.classes)}
        y = np.zeros((len(candidates), len(numbers)), bool)
        lost: Lost = Counter()
        index = EntityIndex(candidates.entities)
        for record in self.gold(gold):
            row, symmetric = _row(record, candidates, index), self.is_symmetric(record.label)
            orders = [row, row[::-1]] if symmetric or not self.ordered else [row]
            places = [
                (rows[order], numbers[record.label, order != row and not symmetric])
                for order in orders
                if order in rows and record.label in self.labels
            ]
            if not places:
                lost["unreachable", record.label] += 1
            elif self.exclusive and any(y[i].any() and not y[i, k] for i, k in places):
                lost["second_label", record.label] += 1
            else:
                y[tuple(zip(*places, strict=True))] = True
        y[:, 0] = ~y.any(axis=1)
        return y, lost

    def reached(self, probabilities: Float32, thresholds: Mapping[str, float]) -> Bool:
        """Which classes reach the threshold of their label, bool (n, n_classes).

        Exclusive: the best label of a candidate alone; class 0 is never attached.
        """
        limits = [np.inf, *(thresholds[label] for label, _ in self.classes[1:])]
        reached = probabilities >= np.array(limits, np.float32)
        if self.exclusive and probabilities.shape[1] > 1:
            best = probabilities[:, 1:].argmax(axis=1) + 1
            reached &= np.arange(probabilities.shape[1]) == best[:, None]
        return reached

    def attached(
        self,
        candidates: Sequence[Candidates],
        probabilities: Float32,
        thresholds: Mapping[str, float],
    ) -> list[list[Attached]]:
        """Relations of each Doc that reach their thresholds, in the order of its candidates.

        Of the two orders of a symmetric label the more probable one stays.

        Parameters
        ----------
        candidates : sequence of Candidates
            Of each Doc.
        probabilities : float32 array (n, n_classes)
            Of all of them, Doc by Doc.
        thresholds : mapping of label to float
        """
        ends = np.cumsum([0, *map(len, candidates)])
        owners, classes = np.nonzero(self.reached(probabilities, thresholds))
        scores = probabilities[owners, classes].tolist()
        bounds = np.searchsorted(owners, ends).tolist()
        found = list(zip(owners.tolist(), classes.tolist(), scores, strict=True))
        return [
            self._attached(own, first, found[a:b])
            for own, first, (a, b) in zip(
                candidates, ends[:-1].tolist(), pairwise(bounds), strict=True
            )
        ]

    def _attached(
        self, candidates: Candidates, first: int, found: Sequence[tuple[int, int, float]]
    ) -> list[Attached]:
        """Relations of one Doc, whose candidates begin with number `first`."""
        classes, rows = self.classes, candidates.arguments.tolist()
        best: dict[tuple[str, tuple[int, ...]], tuple[float, int, bool]] = {}
        for number, k, score in found:
            i, (label, turned) = number - first, classes[k]
            row = rows[i][::-1] if turned else rows[i]
            if self.is_symmetric(label):
                row = sorted(row)  # entities stand in document order
            key = label, tuple(row)
            if key not in best or best[key][0] < score:
                best[key] = score, i, turned
        return [
            Attached(Record(label, score, candidates.record_arguments(row)), i, turned)
            for (label, row), (score, i, turned) in best.items()
        ]


def _row(record: Record, candidates: Candidates, index: EntityIndex) -> tuple[int, ...]:
    """The candidate that would stand for `record`, as rows of entities; () if none could."""
    row = dict.fromkeys(candidates.roles, -1)
    for argument in record.arguments:
        found = index.find(argument)
        if argument.role not in row or found < 0:
            return ()
        row[argument.role] = found
    return tuple(row.values())


def in_order(record: Record, roles: Sequence[str]) -> Record:
    """The same spans with the first of `roles` handed out to theirs in document order."""
    own = (a for a in record.arguments if a.role in roles)
    places = sorted(own, key=lambda a: (a.start, -a.end, a.label, a.id))
    named = (place._replace(role=role) for place, role in zip(places, roles, strict=False))
    arguments = (next(named) if a.role in roles else a for a in record.arguments)
    return record._replace(arguments=tuple(arguments))
