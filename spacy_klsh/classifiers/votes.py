"""Codes with the labels that candidates had in training, and how the nearest of them vote."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..compiled import compiled
from ..hashing.codes import Codes
from ..structures import Float32, Int32, Int64
from .encoded import Encoded
from .targets import checked_targets

Float64 = NDArray[np.float64]
Voters = tuple[Int64, Float64]
Weights = Literal["uniform", "distance"]
WEIGHTS = ("uniform", "distance")

CODE_ARRAYS = {"words": "uint64 2d", "n_bits": "int64 0d", "counts": "int32 2d"}


@dataclass(frozen=True, slots=True, eq=False)
class LabelledCodes:
    """The codes of distinct training candidates.

    Parameters
    ----------
    codes : Codes
    counts : int32 array (n, n_labels)
        How many training candidates of each label are equal to each of them.
    """

    codes: Codes
    counts: Int32

    @classmethod
    def count(
        cls, codes: Codes, places: Int64, y: NDArray[np.integer[Any]], n_labels: int | None
    ) -> LabelledCodes:
        """Of the distinct candidates, in the order in which they first come.

        Parameters
        ----------
        codes : Codes
            Of all `n` training candidates.
        places : int64 array (n,)
            Number of the distinct candidate that each is equal to, see `views.distinct`.
        y : int array (n,)
            Label ids, 0 for "no relation".
        n_labels : int, optional
            Default ``max(y) + 1``.

        Raises
        ------
        ValueError
            If `y` holds one label only, or labels outside ``0 .. n_labels - 1``.
        """
        _, n_labels = checked_targets(y, n_labels)
        _, first = np.unique(places, return_index=True)
        counts = np.zeros((len(first), n_labels), np.int32)
        np.add.at(counts, (places, y), 1)
        return cls(codes[first], counts)

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def n_labels(self) -> int:
        """Columns of `counts`."""
        return int(self.counts.shape[1])

    def check_width(self, codes: Codes) -> None:
        """Refuse codes of another number of bits."""
        if codes.n_bits != self.codes.n_bits:
            raise ValueError(
                f"codes have {codes.n_bits} bits but training had {self.codes.n_bits}; use the "
                "hashing that this classifier was trained with."
            )

    def vote(self, rows: Int64, weights: Float64, k: int, smoothing: float) -> Float32:
        """Probabilities of the labels by the nearest `k` training candidates.

        Equal candidates share what is left of the `k` votes, as nothing tells them apart.

        Parameters
        ----------
        rows : int64 array (n, m)
            The nearest of these codes first; -1 where there are no more.
        weights : float64 array (n, m)
            Of one vote of each.
        k : int
        smoothing : float
            Votes for the labels in the shares that they have in training.

        Returns
        -------
        float32 array (n, n_labels)
        """
        prior = smoothing * self.counts.sum(axis=0) / self.counts.sum()
        return _shares(rows, weights, self.counts, k, prior)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays that `restore` takes."""
        n_bits = np.array(self.codes.n_bits, np.int64)
        return {"words": self.codes.words, "n_bits": n_bits, "counts": self.counts}

    @classmethod
    def restore(cls, arrays: Mapping[str, NDArray[Any]]) -> LabelledCodes:
        """What was taken apart by `arrays`; others may stand among them.

        Raises
        ------
        ValueError
            If one is missing, or they do not fit together.
        """
        words, n_bits, counts = (np.asarray(arrays.get(name), order="C") for name in CODE_ARRAYS)
        found = [f"{array.dtype} {array.ndim}d" for array in (words, n_bits, counts)]
        if (
            found != list(CODE_ARRAYS.values())
            or len(words) != len(counts)
            or not _are_counts(counts)
        ):
            raise ValueError(
                f"the stored codes are {found}, but {CODE_ARRAYS} with as many rows, and a count "
                "above 0 and none below for every code, are expected; the file is damaged, train "
                "again."
            )
        try:
            return cls(Codes(words, int(n_bits)), counts)
        except ValueError as error:
            raise ValueError(f"{error} The file is damaged, train again.") from error


class Voting:
    """A classifier whose stored candidates vote; which of them, `voters` says."""

    stored_: LabelledCodes
    k: int
    smoothing: float

    @property
    def widths_(self) -> tuple[int, int]:
        """Bits and features that it looks at."""
        return self.stored_.codes.n_bits, 0

    @property
    def n_labels_(self) -> int:
        """Columns of `predict_proba`."""
        return self.stored_.n_labels

    def voters(self, x: Encoded) -> Voters:
        """Rows of `stored_` near each candidate, the nearest first, and what a vote weighs."""
        raise NotImplementedError

    def voted(self, rows: Int64, weights: Float64) -> Float32:
        """Probabilities, float32 (n, n_labels), by the labels of these `voters`."""
        return self.stored_.vote(rows, weights, self.k, self.smoothing)

    def predict_proba(self, x: Encoded) -> Float32:
        """Probabilities, float32 (n, n_labels); column 0 is "no relation"."""
        return self.voted(*self.voters(x))


def _are_counts(counts: Int32) -> bool:
    """Whether every code stands for candidates, and none for less than none."""
    return len(counts) > 0 and bool((counts >= 0).all() and counts.any(axis=1).all())


def check_voting(k: int, weights: str, smoothing: float) -> None:
    """Refuse settings of a vote that make no sense."""
    if k < 1 or not 0 < smoothing < np.inf or weights not in WEIGHTS:
        raise ValueError(
            f"k = {k}, weights = {weights!r}, smoothing = {smoothing}: use at least 1 vote, "
            f"{' or '.join(WEIGHTS)}, and finite smoothing above 0."
        )


def check_fitted(classifier: Any) -> None:
    """Refuse a classifier that has no `stored_` codes yet."""
    if not hasattr(classifier, "stored_"):
        raise ValueError(
            "this classifier has no stored candidates, some are expected; call fit() first."
        )


@compiled
def _shares(rows: Int64, weights: Float64, counts: Int32, k: int, prior: Float64) -> Float32:
    """Shares of the labels in the votes, which begin with those of `prior`."""
    n_labels = len(prior)
    out = np.empty((len(rows), n_labels), np.float32)
    for i in range(len(rows)):
        votes, left = prior.copy(), np.int64(k)
        for j in range(rows.shape[1]):
            row = rows[i, j]
            if row < 0 or left <= 0:
                break
            size = np.int64(0)
            for label in range(n_labels):
                size += counts[row, label]
            weight = weights[i, j] * min(left, size) / size
            for label in range(n_labels):
                votes[label] += weight * counts[row, label]
            left -= size
        out[i] = votes / votes.sum()
    return out
