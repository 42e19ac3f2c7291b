"""Hamming distances between packed codes, and the nearest of many: compiled and serial.

What a code is near to is kept as one number, the distance times 2**32 plus the row:
so the nearest comes first, and of equally near ones that with the lower row.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import intrinsic, overload
from numpy.typing import NDArray

from ..compiled import compiled
from ..structures import Int32, Int64

Uint64 = NDArray[np.uint64]

BLOCK_BYTES = 2**14  # of codes that stay in the first cache while all queries pass
NONE = np.int64(2**63 - 1)  # farther than any
SHIFT = np.int64(32)


def count_ones(word: int) -> int:
    """Number of bits that are 1; compiled, the processor's own instruction if it has one."""
    return int(word).bit_count()


@intrinsic
def _ctpop(_: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


@overload(count_ones)
def _compiled_count_ones(word: Any) -> Any:
    def count(word: Any) -> Any:
        return _ctpop(word)  # type: ignore[call-arg]

    return count


class Nearest(NamedTuple):
    """The nearest codes of each of `n` codes, those in the lower row first if equally near.

    Parameters
    ----------
    rows : int64 array (n, k)
        -1 where there are no more.
    distances : int64 array (n, k)
        Differing bits.
    """

    rows: Int64
    distances: Int64

    @classmethod
    def of(cls, numbers: Int64) -> Nearest:
        """What `scan` and `look_up` give, taken apart."""
        rows = np.where(numbers == NONE, -1, numbers & (2**SHIFT - 1))
        return cls(rows, numbers >> SHIFT)


@compiled
def all_distances(x: Uint64, y: Uint64) -> Int32:
    """Differing bits of every code of `x` and every one of `y`, int32 (len x, len y)."""
    out = np.empty((len(x), len(y)), np.int32)
    for i in range(len(x)):
        for j in range(len(y)):
            out[i, j] = _distance(x[i], y[j])
    return out


@compiled
def scan(x: Uint64, y: Uint64, k: int) -> Int64:
    """The `k` nearest of `y` for each code of `x`.

    Returns
    -------
    int64 array (len x, k)
        Distances times 2**32 plus rows, rising; `NONE` where `y` has no more.
    """
    best = np.full((len(x), k), NONE, np.int64)
    block = max(1, BLOCK_BYTES // (8 * max(1, x.shape[1])))
    for start in range(0, len(y), block):
        for i in range(len(x)):
            _keep_nearest(best[i], x[i], y, start, min(start + block, len(y)))
    return best


@compiled
def look_up(
    x: Uint64, y: Uint64, members: Int32, starts: Int64, ends: Int64, k: int, least: int
) -> Int64:
    """The `k` nearest of `y` that share a bucket with each code of `x`.

    Parameters
    ----------
    x, y : uint64 arrays (n, width), (m, width)
    members : int32 array (n_tables, m)
        Rows of `y`, those of one bucket side by side.
    starts, ends : int64 arrays (n_tables, n)
        The bucket of each code of `x` is ``members[t, starts[t, i]:ends[t, i]]``.
    k : int
    least : int
        Where fewer share a bucket, the nearest of all are looked for.

    Returns
    -------
    int64 array (n, k)
        As of `scan`.
    """
    best = np.full((len(x), k), NONE, np.int64)
    seen = np.full(len(y), -1, np.int64)
    for i in range(len(x)):
        n_found = 0
        for t in range(len(members)):
            for place in range(starts[t, i], ends[t, i]):
                row = members[t, place]
                if seen[row] != i:
                    seen[row] = i
                    n_found += 1
                    _keep_nearest(best[i], x[i], y, row, row + 1)
        if n_found < least:
            best[i] = NONE
            _keep_nearest(best[i], x[i], y, 0, len(y))
    return best


@compiled
def _keep_nearest(best: Int64, code: Uint64, y: Uint64, start: int, end: int) -> None:
    """Put those of ``y[start:end]`` that are nearer than the last of `best` in their places."""
    for row in range(start, end):
        number = (np.int64(_distance(code, y[row])) << SHIFT) + np.int64(row)
        place = len(best) - 1
        if number < best[place]:
            while place > 0 and best[place - 1] > number:
                best[place] = best[place - 1]
                place -= 1
            best[place] = number


@compiled
def _distance(x: Uint64, y: Uint64) -> np.int64:
    total = np.uint64(0)
    for k in range(len(x)):
        total += count_ones(x[k] ^ y[k])
    return np.int64(total)
