"""Symbols as plain arrays: their UTF-8 bytes, and where each of them begins."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray


def pack_symbols(symbols: Sequence[str]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """All bytes, uint8 (n_bytes,), and offsets, int64 (n + 1,)."""
    encoded = [symbol.encode() for symbol in symbols]
    content = np.frombuffer(b"".join(encoded), np.uint8)
    return content, np.cumsum([0, *map(len, encoded)], dtype=np.int64)


def unpack_symbols(content: NDArray[Any], offsets: NDArray[Any]) -> tuple[str, ...]:
    """The symbols that `pack_symbols` packed.

    Raises
    ------
    ValueError
        If the arrays do not fit together, or a symbol is not UTF-8.
    """
    kinds = [f"{array.dtype} {array.ndim}d" for array in (content, offsets)]
    if kinds != ["uint8 1d", "int64 1d"]:
        raise ValueError(f"symbols and their offsets are {kinds}, not uint8 1d and int64 1d")
    if (
        len(offsets) == 0
        or (offsets[0], offsets[-1]) != (0, len(content))
        or (np.diff(offsets) < 0).any()
    ):
        raise ValueError(f"offsets of symbols do not rise from 0 to {len(content)}")
    raw = content.tobytes()
    return tuple(raw[a:b].decode() for a, b in pairwise(offsets.tolist()))
