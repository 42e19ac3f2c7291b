"""What became of the documents of a run."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .texts import Reject

if TYPE_CHECKING:
    from .engine import Annotated


@dataclass
class Counts:
    """What became of documents: found, refused, left out."""

    documents: int = 0
    rejected: int = 0
    relations: int = 0
    words: int = 0
    skipped: Counter[str] = field(default_factory=Counter)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Counts:
        """Counts from what `to_json` made of them."""
        return cls(**{**data, "skipped": Counter(data["skipped"])})

    def add(self, result: Annotated | Reject) -> None:
        """Count one more document."""
        if isinstance(result, Reject):
            self.rejected += 1
            return
        self.documents += 1
        self.relations += len(result.record["relations"])
        self.words += result.words
        self.skipped.update(result.skipped)

    def to_json(self) -> dict[str, Any]:
        """The counts as JSON."""
        return {**vars(self), "skipped": dict(self.skipped)}

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            self.documents + other.documents,
            self.rejected + other.rejected,
            self.relations + other.relations,
            self.words + other.words,
            self.skipped + other.skipped,
        )
