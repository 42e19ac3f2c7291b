"""How much codes tell about labels: entropies and mutual information, in nats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..structures import Float32, Int64
from .objective import UNLABELLED
from .total_correlation import Bits, Float64, Latents, fit_latents

WARM_ROUNDS = 40  # where CorEx goes on from latents of about the same bits


def bit_entropies(bits: Bits) -> Float64:
    """H(c_l) of each bit in nats, float64 (n_bits,).

    Parameters
    ----------
    bits : uint8 array (n, n_bits)
    """
    n = len(bits)
    ones = bits.sum(axis=0, dtype=np.float64)
    return _entropies(ones, n)


@dataclass(frozen=True, kw_only=True)
class MutualInformation:
    """An approximation of I(c:y), the mutual information of codes and labels.

    .. code-block:: text

        I(c:y) = H(c) - sum_y p(y) H(c|y),   H(c) = sum_l H(c_l) - TC(c; z)

    with few latent variables z; H(c|y) is the same among the candidates of one label. Candidates
    without a label count in H(c) alone. With all of TC(c) explained this is the empirical mutual
    information, between 0 and H(y); latents that leave a part of it out make it exceed both.

    Parameters
    ----------
    n_latents : int
        |z|; 0: bits count as independent, and I(c:y) is the sum of I(c_l:y) of single bits.
    rounds : int
        Of CorEx, at most.
    seed : int
        Of the random start of CorEx.
    temperature : float > 0
        Nats that a random walk takes lightly.

    References
    ----------
    Garg et al. 2019, section 3.1, equations 4 to 6.
    """

    n_latents: int = 16
    rounds: int = 400
    seed: int = 0
    temperature: float = 0.5

    def __call__(self, bits: Bits, y: Int64) -> float:
        """I(c:y) in nats.

        Parameters
        ----------
        bits : uint8 array (n, n_bits)
        y : int64 array (n,)
            Label ids; -1: none is known.
        """
        return self.hold(bits, y, np.zeros(0, np.int64)).value

    def hold(
        self, bits: Bits, y: Int64, changing: Int64, start: HeldInformation | None = None
    ) -> HeldInformation:
        """I(c:y) with its latents held, so that bits can be exchanged cheaply.

        Parameters
        ----------
        bits, y
            As above.
        changing : int64 array (n_changing,)
            The bits that may become others.
        start : HeldInformation, optional
            Of about the same bits of other candidates: CorEx goes on from there.
        """
        from joblib import Parallel, delayed

        known = {} if start is None else {part.label: part.latents for part in start.parts}
        labelled = y[y != UNLABELLED]
        labels, counts = np.unique(labelled, return_counts=True)
        of: list[tuple[int | None, float, NDArray[np.bool_]]] = [(None, 1.0, np.ones(len(y), bool))]
        for label, count in zip(labels.tolist(), counts.tolist(), strict=True):
            of.append((label, -count / len(labelled), y == label))
        parts = Parallel(require="sharedmem")(
            delayed(self._part)(*each, bits, known) for each in of
        )
        return HeldInformation(parts, np.ascontiguousarray(bits[:, changing].T))

    def _part(
        self,
        label: int | None,
        weight: float,
        rows: NDArray[np.bool_],
        bits: Bits,
        known: dict[int | None, Latents],
    ) -> Part:
        own, start = bits[rows], known.get(label)
        rounds = self.rounds if start is None else min(WARM_ROUNDS, self.rounds)
        latents = fit_latents(own, self.n_latents, seed=self.seed, rounds=rounds, start=start)
        value = float(bit_entropies(own).sum()) - latents.total_correlation
        return Part(label, weight, rows, latents, value)


class Part(NamedTuple):
    """One of the entropies of I(c:y).

    Parameters
    ----------
    label : int, optional
        Of the candidates; None: all of them, labelled or not.
    weight : float
        1 for H(c), -p(y) for H(c|y).
    rows : bool array (n,)
        Its candidates.
    latents : Latents
    entropy : float
        Nats.
    """

    label: int | None
    weight: float
    rows: NDArray[np.bool_]
    latents: Latents
    entropy: float


class HeldInformation:
    """I(c:y) with the latents held: then it is a sum over single bits, and a constant.

    A bit adds ``H(c_l) - sum_j alpha_jl I(c_l : z_j)`` to an entropy, with the alpha that it
    would have in the end.

    Parameters
    ----------
    parts : sequence of Part
        Of the same `n` candidates.
    present : uint8 array (n_changing, n)
        The bits that may become others, as they are.
    """

    def __init__(self, parts: Sequence[Part], present: Bits) -> None:
        self.parts = parts
        n, width = len(parts[0].rows), len(parts[0].latents.explained) + 1
        self._columns = np.zeros((n, len(parts), width), np.float32)
        for k, part in enumerate(parts):
            self._columns[part.rows, k, 0] = 1.0  # counts the candidates
            self._columns[part.rows, k, 1:] = part.latents.posterior
        self.value = sum(part.weight * part.entropy for part in parts)
        self._rest = self.value - float(self._added(present).sum())

    def values(self, bits: Bits) -> Float64:
        """I(c:y) with each choice, in nats, float64 (n_choices,).

        Parameters
        ----------
        bits : uint8 array (n_choices, n_changing, n)
        """
        added = self._added(bits.reshape(-1, bits.shape[2])).reshape(bits.shape[:2])
        return np.asarray(self._rest + added.sum(axis=1))

    def _added(self, bits: Bits) -> Float64:
        """What each bit, a row of `bits`, adds to I(c:y), float64 (n_bits,)."""
        n, *shape = self._columns.shape
        columns = self._columns.reshape(n, shape[0] * shape[1])
        counts = (bits.astype(np.float32) @ columns).reshape(len(bits), *shape)
        total = np.zeros(len(bits))
        for k, part in enumerate(self.parts):
            n_ones, soft = counts[:, k, 0].astype(np.float64), counts[:, k, 1:]
            entropies = _entropies(n_ones, int(part.rows.sum()))
            total += part.weight * (entropies - _explained(n_ones, soft, part, entropies))
        return total


def _explained(n_ones: Float64, soft: Float32, part: Part, entropies: Float64) -> Float64:
    """``sum_j alpha_jl I(c_l : z_j)`` of each bit, from soft counts of c_l = z_j = 1."""
    latents = part.latents
    if not soft.shape[1] or not part.rows.any():
        return np.zeros(len(soft))
    n, sums = np.float32(part.rows.sum()), latents.posterior.sum(axis=0).astype(np.float32)
    ones = n_ones.astype(np.float32)[:, None]
    cells = soft, ones - soft, sums - soft, n - ones - sums + soft
    joint = sum(_times_log(cell) for cell in cells)
    apart = _times_log(ones) + _times_log(n - ones) + _times_log(sums) + _times_log(n - sums)
    information = (joint - apart + _times_log(n)) / n
    ratios = np.zeros_like(information)
    np.divide(information, entropies[:, None], out=ratios, where=entropies[:, None] > 0)
    ratios -= ratios.max(axis=1, keepdims=True)
    alpha = np.exp(latents.sharpness().astype(np.float32) * ratios)
    explained: Float64 = (alpha * information).sum(axis=1, dtype=np.float64)
    return explained


def _entropies(ones: Float64, n: int) -> Float64:
    """Entropy of bits that `ones` of `n` candidates have."""
    if not n:
        return np.zeros_like(ones)
    shares = np.stack([ones, n - ones]) / n
    logs = np.log(shares, out=np.zeros_like(shares), where=shares > 0)
    entropies: Float64 = -(shares * logs).sum(axis=0)
    return entropies


def _times_log(values: Float32 | np.float32) -> Float32:
    """``x log x``, 0 at 0, and at what rounding put below."""
    inside = np.maximum(values, np.float32(1e-30))
    product: Float32 = inside * np.log(inside)
    return product
