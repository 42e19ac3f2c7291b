"""Bits that an ensemble sees of a candidate: those of its code, and a choice of its features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..compiled import compiled
from ..hashing.codes import Uint64
from ..hashing.features import Features
from ..structures import Int32, Int64
from .encoded import Encoded, Inputs
from .growing import Float64


@dataclass(frozen=True, slots=True, eq=False)
class BitInputs:
    """The bits of the codes, and behind them one bit for each chosen feature.

    Parameters
    ----------
    n_bits : int
        Bits of a code; 0: codes are not looked at.
    width : int
        Features that a candidate may have; 0: they are not looked at.
    columns : int32 array (n_columns,)
        The chosen ones, which rise.
    """

    KINDS: ClassVar = {"n_bits": "int64 0d", "width": "int64 0d", "columns": "int32 1d"}

    n_bits: int
    width: int
    columns: Int32

    @classmethod
    def choose(cls, x: Encoded, y: Int64, inputs: Inputs, n_features: int) -> BitInputs:
        """The whole codes, and the `n_features` columns that tell most about the labels `y`.

        Raises
        ------
        ValueError
            If there are no features, but `inputs` wants some.
        """
        n_bits = 0 if inputs == "features" else x.codes.n_bits
        if inputs == "codes":
            return cls(n_bits, 0, np.zeros(0, np.int32))
        if x.features is None or not len(x.features.columns):
            raise ValueError(
                f'inputs are "{inputs}", but no training candidate has features; add a features '
                'block to the component, or set inputs = "codes".'
            )
        return cls(n_bits, x.features.width, most_informative(x.features, y, n_features))

    def __len__(self) -> int:
        return self.n_bits + len(self.columns)

    def words(self, x: Encoded) -> Uint64:
        """Packed bits, uint64 (n, ceil(len(self) / 64)).

        Raises
        ------
        ValueError
            If codes or features of `x` are not as wide as in training.
        """
        if self.n_bits and x.codes.n_bits != self.n_bits:
            raise ValueError(
                f"codes have {x.codes.n_bits} bits but training had {self.n_bits}; use the "
                "hashing that this classifier was trained with."
            )
        if not self.width:
            return x.codes.words
        if x.features is None or x.features.width != self.width:
            raise ValueError(
                f"candidates have {x.widths[1]} features but training had {self.width}; use the "
                "features block that this classifier was trained with."
            )
        words = np.zeros((len(x), -(-len(self) // 64)), np.uint64)
        if self.n_bits:
            words[:, : x.codes.words.shape[1]] = x.codes.words
        _set_bits(words, self.n_bits, self.columns, x.features.columns, x.features.offsets)
        return words

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Itself as arrays."""
        n_bits, width = np.array(self.n_bits, np.int64), np.array(self.width, np.int64)
        return {"n_bits": n_bits, "width": width, "columns": self.columns}

    def fits(self, inputs: Inputs) -> bool:
        """Whether this looks at `inputs`, and no column is outside."""
        looked_at = {"codes": (True, False), "features": (False, True), "both": (True, True)}
        ends = np.concatenate([[-1], self.columns, [self.width]])
        return (
            (self.n_bits > 0, self.width > 0) == looked_at[inputs]
            and bool((np.diff(ends) > 0).all())
            and (len(self.columns) > 0) == (self.width > 0)
        )


def most_informative(features: Features, y: Int64, n: int) -> Int32:
    """The `n` columns of most mutual information with the labels `y`, rising.

    Of equal ones the first are taken; columns that no row sets are never taken.
    """
    found, columns = np.unique(features.columns, return_inverse=True)
    n_labels = int(y.max()) + 1
    labels = np.repeat(y, np.diff(features.offsets))
    ones = np.bincount(columns * n_labels + labels, minlength=len(found) * n_labels)
    information = _information(ones.reshape(-1, n_labels), np.bincount(y))
    return np.sort(found[np.argsort(-information, kind="stable")[:n]])


def _information(ones: Int64, total: Int64) -> Float64:
    """Mutual information, nats: of being set and the label; `ones` by column and label."""
    n = total.sum()
    information = np.zeros(len(ones))
    for side in (ones, total - ones):
        expected = side.sum(axis=1, keepdims=True) * (total / n)
        ratio = np.divide(side, expected, out=np.ones(side.shape), where=side > 0)
        information += (side * np.log(ratio)).sum(axis=1) / n
    return information


@compiled
def _set_bits(words: Uint64, first: int, kept: Int32, columns: Int32, offsets: Int64) -> None:
    """Set bit ``first + k`` of the rows that have the feature ``kept[k]``."""
    for i in range(len(words)):
        for column in columns[offsets[i] : offsets[i + 1]]:
            k = np.searchsorted(kept, column)
            if k < len(kept) and kept[k] == column:
                bit = first + k
                words[i, bit >> 6] |= np.uint64(1) << np.uint64(bit & 63)
