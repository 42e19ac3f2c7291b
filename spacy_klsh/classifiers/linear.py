"""Many linear models in flat arrays, each on a few packed bits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..compiled import compiled
from ..hashing.codes import Uint64
from ..structures import Float32, Int32, Int64

NEVER = np.float32(-1e30)


@dataclass(frozen=True, slots=True, eq=False)
class LinearMembers:
    """Linear models; a probability is the mean of the softmax of their scores.

    Parameters
    ----------
    subspaces : int32 array (n_members, n_own)
        Bits that a member sees.
    weights : float32 array (n_members, n_labels, n_own)
        What a 1 adds to the score of a label.
    intercepts : float32 array (n_members, n_labels)
        Scores of no 1; `NEVER` for a label that a member did not learn.
    """

    KINDS: ClassVar = {
        "subspaces": "int32 2d",
        "weights": "float32 3d",
        "intercepts": "float32 2d",
    }

    subspaces: Int32
    weights: Float32
    intercepts: Float32

    @classmethod
    def of_scikit_learn(
        cls, members: Sequence[Any], subspaces: Sequence[Int64], n_labels: int
    ) -> LinearMembers:
        """Fitted models with `coef_` and `intercept_`; two labels may share one row of these."""
        weights = np.zeros((len(members), n_labels, len(subspaces[0])), np.float32)
        intercepts = np.full((len(members), n_labels), NEVER)
        for r, member in enumerate(members):
            learned = member.classes_.astype(int)
            intercepts[r, learned] = 0
            scored = learned[-len(member.coef_) :]
            weights[r, scored], intercepts[r, scored] = member.coef_, member.intercept_
        return cls(np.array(subspaces, np.int32), weights, intercepts)

    def predict_proba(self, words: Uint64) -> Float32:
        """Probabilities, float32 (n, n_labels)."""
        return _mean_softmax(words, self.subspaces, self.weights, self.intercepts)

    def among(self, labels: Int64, n_labels: int) -> LinearMembers:
        """The same for `n_labels` labels, of which `labels` were learned."""
        n_members, _, n_own = self.weights.shape
        weights = np.zeros((n_members, n_labels, n_own), np.float32)
        intercepts = np.full((n_members, n_labels), NEVER)
        weights[:, labels], intercepts[:, labels] = self.weights, self.intercepts
        return LinearMembers(self.subspaces, weights, intercepts)

    def __len__(self) -> int:
        return len(self.subspaces)

    @property
    def n_labels(self) -> int:
        """Labels that are told apart."""
        return int(self.intercepts.shape[1])

    def fits(self, n_bits: int) -> bool:
        """Whether the arrays agree, are finite and look at `n_bits` bits alone."""
        n_members, n_own = self.subspaces.shape
        n_labels = self.intercepts.shape[1]
        return bool(
            self.weights.shape == (n_members, n_labels, n_own)
            and self.intercepts.shape == (n_members, n_labels)
            and n_labels > 0
            and ((self.subspaces >= 0) & (self.subspaces < n_bits)).all()
            and np.isfinite(self.weights).all()
            and np.isfinite(self.intercepts).all()
        )


@compiled
def _mean_softmax(
    words: Uint64, subspaces: Int32, weights: Float32, intercepts: Float32
) -> Float32:
    n, (n_members, n_labels, n_own) = len(words), weights.shape
    total, scores = np.zeros((n, n_labels), np.float64), np.empty(n_labels, np.float64)
    for r in range(n_members):
        for i in range(n):
            scores[:] = intercepts[r]
            for j in range(n_own):
                bit = np.uint64(subspaces[r, j])
                if (words[i, bit >> np.uint64(6)] >> (bit & np.uint64(63))) & np.uint64(1):
                    for k in range(n_labels):
                        scores[k] += weights[r, k, j]
            odds = np.exp(scores - scores.max())
            total[i] += odds / odds.sum()
    mean: Float32 = (total / n_members).astype(np.float32)
    return mean
