"""Sparse binary features: few of many possible ones are set in each candidate."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..structures import Index, Int32, Int64
from ..views import Views


@dataclass(frozen=True, slots=True, eq=False)
class Features:
    """Rows of a binary matrix, each as the numbers of the columns that are 1.

    Parameters
    ----------
    columns : int32 array (n_set,)
        Row ``i`` owns ``columns[offsets[i]:offsets[i + 1]]``, which rise.
    offsets : int64 array (n + 1,)
        Starts at 0 and never falls.
    width : int
        Columns of the matrix.

    Raises
    ------
    ValueError
        If an array has another dtype or shape, a column is outside or a row does not rise.

    Examples
    --------
    >>> few = Features.from_sets([{3, 1}, set()], width=4)
    >>> few.columns.tolist(), few.dense().tolist()
    ([1, 3], [[0, 1, 0, 1], [0, 0, 0, 0]])
    """

    columns: Int32
    offsets: Int64
    width: int

    def __post_init__(self) -> None:
        columns, offsets = self.columns, self.offsets
        kinds = [f"{array.dtype} {array.ndim}d" for array in (columns, offsets)]
        if kinds != ["int32 1d", "int64 1d"]:
            raise ValueError(
                f"columns and offsets are {kinds}, but int32 1d and int64 1d are needed; build "
                "them with Features.from_sets()."
            )
        ends = (offsets[0], offsets[-1]) if len(offsets) else ()
        if ends != (0, len(columns)) or (offsets[1:] < offsets[:-1]).any():
            raise ValueError(
                f"offsets run from and to {ends}, but must rise from 0 to {len(columns)}, the "
                "number of columns; build them as a cumulative sum of lengths."
            )
        if len(columns) and not (columns.min() >= 0 and columns.max() < self.width):
            raise ValueError(
                f"columns are {columns.min()}..{columns.max()}, but there are {self.width}; set "
                "width."
            )
        rises = columns[1:] > columns[:-1]
        rises[offsets[(offsets > 0) & (offsets < len(columns))] - 1] = True  # from row to row
        if not rises.all():
            raise ValueError("the columns of a row do not rise; sort them, each once.")

    @classmethod
    def from_sets(cls, rows: Sequence[Collection[int]], width: int) -> Features:
        """Rows given as the set columns of each."""
        columns = [column for row in rows for column in sorted(set(row))]
        lengths = [len(set(row)) for row in rows]
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        return cls(np.array(columns, np.int32), offsets, width)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def shape(self) -> tuple[int]:
        """``(n,)``: lets scikit-learn count and index features."""
        return (len(self),)

    def __getitem__(self, index: Index) -> Features:
        """Chosen rows in the given order."""
        if isinstance(index, tuple):  # scikit-learn asks for x[(rows, ...)]
            index = index[0]
        chosen = np.atleast_1d(np.arange(len(self))[index])
        lengths = np.diff(self.offsets)[chosen]
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        places = np.repeat(self.offsets[chosen] - offsets[:-1], lengths) + np.arange(offsets[-1])
        return Features(self.columns[places], offsets, self.width)

    def dense(self) -> NDArray[np.uint8]:
        """The whole matrix, uint8 (n, width)."""
        out = np.zeros((len(self), self.width), np.uint8)
        out[np.repeat(np.arange(len(self)), np.diff(self.offsets)), self.columns] = 1
        return out

    def inverted(self) -> tuple[Int32, Int64]:
        """Numbers of the rows that have each column, and where the list of a column begins.

        Returns
        -------
        rows : int32 array (n_set,)
            Column ``j`` owns ``rows[starts[j]:starts[j + 1]]``, which rise.
        starts : int64 array (width + 1,)
        """
        rows = np.repeat(np.arange(len(self), dtype=np.int32), np.diff(self.offsets))
        counts = np.bincount(self.columns, minlength=self.width)
        starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        return rows[np.argsort(self.columns, kind="stable")], starts


class FeatureExtractor(Protocol):
    """Features of fixed width from views."""

    width: int

    def __call__(self, views: Views) -> Features:
        """Those of each candidate of `views`."""
