"""Doc -> Candidates: which spans of a Doc may be related."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc, Span

from ..structures import Int32
from .nearby import NearbyEntities
from .policy import without
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


@dataclass(frozen=True, kw_only=True)
class EntityPairs(NearbyEntities):
    """Pairs of entities that stand near each other.

    Parameters
    ----------
    spans_key, max_tokens, max_sentences, max_candidates, overlapping, same_text
        See `NearbyEntities`.
    entity_pairs : list of [label, label]
        Allowed entity labels as [head, tail]; empty: every pair.
    """

    entity_pairs: Sequence[Sequence[str]] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        for pair in self.entity_pairs:
            if len(pair) != 2:
                raise ValueError(
                    f"entity_pairs holds {list(pair)}; give [head label, tail label] pairs."
                )

    def __call__(self, doc: Doc, *, ordered: bool = True) -> Candidates:
        """Candidates of `doc`; both orders of a pair, or document order alone."""
        entities = self.entities(doc)
        labels = [span.label_ for span in entities]
        skipped: Counter[str] = Counter()
        rows: list[tuple[int, int]] = []
        for first, near in enumerate(self.near(doc, entities, skipped)):
            for second in near:
                forward, backward = self._orders(labels[first], labels[second], ordered)
                if not (forward or backward):
                    skipped["entity_labels"] += 1
                elif len(rows) + forward + backward > self.max_candidates:
                    skipped["max_candidates"] += 1
                else:
                    if forward:
                        rows.append((first, second))
                    if backward:
                        rows.append((second, first))
        arguments = np.array(rows, np.int32).reshape(len(rows), 2)
        found = Candidates(("head", "tail"), entities, arguments, dict(+skipped))
        return without(found, self.dropped)

    @cached_property
    def _allowed(self) -> frozenset[tuple[str, str]]:
        return frozenset((head, tail) for head, tail in self.entity_pairs)

    def _orders(self, first: str, second: str, ordered: bool) -> tuple[bool, bool]:
        """Whether the first of a pair may be its head, and whether the second may."""
        if not self._allowed:
            return True, ordered
        forward, backward = (first, second) in self._allowed, (second, first) in self._allowed
        return (forward, backward) if ordered else (forward or backward, False)
