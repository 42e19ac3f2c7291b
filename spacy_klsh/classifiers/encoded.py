"""What a classifier sees of its candidates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..hashing.codes import Codes
from ..hashing.features import Features
from ..kernels.kernel import Kernel
from ..structures import Index, Views, take

Inputs = Literal["codes", "features", "both"]
INPUTS = ("codes", "features", "both")


@dataclass(frozen=True, slots=True, eq=False)
class Encoded:
    """Codes of `n` candidates, optional sparse features beside them, and their views.

    The kernel is that of the codes, for classifiers that compare structures themselves.
    """

    codes: Codes
    features: Features | None
    views: Views
    kernel: Kernel | None = None

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, index: Index) -> Encoded:
        features = None if self.features is None else self.features[index]
        return Encoded(self.codes[index], features, take(self.views, index), self.kernel)

    @property
    def widths(self) -> tuple[int, int]:
        """Bits of a code, and features that a candidate may have; 0: there are none."""
        return self.codes.n_bits, 0 if self.features is None else self.features.width

    @property
    def compared(self) -> tuple[Kernel, Views]:
        """The kernel, and the views that it compares.

        Raises
        ------
        ValueError
            If there is no kernel, or no such view.
        """
        if self.kernel is None or not self.views.keys() >= set(self.kernel.views):
            raise ValueError(
                f"the candidates come with the views {list(self.views)} and the kernel "
                f"{self.kernel}, but a kernel and its views are needed to compare them; pass "
                "Encoded(codes, features, views, kernel)."
            )
        return self.kernel, {name: self.views[name] for name in self.kernel.views}

    def items(self, inputs: Inputs) -> Features:
        """The set bits of the codes, the features, or both, the bits first.

        Raises
        ------
        ValueError
            If there are no features, but `inputs` wants some.
        """
        if inputs == "codes":
            return bits_as_features(self.codes)
        if self.features is None:
            raise ValueError(
                f'inputs are "{inputs}", but the candidates have no features; add a features '
                'block to the component, or set inputs = "codes".'
            )
        if inputs == "features":
            return self.features
        return bits_as_features(self.codes).beside(self.features)


def bits_as_features(codes: Codes) -> Features:
    """The bits that are 1."""
    rows, columns = np.nonzero(codes.bits())
    offsets = np.searchsorted(rows, np.arange(len(codes) + 1)).astype(np.int64)
    return Features(columns.astype(np.int32), offsets, codes.n_bits)
