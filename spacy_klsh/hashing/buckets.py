"""Buckets of codes: those that agree in a few bits are looked at, not all of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..structures import Int32
from .codes import Codes
from .hamming import Nearest, look_up


class Buckets:
    """Stored codes, in each of several tables parted by a few of their bits.

    Parameters
    ----------
    codes : Codes
    bits : int32 array (n_tables, bits_per_table)
        Bits by whose values each table parts the codes, at most 32.

    References
    ----------
    Garg et al. 2019, section 2.1 ("bucket"); Indyk & Motwani 1998.
    """

    def __init__(self, codes: Codes, bits: Int32) -> None:
        self.codes = codes
        self.bits = bits
        keys = _keys(codes, bits)
        members = np.argsort(keys, axis=1, kind="stable")
        self._keys = np.take_along_axis(keys, members, axis=1)
        self._members = members.astype(np.int32)

    def nearest(self, codes: Codes, k: int, *, least: int) -> Nearest:
        """The nearest `k` stored ones that share a bucket with each of `codes`.

        Where fewer than `least` share one, the nearest `k` of all.
        """
        keys = _keys(codes, self.bits)
        starts, ends = (
            np.array([np.searchsorted(*pair, side) for pair in zip(self._keys, keys, strict=True)])
            for side in ("left", "right")
        )
        words, stored = codes.words, self.codes.words
        return Nearest.of(look_up(words, stored, self._members, starts, ends, k, least))


def _keys(codes: Codes, bits: Int32) -> NDArray[np.uint32]:
    """Values of the chosen bits of each code, read as numbers, uint32 (n_tables, n)."""
    keys = np.zeros((len(bits), len(codes)), np.uint32)
    for table, chosen in zip(keys, bits, strict=True):
        for place, bit in enumerate(chosen.tolist()):
            value = codes.words[:, bit // 64] >> np.uint64(bit % 64) & np.uint64(1)
            table |= (value << np.uint64(place)).astype(np.uint32)
    return keys
