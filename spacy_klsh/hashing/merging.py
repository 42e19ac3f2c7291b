"""Columns of sparse rows that come in several parts: sorted, each once."""

from __future__ import annotations

import numpy as np

from ..compiled import compiled
from ..structures import Int32, Int64


@compiled
def _sorted(row: Int32, spare: Int32) -> Int32:
    """The numbers of `row`, below 2**24, in their order, digit by digit; both are written."""
    counts = np.empty(256, np.int64)
    for shift in (0, 8, 16):
        counts[:] = 0
        for column in row:
            counts[(column >> shift) & 255] += 1
        end = 0
        for digit in range(256):
            n = counts[digit]
            counts[digit] = end
            end += n
        for column in row:
            digit = (column >> shift) & 255
            spare[counts[digit]] = column
            counts[digit] += 1
        row, spare = spare, row
    return row


@compiled
def merge_rows(columns: Int32, starts: Int64) -> tuple[Int32, Int64]:
    """The columns of each row from all parts, sorted, each once.

    Row i owns ``columns[starts[p, i]:starts[p, i + 1]]`` of every part p.
    """
    n_parts, n = starts.shape[0], starts.shape[1] - 1
    out, offsets = np.empty(len(columns), np.int32), np.zeros(n + 1, np.int64)
    longest = 0
    for i in range(n):
        longest = max(longest, (starts[:, i + 1] - starts[:, i]).sum())
    every, spare = np.empty(longest, np.int32), np.empty(longest, np.int32)
    end = 0
    for i in range(n):
        size = 0
        for part in range(n_parts):
            for k in range(starts[part, i], starts[part, i + 1]):
                every[size] = columns[k]
                size += 1
        row = _sorted(every[:size], spare[:size])
        for k in range(len(row)):
            if k == 0 or row[k] != row[k - 1]:
                out[end] = row[k]
                end += 1
        offsets[i + 1] = end
    return out[:end].copy(), offsets
