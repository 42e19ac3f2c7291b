"""Candidates: which spans of a Doc may be related."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Span

from ..structures import Int32
from .relations import Argument


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Ordered choices of entities that may be related.

    Parameters
    ----------
    roles : tuple of str
        Names of the arguments, e.g. ``("head", "tail")``.
    entities : tuple of Span
        Every entity that a candidate may name, in document order.
    arguments : int32 array (n, n_roles)
        Rows into `entities`; -1 where a role is absent.
    skipped : mapping of reason to int
        Pairs that were left out, counted once each, not once an order. With roles of their
        own names: candidates over the cap or without a path, entities that fit no role, and
        pairs of others that are not near.
    """

    roles: tuple[str, ...]
    entities: tuple[Span, ...]
    arguments: Int32
    skipped: Mapping[str, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.arguments)

    @property
    def spans(self) -> Int32:
        """Token offsets, int32 (n, 2 * n_roles): start, end (exclusive); -1, -1 = absent."""
        bounds = [(span.start, span.end) for span in self.entities]
        table = np.array([*bounds, (-1, -1)], np.int32)
        return table[self.arguments].reshape(len(self), 2 * len(self.roles))

    def among(self, labels: Set[str]) -> Candidates:
        """The candidates all of whose entities have one of `labels`; others are counted."""
        known = [span.label_ in labels for span in self.entities]
        if all(known):
            return self
        named = np.array([*known, True])[self.arguments]  # -1: absent, no objection
        return self.where(np.all(named, axis=1), "untrained_entity_label")

    def where(self, keep: NDArray[np.bool_], reason: str) -> Candidates:
        """The candidates to `keep`, bool (n,); the other pairs are counted under `reason`."""
        if keep.all():
            return self
        as_pair = frozenset if len(self.roles) == 2 else tuple
        lost = {as_pair(row) for row in self.arguments[~keep].tolist()}
        skipped = {**self.skipped, reason: len(lost)}
        return replace(self, arguments=self.arguments[keep], skipped=skipped)

    @property
    def entity_labels(self) -> set[str]:
        """Labels of the entities that candidates name."""
        return {self.entities[j].label_ for j in np.unique(self.arguments) if j >= 0}

    def record_arguments(self, row: Sequence[int]) -> tuple[Argument, ...]:
        """Stored form of the entities that `row`, one index a role, names."""
        named = zip(self.roles, row, strict=True)
        return tuple(Argument.of(role, self.entities[j]) for role, j in named if j >= 0)


CandidateGenerator: TypeAlias = Callable[..., Candidates]


def joined(parts: Sequence[Candidates]) -> Candidates:
    """The candidates of one Doc or more as one, over the entities of all; nothing is skipped."""
    shifts = np.cumsum([0, *(len(found.entities) for found in parts)])
    arguments = [
        np.where(found.arguments < 0, -1, found.arguments + shift).astype(np.int32)
        for found, shift in zip(parts, shifts[:-1], strict=True)
    ]
    entities = tuple(chain.from_iterable(found.entities for found in parts))
    return Candidates(parts[0].roles, entities, np.concatenate(arguments))


def where(parts: Sequence[Candidates], keep: NDArray[np.bool_], reason: str) -> list[Candidates]:
    """`Candidates.where` of each Doc; `keep` is about the candidates of all, bool (n,)."""
    if keep.all():
        return list(parts)
    ends = np.cumsum([len(found) for found in parts])
    own = np.split(keep, ends[:-1])
    return [found.where(kept, reason) for found, kept in zip(parts, own, strict=True)]
