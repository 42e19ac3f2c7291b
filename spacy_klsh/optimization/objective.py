"""What is asked of a measure of codes that is to be raised."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from ..structures import Int64
from .total_correlation import Bits, Float64

UNLABELLED = -1


def drawn_rows(rng: np.random.Generator, y: Int64, n: int) -> Int64:
    """Rows to estimate a measure on, rising: `n` with a label, and as many without, if there are.

    Parameters
    ----------
    y : int64 array
        Label ids of all structures, -1: none is known.
    """
    groups = (np.flatnonzero(y != UNLABELLED), np.flatnonzero(y == UNLABELLED))
    parts = [rows[rng.permutation(len(rows))[:n]] for rows in groups if len(rows)]
    return np.sort(np.concatenate(parts))


class Held(Protocol):
    """A measure of the codes of some candidates, ready for other values of some of their bits."""

    @property
    def value(self) -> float:
        """Of the codes as they are."""

    def values(self, bits: Bits) -> Float64:
        """With each choice in the place of the bits that change, float64 (n_choices,).

        Parameters
        ----------
        bits : uint8 array (n_choices, n_changing, n)
        """


class Objective(Protocol):
    """A measure of what codes tell about labels."""

    @property
    def temperature(self) -> float:
        """Differences that a random walk takes lightly."""

    def __call__(self, bits: Bits, y: Int64) -> float:
        """Its value.

        Parameters
        ----------
        bits : uint8 array (n, n_bits)
        y : int64 array (n,)
            Label ids; -1: none is known.
        """

    def hold(self, bits: Bits, y: Int64, changing: Int64, start: Any = None) -> Held:
        """The measure of these codes, of which the bits `changing` may become others.

        Parameters
        ----------
        bits, y
            As above.
        changing : int64 array (n_changing,)
        start : Held, optional
            Of about the same bits of other candidates, if there is one.
        """
