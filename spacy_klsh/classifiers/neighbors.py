"""Nearest labelled codes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..hashing.faiss_index import FaissIndex
from .encoded import Encoded
from .votes import CODE_ARRAYS, LabelledCodes, Voters, Voting, Weights, check_fitted, check_voting

Index = Literal["scan", "faiss"]
INDEXES = ("scan", "faiss")


class HammingNeighbors(Voting):
    """Votes of the `k` training candidates whose codes differ in the fewest bits.

    Of equally near ones those that came first in training vote; candidates with equal
    codes share what is left of the `k` votes.

    Parameters
    ----------
    k : int
    weights : {"uniform", "distance"}
        Of a vote: 1, or 1 / (1 + differing bits).
    index : {"scan", "faiss"}
        What searches: a scan of all stored codes, or faiss, with the same answers.
    smoothing : float
        Votes for the labels in their shares in training, whatever is near.
    seed : int
        Not used, as nothing is drawn at random.

    Attributes
    ----------
    stored_ : LabelledCodes
        The distinct codes of training.
    """

    def __init__(
        self,
        *,
        k: int = 30,
        weights: Weights = "uniform",
        index: Index = "scan",
        smoothing: float = 1.0,
        seed: int = 0,
    ) -> None:
        check_voting(k, weights, smoothing)
        if index not in INDEXES:
            raise ValueError(f"index is {index!r}; choose one of {', '.join(INDEXES)}.")
        self.k = k
        self.weights = weights
        self.index = index
        self.smoothing = smoothing
        self.seed = seed

    def fit(
        self, x: Encoded, y: NDArray[np.integer[Any]], n_labels: int | None = None
    ) -> HammingNeighbors:
        """Store the distinct codes of `x` and how often each has which label.

        Parameters
        ----------
        x : Encoded
        y : int array (n,)
            Label ids, 0 for "no relation".
        n_labels : int, optional
            Columns of `predict_proba`; default ``max(y) + 1``.

        Raises
        ------
        ValueError
            If `y` holds one label only, or labels outside ``0 .. n_labels - 1``.
        """
        places: dict[bytes, int] = {}
        rows = [places.setdefault(words.tobytes(), len(places)) for words in x.codes.words]
        return self._store(LabelledCodes.count(x.codes, np.array(rows), y, n_labels))

    def _store(self, stored: LabelledCodes) -> HammingNeighbors:
        self._faiss = FaissIndex(stored.codes) if self.index == "faiss" else None
        self.stored_ = stored
        return self

    def voters(self, x: Encoded) -> Voters:
        """Rows of `stored_` near each candidate, the nearest first, and what a vote weighs."""
        check_fitted(self)
        self.stored_.check_width(x.codes)
        codes, k = self.stored_.codes, min(self.k, len(self.stored_))
        near = x.codes.nearest(codes, k) if self._faiss is None else self._faiss.nearest(x.codes, k)
        distances = 0 * near.distances if self.weights == "uniform" else near.distances
        return near.rows, 1 / (1.0 + distances)

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that `predict_proba` needs, as arrays."""
        check_fitted(self)
        return self.stored_.arrays()

    def restore(self, state: Mapping[str, NDArray[Any]]) -> HammingNeighbors:
        """Take over the arrays of `state`.

        Raises
        ------
        ValueError
            If one is missing or added, or they do not fit together.
        """
        added = sorted(state.keys() - CODE_ARRAYS.keys())
        if added:
            raise ValueError(
                f"the stored neighbours have the arrays {added}, but {sorted(CODE_ARRAYS)} alone "
                "are expected; the file is damaged, train again."
            )
        return self._store(LabelledCodes.restore(state))
