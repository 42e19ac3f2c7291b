"""Hash codes: many bits for each candidate, packed 64 to a word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..structures import Index, Int32
from .hamming import Nearest, all_distances, scan
from .hamming import Uint64 as Uint64


@dataclass(frozen=True, slots=True, eq=False)
class Codes:
    """Packed codes of `n` candidates.

    Parameters
    ----------
    words : uint64 array (n, ceil(n_bits / 64)), C order
        Bit ``l`` of a code is bit ``l % 64`` of word ``l // 64``; unused bits are 0.
    n_bits : int

    Raises
    ------
    ValueError
        If `words` has another dtype, shape or order, or an unused bit is set.
    """

    words: Uint64
    n_bits: int

    def __post_init__(self) -> None:
        width = -(-self.n_bits // 64)
        words = self.words
        if words.dtype != np.uint64 or words.ndim != 2 or words.shape[1] != width:
            raise ValueError(
                f"words is {words.dtype} {words.shape}, but {self.n_bits} bits need uint64 "
                f"(n, {width}); build codes with Codes.pack()."
            )
        if not words.flags.c_contiguous:
            raise ValueError("words is not C-ordered; convert it with np.ascontiguousarray().")
        if self.n_bits % 64 and (words[:, -1] >> np.uint64(self.n_bits % 64)).any():
            raise ValueError(f"a bit beyond n_bits = {self.n_bits} is set; use Codes.pack().")

    @classmethod
    def pack(cls, bits: NDArray[np.uint8]) -> Codes:
        """Codes of a uint8 array (n, n_bits) of zeros and ones."""
        n, n_bits = bits.shape
        width = -(-n_bits // 64)
        padded = np.zeros((n, 64 * width), np.uint8)
        padded[:, :n_bits] = bits
        packed = np.packbits(padded, axis=1, bitorder="little")
        return cls(packed.view("<u8").astype(np.uint64).reshape(n, width), n_bits)

    @staticmethod
    def concat(parts: Sequence[Codes]) -> Codes:
        """The codes of all parts in order; they must have equally many bits."""
        if len({part.n_bits for part in parts}) != 1:
            raise ValueError(
                f"codes have {sorted({part.n_bits for part in parts})} bits; concat() needs at "
                "least one part and the same number in all."
            )
        return Codes(np.concatenate([part.words for part in parts]), parts[0].n_bits)

    def __len__(self) -> int:
        return len(self.words)

    @property
    def shape(self) -> tuple[int]:
        """``(n,)``: lets scikit-learn count and index codes."""
        return (len(self),)

    def __getitem__(self, index: Index) -> Codes:
        if isinstance(index, tuple):  # scikit-learn asks for x[(rows, ...)]
            index = index[0]
        rows = np.atleast_1d(np.arange(len(self))[index])
        return Codes(self.words[rows], self.n_bits)

    def bits(self) -> NDArray[np.uint8]:
        """Unpacked codes, uint8 (n, n_bits)."""
        little = self.words.astype("<u8").view(np.uint8)
        return np.unpackbits(little, axis=1, bitorder="little", count=self.n_bits)

    def hamming(self, other: Codes) -> Int32:
        """Number of differing bits, int32 (len self, len other)."""
        self._check_alike(other)
        return all_distances(self.words, other.words)

    def nearest(self, other: Codes, k: int) -> Nearest:
        """The `k` codes of `other` with the fewest differing bits, lower rows first if equal."""
        self._check_alike(other)
        return Nearest.of(scan(self.words, other.words, k))

    def _check_alike(self, other: Codes) -> None:
        if self.n_bits != other.n_bits:
            raise ValueError(
                f"codes have {self.n_bits} and {other.n_bits} bits; compare codes of one model."
            )
