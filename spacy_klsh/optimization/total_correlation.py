"""Total correlation of bits, as far as a few latent binary variables explain it (CorEx)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Float64 = NDArray[np.float64]
Bits = NDArray[np.uint8]

SMOOTHING = 0.001
LEARNING_RATE = 0.3  # of alpha
SHARPNESS = 500.0  # how sure a latent with much to explain is of its bits
WINDOW = 5  # rounds whose mean is compared with that of as many before
TOLERANCE = 1e-6  # nats


@dataclass(frozen=True, eq=False)
class Latents:
    """Binary variables z_j that explain bits c_l of `n` candidates.

    Parameters
    ----------
    alpha : float64 array (n_latents, n_bits)
        How far latent j explains bit l.
    prior : float64 array (n_latents,)
        p(z_j = 1).
    given : float64 array (2, n_latents, n_bits)
        p(z_j = 1 | c_l = 0), then given c_l = 1.
    posterior : float64 array (n, n_latents)
        p(z_j = 1 | c) of each candidate.
    explained : float64 array (n_latents,)
        TC_j in nats.
    """

    alpha: Float64
    prior: Float64
    given: Float64
    posterior: Float64
    explained: Float64

    @property
    def total_correlation(self) -> float:
        """TC(c; z) in nats."""
        return float(self.explained.sum())

    def of(self, bits: Bits) -> Latents:
        """The same variables of other candidates: only `posterior` and `explained` differ."""
        posterior, explained = _posterior(bits, self.alpha, self.prior, self.given)
        return Latents(self.alpha, self.prior, self.given, posterior, explained)

    def sharpness(self) -> Float64:
        """How strictly a bit belongs to the latent that tells most about it, (n_latents,)."""
        return 1 + SHARPNESS * np.abs(self.explained)


def fit_latents(
    bits: Bits,
    n_latents: int,
    *,
    seed: int = 0,
    rounds: int = 400,
    start: Latents | None = None,
) -> Latents:
    """The latents that explain most of what the bits have in common.

    With ``r_jl = I(z_j : c_l) / H(c_l)``, every round sets

    .. code-block:: text

        alpha_jl <- .7 alpha_jl + .3 exp((1 + 500 |TC_j|) (r_jl - max_j r_jl))
        p(z_j|x) ~ p(z_j) prod_l (p(z_j|c_l) / p(z_j))^alpha_jl      with the norm Z_j(x)
        TC_j      = mean over x of log Z_j(x)

    until the sum of the TC_j stands still.

    Parameters
    ----------
    bits : uint8 array (n, n_bits)
    n_latents : int
    seed : int
        Of the random start.
    rounds : int
        At most.
    start : Latents, optional
        Of the same number of bits, in place of a random start; its candidates may be others.

    References
    ----------
    Ver Steeg & Galstyan 2014, section 3; Garg et al. 2019, section 3.1, equations 4 to 6.
    """
    if not len(bits) or not n_latents:
        return _none(len(bits), n_latents, bits.shape[1])
    if start is None:
        rng = np.random.default_rng(seed)
        alpha = 0.5 + 0.5 * rng.random((n_latents, bits.shape[1]))
        posterior, explained = rng.random((len(bits), n_latents)), np.zeros(n_latents)
    else:
        known = start.of(bits)
        alpha, posterior, explained = known.alpha, known.posterior, known.explained
    entropies = _binary_entropy(bits.mean(axis=0))
    history: list[float] = []
    floats, shares = bits.astype(np.float64), bits.mean(axis=0)
    for turn in range(max(rounds, 1)):
        prior, given = _marginals(floats, posterior)
        if turn or start is not None:
            alpha = _moved(alpha, _information(prior, given, shares), entropies, explained)
        posterior, explained = _posterior(floats, alpha, prior, given)
        history.append(float(explained.sum()))
        if _stands_still(history):
            break
    return Latents(alpha, prior, given, posterior, explained)


def _none(n: int, n_latents: int, n_bits: int) -> Latents:
    """Latents that explain nothing."""
    halves = np.full((2, n_latents, n_bits), 0.5)
    posterior, explained = np.full((n, n_latents), 0.5), np.zeros(n_latents)
    return Latents(halves[0], np.full(n_latents, 0.5), halves, posterior, explained)


def _marginals(bits: Float64, posterior: Float64) -> tuple[Float64, Float64]:
    """p(z_j = 1), and p(z_j = 1 | c_l) for both values of a bit, from soft counts."""
    n = len(bits)
    ones, sums = posterior.T @ bits, posterior.sum(axis=0)
    n_ones = bits.sum(axis=0)
    prior = (sums + SMOOTHING) / (n + 2 * SMOOTHING)
    zeros = sums[:, None] - ones
    given = np.stack(
        [
            (zeros + SMOOTHING) / (n - n_ones + 2 * SMOOTHING),
            (ones + SMOOTHING) / (n_ones + 2 * SMOOTHING),
        ]
    )
    return prior, np.clip(given, 1e-12, 1 - 1e-12)


def _information(prior: Float64, given: Float64, shares: Float64) -> Float64:
    """I(z_j : c_l) in nats, (n_latents, n_bits)."""
    ones, zeros = np.log(prior)[:, None], np.log1p(-prior)[:, None]
    terms = given * (np.log(given) - ones) + (1 - given) * (np.log1p(-given) - zeros)
    information: Float64 = (1 - shares) * terms[0] + shares * terms[1]
    return information


def _moved(alpha: Float64, information: Float64, entropies: Float64, explained: Float64) -> Float64:
    ratios = np.divide(information, entropies, out=np.zeros_like(information), where=entropies > 0)
    sharpness = 1 + SHARPNESS * np.abs(explained)
    wanted = np.exp(sharpness[:, None] * (ratios - ratios.max(axis=0)))
    moved: Float64 = (1 - LEARNING_RATE) * alpha + LEARNING_RATE * wanted
    return moved


def _posterior(
    bits: Bits | Float64, alpha: Float64, prior: Float64, given: Float64
) -> tuple[Float64, Float64]:
    """p(z_j = 1 | c) of each candidate, and the TC_j."""
    floats = bits.astype(np.float64, copy=False)
    logs = []
    for p, q in ((1 - prior, 1 - given), (prior, given)):
        ratios = alpha * (np.log(q) - np.log(p)[:, None])
        logs.append(np.log(p) + ratios[0].sum(axis=1) + floats @ (ratios[1] - ratios[0]).T)
    norm = np.logaddexp(*logs)
    return np.exp(logs[1] - norm), norm.mean(axis=0)


def _stands_still(history: list[float]) -> bool:
    if len(history) < 2 * WINDOW:
        return False
    last, before = history[-WINDOW:], history[-2 * WINDOW : -WINDOW]
    return abs(sum(last) - sum(before)) < WINDOW * TOLERANCE


def _binary_entropy(shares: Float64) -> Float64:
    """Entropy in nats of a bit that is 1 with these probabilities; 0 for a constant one."""
    inside = np.clip(shares, 1e-300, 1.0), np.clip(1 - shares, 1e-300, 1.0)
    entropies: Float64 = -(shares * np.log(inside[0]) + (1 - shares) * np.log(inside[1]))
    return entropies
