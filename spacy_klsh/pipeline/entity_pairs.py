"""Doc -> Candidates: pairs of entities."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from spacy.tokens import Doc

from .candidates import Candidates
from .nearby import NearbyEntities
from .policy import without


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
        return without([found], self.dropped)[0]

    @cached_property
    def _allowed(self) -> frozenset[tuple[str, str]]:
        return frozenset((head, tail) for head, tail in self.entity_pairs)

    def _orders(self, first: str, second: str, ordered: bool) -> tuple[bool, bool]:
        """Whether the first of a pair may be its head, and whether the second may."""
        if not self._allowed:
            return True, ordered
        forward, backward = (first, second) in self._allowed, (second, first) in self._allowed
        return (forward, backward) if ordered else (forward or backward, False)
