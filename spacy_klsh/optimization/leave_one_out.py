"""How well a linear model foretells the label of a candidate that it has not seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..structures import Float32, Int64
from .objective import UNLABELLED
from .total_correlation import Bits, Float64


@dataclass(frozen=True, kw_only=True)
class LeaveOneOut:
    """Share of the variance of labels that ridge regression on the bits foretells.

    .. code-block:: text

        K = X X' / n_bits,   A = (K + penalty I)^-1,   e_i = (A t)_i / A_ii
        R² = 1 - sum e² / sum t²

    with X the bits as 1 and -1 and t a column for each label, both less their means; e_i is the
    error of the model that was trained without candidate i. R² is 1 at best, about 0 where codes
    tell nothing and below where they mislead. Candidates without a label do not count.

    With other values of k bits A changes by a matrix of rank 2k, so that this measure, unlike
    `information.MutualInformation`, is exact for every choice.

    Parameters
    ----------
    penalty : float > 0
        For comparison: K_ii is at most 1.
    temperature : float > 0
        Differences that a random walk takes lightly.

    References
    ----------
    Allen 1974, *The relationship between variable selection and data augmentation and a method
    for prediction* (the errors without refitting).
    """

    penalty: float = 10.0
    temperature: float = 0.0005

    def __call__(self, bits: Bits, y: Int64) -> float:
        """R² of ridge regression with each candidate left out.

        Parameters
        ----------
        bits : uint8 array (n, n_bits)
        y : int64 array (n,)
            Label ids; -1: none is known.
        """
        return self.hold(bits, y, np.zeros(0, np.int64)).value

    def hold(self, bits: Bits, y: Int64, changing: Int64, start: Any = None) -> HeldRegression:
        """The measure of these codes, of which the bits `changing` may become others."""
        rows = np.flatnonzero(y != UNLABELLED)
        labels, of_row = np.unique(y[rows], return_inverse=True)
        targets = np.eye(len(labels))[of_row]
        targets -= targets.mean(axis=0) if len(rows) else 0.0
        scale = 1 / np.sqrt(max(bits.shape[1], 1))
        known = np.ascontiguousarray(bits[rows].T)
        stay = np.delete(known, changing, axis=0)
        x = _centred(stay, scale).astype(np.float64)
        inverse = np.linalg.inv(x.T @ x + self.penalty * np.eye(len(rows)))
        return HeldRegression(
            rows, targets, np.asarray(inverse, np.float64), scale, known[changing]
        )


class HeldRegression:
    """Ridge regression on the bits that stay, ready for others beside them.

    Parameters
    ----------
    rows : int64 array (n_labelled,)
        Candidates with a label.
    targets : float64 array (n_labelled, n_labels)
    inverse : float64 array (n_labelled, n_labelled)
        A of the bits that stay.
    scale : float
        What a bit counts, ``n_bits ** -0.5``.
    present : uint8 array (n_changing, n_labelled)
        The others as they are.
    """

    def __init__(
        self, rows: Int64, targets: Float64, inverse: Float64, scale: float, present: Bits
    ) -> None:
        self._rows, self._scale = rows, scale
        self._targets = targets.astype(np.float32)
        self._inverse = inverse.astype(np.float32)
        self._weights = (inverse @ targets).astype(np.float32)
        self._variance = float((targets**2).sum())
        self.value = float(self._of(present[None])[0])

    def values(self, bits: Bits) -> Float64:
        """R² with each choice, float64 (n_choices,).

        Parameters
        ----------
        bits : uint8 array (n_choices, n_changing, n)
        """
        return self._of(bits[:, :, self._rows])

    def _of(self, bits: Bits) -> Float64:
        """Woodbury's formula for all choices at once: A less W W'."""
        n_choices, n_changing, n = bits.shape
        if not self._variance:
            return np.zeros(n_choices)  # nothing to foretell
        x = _centred(bits, self._scale)
        solved = (x.reshape(-1, n) @ self._inverse).reshape(x.shape)
        inner = np.eye(n_changing, dtype=np.float32) + x @ solved.transpose(0, 2, 1)
        lower = np.linalg.inv(np.linalg.cholesky(inner))
        w = lower @ solved  # W', (n_choices, n_changing, n)
        weights = self._weights - w.transpose(0, 2, 1) @ (w @ self._targets)
        diagonal = np.diag(self._inverse) - np.einsum("cbn,cbn->cn", w, w)
        errors = weights / diagonal[:, :, None]
        values: Float64 = 1 - (errors.astype(np.float64) ** 2).sum(axis=(1, 2)) / self._variance
        return values


def _centred(bits: Bits, scale: float) -> Float32:
    """Bits as `scale` and -`scale`, less the mean of each; the last axis is that of candidates."""
    centred: Float32 = bits.astype(np.float32)
    centred -= centred.sum(axis=-1, keepdims=True) / max(bits.shape[-1], 1)
    centred *= np.float32(2 * scale)
    return centred
