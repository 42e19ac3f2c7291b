"""Probabilities of labels from outputs of linear classes, refreshed with every new output."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..structures import Float32, Int32
from .platt import Float64, fit_platt, platt

MEMORY = 4096
TINY = 1e-300

Labels = NDArray[np.integer[Any]]


@dataclass(frozen=True, slots=True, eq=False)
class Sigmoids:
    """A sigmoid for each class, and outputs for unseen candidates that it was fitted to.

    Class 0 is "any label", class ``k`` label ``k``; with a single label class 0 stands for it.

    Parameters
    ----------
    curves : float64 array (n_classes, 2)
        See `spacy_klsh.classifiers.platt`.
    outputs : float32 array (m, n_classes)
        The last ones, `MEMORY` at most.
    targets : int32 array (m,)
        Their label ids.
    """

    curves: Float64
    outputs: Float32
    targets: Int32

    @classmethod
    def of(cls, outputs: Float64, y: Labels, seed: int) -> Sigmoids:
        """Fitted to all `outputs`, float64 (n, n_classes); remembers some of them at random."""
        kept = np.random.default_rng(seed).permutation(len(y))[:MEMORY]
        remembered = outputs[kept].astype(np.float32), y[kept].astype(np.int32)
        return cls(_sigmoids(outputs, y), *remembered)

    def after(self, outputs: Float64, y: Labels) -> Sigmoids:
        """Fitted to the last `MEMORY` outputs, with these at the end."""
        last = np.concatenate([self.outputs, outputs.astype(np.float32)])[-MEMORY:]
        targets = np.concatenate([self.targets, y.astype(np.int32)])[-MEMORY:]
        return Sigmoids(_sigmoids(last, targets), last, targets)

    def forgotten(self) -> Sigmoids:
        """The same curves, nothing remembered."""
        return Sigmoids(self.curves, self.outputs[:0], self.targets[:0])

    def probabilities(self, outputs: Float64) -> Float32:
        """Probabilities of labels, float32 (n, n_labels); a row sums to 1.

        Label 0 has what the sigmoid of class 0 leaves, before the row is scaled.
        """
        columns = zip(np.ascontiguousarray(outputs.T), self.curves, strict=True)
        related, *rows = (platt(column, a, b) for column, (a, b) in columns)
        labels = [np.maximum(row, TINY) for row in (1 - related, *(rows or [related]))]
        total = np.zeros(len(outputs))
        for row in labels:
            total += row
        return np.stack([row / total for row in labels], axis=1).astype(np.float32)

    def is_sound(self, n_classes: int) -> bool:
        """Whether shapes agree, labels exist and numbers are finite."""
        return bool(
            self.curves.shape == (n_classes, 2)
            and self.outputs.shape == (len(self.targets), n_classes)
            and len(self.targets) <= MEMORY
            and ((self.targets >= 0) & (self.targets < max(2, n_classes))).all()
            and np.isfinite(self.curves).all()
            and np.isfinite(self.outputs).all()
        )


def belongs(y: Labels, n_classes: int) -> NDArray[np.bool_]:
    """Which candidates belong to each class, bool (n, n_classes)."""
    found: NDArray[np.bool_] = y[:, None] == np.arange(n_classes)
    found[:, 0] = y > 0
    return found


def _sigmoids(outputs: NDArray[np.floating[Any]], y: Labels) -> Float64:
    columns = zip(outputs.T.astype(np.float64), belongs(y, outputs.shape[1]).T, strict=True)
    return np.array([fit_platt(column, true) for column, true in columns])
