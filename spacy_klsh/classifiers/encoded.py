"""What a classifier sees of its candidates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..compiled import compiled
from ..hashing.codes import Codes, Uint64
from ..hashing.features import Features
from ..kernels.kernel import Kernel
from ..structures import Index, Int32, Int64
from ..views import Views, take

Inputs = Literal["codes", "features", "both"]
INPUTS = ("codes", "features", "both")
MAX_WIDTH = 2**25  # bits and features of a file that is not damaged: arrays have a number for each


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

    def items(self, inputs: Inputs, widths: tuple[int, int] | None = None) -> Features:
        """The set bits of the codes, the features, or both, the bits first.

        Parameters
        ----------
        inputs : "codes", "features" or "both"
        widths : tuple of int, optional
            Bits and features that training looked at, see `looked_at`.

        Raises
        ------
        ValueError
            If there are no features, but `inputs` wants some, or there are other `widths`.
        """
        found = looked_at(inputs, self.widths)
        if widths is not None and found != widths:
            raise ValueError(
                f"candidates have {found} bits and features, but training had {widths} (0: not "
                "looked at); use the hashing and the features that this classifier was trained "
                "with."
            )
        if inputs == "codes":
            return bits_as_features(self.codes)
        if self.features is None:
            raise ValueError(
                f'inputs are "{inputs}", but the candidates have no features; add a features '
                'block to the component, or set inputs = "codes".'
            )
        if inputs == "features":
            return self.features
        return bits_as_features(self.codes, self.features)


def looked_at(inputs: Inputs, widths: tuple[int, int]) -> tuple[int, int]:
    """The same bits and features; 0 for what `inputs` leave out."""
    bits, features = widths
    return bits * (inputs != "features"), features * (inputs != "codes")


def are_widths(widths: Int64, inputs: Inputs) -> bool:
    """Whether a classifier with these `inputs` may have stored these numbers."""
    if widths.shape != (2,):
        return False
    bits, features = widths.tolist()
    return (
        min(bits, features) >= 0
        and bits + features <= MAX_WIDTH
        and looked_at(inputs, (bits, features)) == (bits, features)
    )


def bits_as_features(codes: Codes, behind: Features | None = None) -> Features:
    """The bits that are 1, and the features `behind` them, whose columns are counted on.

    Raises
    ------
    ValueError
        If there are not as many rows of features as codes.
    """
    if behind is None:
        behind = Features(np.zeros(0, np.int32), np.zeros(len(codes) + 1, np.int64), 0)
    if len(codes) != len(behind):
        raise ValueError(
            f"{len(behind)} rows of features cannot stand behind {len(codes)} codes; give as many."
        )
    columns, offsets = _set_columns(codes.words, codes.n_bits, behind.columns, behind.offsets)
    return Features(columns, offsets, codes.n_bits + behind.width)


@compiled
def _set_columns(
    words: Uint64, n_bits: int, behind: Int32, behind_offsets: Int64
) -> tuple[Int32, Int64]:
    """Numbers of the set bits of each row and then its columns `behind`; where rows begin."""
    columns = np.empty(len(words) * n_bits + len(behind) + 1, np.int32)
    offsets = np.zeros(len(words) + 1, np.int64)
    end, one = np.uint64(0), np.uint64(1)  # unsigned: numba tests no index for being negative
    for i in range(len(words)):
        for k in range(words.shape[1]):
            word = words[i, k]
            for bit in range(64):  # without a branch: what follows a bit that is 0 takes its place
                columns[end] = 64 * k + bit
                end += word & one
                word >>= one
        for column in behind[behind_offsets[i] : behind_offsets[i + 1]]:
            columns[end] = n_bits + column
            end += one
        offsets[i + 1] = end
    return columns[:end], offsets
