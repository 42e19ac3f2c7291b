"""What a classifier sees of its candidates."""

from __future__ import annotations

from dataclasses import dataclass

from ..hashing.codes import Codes
from ..structures import Index, Views, take


@dataclass(frozen=True, slots=True, eq=False)
class Encoded:
    """Codes of `n` candidates, optional feature bits beside them, and their views."""

    codes: Codes
    features: Codes | None
    views: Views

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, index: Index) -> Encoded:
        features = None if self.features is None else self.features[index]
        return Encoded(self.codes[index], features, take(self.views, index))
