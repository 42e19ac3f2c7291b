"""Doc -> Candidates: which spans of a Doc may be related."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc, Span

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
        Pairs that were left out, counted once each, not once an order; with more than two
        roles, candidates.
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
class EntityPairs:
    """Pairs of entities that stand near each other.

    Parameters
    ----------
    spans_key : str, optional
        Take ``doc.spans[spans_key]`` (may nest and overlap); None: ``doc.ents``.
    entity_pairs : list of [label, label]
        Allowed entity labels as [head, tail]; empty: every pair.
    max_tokens : int, optional
        Most tokens that may stand between the two.
    max_sentences : int
        Most sentences from the first start to the last end of the two; 1: one holds both.
    max_candidates : int
        Most candidates in one Doc; what is cut is counted.
    """

    spans_key: str | None = None
    entity_pairs: Sequence[Sequence[str]] = ()
    max_tokens: int | None = None
    max_sentences: int = 1
    max_candidates: int = 10_000

    def __post_init__(self) -> None:
        for name in ("max_tokens", "max_sentences", "max_candidates"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ValueError(f"{name} is {value}; give at least 1.")
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
        for first, second in self._near(doc, entities, skipped):
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
        return Candidates(("head", "tail"), entities, arguments, dict(+skipped))

    @cached_property
    def _allowed(self) -> frozenset[tuple[str, str]]:
        return frozenset((head, tail) for head, tail in self.entity_pairs)

    def _orders(self, first: str, second: str, ordered: bool) -> tuple[bool, bool]:
        """Whether the first of a pair may be its head, and whether the second may."""
        if not self._allowed:
            return True, ordered
        forward, backward = (first, second) in self._allowed, (second, first) in self._allowed
        return (forward, backward) if ordered else (forward or backward, False)

    def entities(self, doc: Doc) -> tuple[Span, ...]:
        """The spans that may be arguments, in document order, longer ones first.

        Spans of equal offsets follow their label and id, not their place in the group.
        """
        if self.spans_key is None:
            spans = list(doc.ents)
        else:
            spans = list(doc.spans[self.spans_key]) if self.spans_key in doc.spans else []
        return tuple(sorted(spans, key=lambda s: (s.start, -s.end, s.label_, s.id_)))

    def _near(
        self, doc: Doc, entities: Sequence[Span], skipped: Counter[str]
    ) -> Iterator[tuple[int, int]]:
        """Pairs within the window, in document order; the others are counted."""
        numbers = sentence_numbers(doc)
        starts = [span.start for span in entities]
        first = [numbers[start] for start in starts]  # starts rise, so these do
        last = [numbers[span.end - 1] for span in entities]
        crossing = [j for j in range(len(entities)) if first[j] < last[j]]
        for i, entity in enumerate(entities):
            limit = first[i] + self.max_sentences - 1
            reach = bisect_right(first, limit) if last[i] <= limit else i + 1
            over = {j for j in crossing if i < j < reach and last[j] > limit}
            skipped["cross_sentence"] += len(entities) - reach + len(over)
            near = reach
            if self.max_tokens is not None:
                near = bisect_right(starts, entity.end + self.max_tokens, i + 1, reach)
                skipped["max_tokens"] += reach - near - sum(j >= near for j in over)
            for j in range(i + 1, near):
                if j not in over:
                    yield i, j


def sentence_numbers(doc: Doc) -> Sequence[int]:
    """Number of the sentence of each token; all 0 where no sentence is known."""
    if not doc.has_annotation("SENT_START"):
        return [0] * len(doc)
    numbers: list[int] = np.cumsum(doc.to_array("SENT_START") == 1).tolist()
    return numbers
