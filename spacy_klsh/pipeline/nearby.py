"""Which entities of a Doc stand near each other: what every candidate generator needs."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from spacy.tokens import Doc, Span

from .policy import KINDS, check_policies


@dataclass(frozen=True, kw_only=True)
class NearbyEntities:
    """Entities of a Doc within limits.

    Parameters
    ----------
    spans_key : str, optional
        Take ``doc.spans[spans_key]`` (may nest and overlap); None: ``doc.ents``.
    max_tokens : int, optional
        Most tokens between an entity and the start of another.
    max_sentences : int
        Most sentences from the first start to the last end; 1: one holds all.
    max_candidates : int
        Most candidates in one Doc; what is cut is counted.
    overlapping, same_text : {"keep", "drop", "auto"}
        What becomes of candidates of which two arguments share a token, or have the same
        text but for case; auto: training decides. What is dropped is counted.

    Raises
    ------
    ValueError
        If a limit is below 1, or another policy is given.
    """

    spans_key: str | None = None
    max_tokens: int | None = None
    max_sentences: int = 1
    max_candidates: int = 10_000
    overlapping: str = "auto"
    same_text: str = "auto"

    def __post_init__(self) -> None:
        for name in ("max_tokens", "max_sentences", "max_candidates"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ValueError(f"{name} is {value}; give at least 1.")
        check_policies(**{kind: getattr(self, kind) for kind in KINDS})

    @property
    def dropped(self) -> tuple[str, ...]:
        """The kinds of candidates that are dropped whatever training says."""
        return tuple(kind for kind in KINDS if getattr(self, kind) == "drop")

    def entities(self, doc: Doc) -> tuple[Span, ...]:
        """The spans that may be arguments, in document order, longer ones first.

        Spans of equal offsets follow their label and id, not their place in the group.
        """
        if self.spans_key is None:
            spans = list(doc.ents)
        else:
            spans = list(doc.spans[self.spans_key]) if self.spans_key in doc.spans else []
        if all(a.start < b.start for a, b in pairwise(spans)):  # mostly; sorting costs more
            return tuple(spans)
        return tuple(sorted(spans, key=lambda s: (s.start, -s.end, s.label_, s.id_)))

    def near(
        self, doc: Doc, entities: Sequence[Span], skipped: Counter[str]
    ) -> Iterator[Sequence[int]]:
        """For each entity the rows of those behind it that are near.

        The other pairs are counted in `skipped`, as ``cross_sentence`` or ``max_tokens``.
        """
        numbers = _sentence_numbers(doc)
        starts = [span.start for span in entities]
        first = [numbers[start] for start in starts]  # starts rise, so these do
        last = [numbers[span.end - 1] for span in entities]
        crossing = [j for j in range(len(entities)) if first[j] < last[j]]
        for i, entity in enumerate(entities):
            limit = first[i] + self.max_sentences - 1
            reach = bisect_right(first, limit) if last[i] <= limit else i + 1
            over = {j for j in crossing if i < j < reach and last[j] > limit}
            skipped["cross_sentence"] += len(entities) - reach + len(over)
            stop = reach
            if self.max_tokens is not None:
                stop = bisect_right(starts, entity.end + self.max_tokens, i + 1, reach)
                skipped["max_tokens"] += reach - stop - sum(j >= stop for j in over)
            rows = range(i + 1, stop)
            yield [j for j in rows if j not in over] if over else rows


def _sentence_numbers(doc: Doc) -> Sequence[int]:
    """Number of the sentence of each token; all 0 where no sentence is known."""
    if not doc.has_annotation("SENT_START"):
        return [0] * len(doc)
    numbers: list[int] = np.cumsum(doc.to_array("SENT_START") == 1).tolist()
    return numbers
