"""Families of hash functions: from rows of a gram matrix to bits.

Every bit has two disjoint subsets S1, S2 of the reference set, `subset_size`
members each, and looks at the kernel values of those members alone (Garg et al.
2019, section 2.1):

rknn
    1 iff the nearest member of S2 is nearer than the nearest of S1.
rmm
    Sign of the decision value of a C-SVM (C = 1) between S1 and S2 (Joly & Buisson
    2011).
kulis
    Sign of a random direction in feature space, ``w = K_S^(-1/2) (1_S1 / size -
    1 / (2 size))`` (Kulis & Grauman 2009), K_S the gram of this bit's subsets alone.

A similarity that is not positive semi-definite (thresholded cosine, sigmoid) can make
K_S indefinite. Kulis then uses the pseudo-inverse root over its positive eigenvalues;
the maximum-margin dual takes a flat direction's step to the bound, as LIBSVM does.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..compiled import compiled
from ..structures import Float32, Int32
from .codes import Uint64

Family: TypeAlias = Literal["rknn", "rmm", "kulis"]
FAMILIES: tuple[Family, ...] = ("rknn", "rmm", "kulis")
MARGIN_COST = 1.0


def fit_bits(gram: Float32, subsets: Int32, family: Family) -> tuple[Float32, Float32]:
    """Weights and bias of each bit from the gram matrix of the reference set.

    Parameters
    ----------
    gram : float32 array (n_references, n_references)
    subsets : int32 array (n_bits, 2, subset_size)
        Rows of `gram`: S1, then S2.

    Returns
    -------
    weights : float32 array (n_bits, 2 * subset_size)
        Empty rows (n_bits, 0) for rknn, which has none.
    biases : float32 array (n_bits,)
    """
    if family == "rknn":
        return np.zeros((len(subsets), 0), np.float32), np.zeros(len(subsets), np.float32)
    members = _members(subsets)
    grams = gram[members[:, :, None], members[:, None, :]].astype(np.float64)
    if family == "kulis":
        return _kulis_weights(grams), np.zeros(len(subsets), np.float32)
    weights, biases = _margin_weights(grams, MARGIN_COST)
    return weights.astype(np.float32), biases.astype(np.float32)


def hash_bits(
    gram: Float32, subsets: Int32, weights: Float32, biases: Float32, family: Family
) -> Uint64:
    """Packed bits of each row of `gram` (n, n_references): uint64 (n, ceil(n_bits / 64))."""
    if family == "rknn":
        return _nearest_bits(gram, subsets)
    return _linear_bits(gram, _members(subsets), weights, biases)


def _members(subsets: Int32) -> Int32:
    """S1 and S2 of each bit side by side, int32 (n_bits, 2 * subset_size)."""
    return subsets.reshape(len(subsets), subsets.shape[1] * subsets.shape[2])


def _kulis_weights(grams: NDArray[np.float64]) -> Float32:
    values, vectors = np.linalg.eigh(grams)
    size = grams.shape[1] // 2
    tiny = values[:, -1:] * grams.shape[1] * np.finfo(np.float32).eps
    roots = np.zeros_like(values)
    np.divide(1.0, np.sqrt(np.abs(values)), out=roots, where=values > tiny)
    direction = np.repeat([1.0 / (2 * size), -1.0 / (2 * size)], size)  # 1_S1/size - 1/(2 size)
    projected = (vectors * direction[:, None]).sum(axis=1) * roots
    weights: Float32 = (vectors * projected[:, None, :]).sum(axis=2).astype(np.float32)
    return weights


@compiled
def _margin_weights(
    grams: NDArray[np.float64], cost: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """C-SVM duals of many tiny problems; the first half of each is the negative class.

    Sequential minimal optimization with the maximal violating pair (Fan, Chen & Lin
    2005), to a violation of 1e-9; the bias is LIBSVM's: the mean over free members,
    else the middle of the feasible interval.
    """
    n, size = grams.shape[0], grams.shape[1]
    weights = np.zeros((n, size))
    biases = np.zeros(n)
    sign = np.ones(size)
    sign[: size // 2] = -1.0
    for bit in range(n):
        gram = grams[bit]
        alpha = np.zeros(size)
        slope = -np.ones(size)  # gradient of the dual
        upper, lower = 0.0, 0.0
        for _ in range(10_000):
            up, down = -1, -1
            upper, lower = -np.inf, np.inf
            for t in range(size):
                value = -sign[t] * slope[t]
                if (alpha[t] < cost if sign[t] > 0 else alpha[t] > 0) and value > upper:
                    upper, up = value, t
                if (alpha[t] > 0 if sign[t] > 0 else alpha[t] < cost) and value < lower:
                    lower, down = value, t
            if upper - lower < 1e-9:
                break
            curvature = gram[up, up] + gram[down, down] - 2.0 * gram[up, down]
            step = (upper - lower) / max(curvature, 1e-12)
            step = min(step, cost - alpha[up] if sign[up] > 0 else alpha[up])
            step = min(step, alpha[down] if sign[down] > 0 else cost - alpha[down])
            alpha[up] = min(max(alpha[up] + sign[up] * step, 0.0), cost)
            alpha[down] = min(max(alpha[down] - sign[down] * step, 0.0), cost)
            for t in range(size):
                slope[t] += sign[t] * step * (gram[t, up] - gram[t, down])
        free, total = 0, 0.0
        for t in range(size):
            if 0.0 < alpha[t] < cost:
                free += 1
                total -= sign[t] * slope[t]
        biases[bit] = total / free if free else (upper + lower) / 2.0
        weights[bit] = alpha * sign
    return weights, biases


@compiled
def _linear_bits(gram: Float32, members: Int32, weights: Float32, biases: Float32) -> Uint64:
    """One bit of all candidates at a time, so that every loop over candidates vectorizes."""
    n, n_bits = len(gram), len(members)
    columns = np.ascontiguousarray(gram.T)
    words = np.zeros(((n_bits + 63) // 64, n), np.uint64)
    values = np.empty(n, np.float32)
    for bit in range(n_bits):
        values[:] = biases[bit]
        for k in range(members.shape[1]):
            _add_scaled(values, columns[members[bit, k]], weights[bit, k])
        _set_bit(words[bit >> 6], values, np.uint64(1) << np.uint64(bit & 63))
    return np.ascontiguousarray(words.T)


@compiled
def _add_scaled(values: Float32, others: Float32, factor: np.float32) -> None:
    for i in range(len(values)):
        values[i] += factor * others[i]


@compiled
def _set_bit(words: Uint64, values: Float32, bit: np.uint64) -> None:
    for i in range(len(words)):
        words[i] |= bit if values[i] > np.float32(0.0) else np.uint64(0)


@compiled
def _nearest_bits(gram: Float32, subsets: Int32) -> Uint64:
    n, n_bits = len(gram), len(subsets)
    words = np.zeros((n, (n_bits + 63) // 64), np.uint64)
    for i in range(n):
        for bit in range(n_bits):
            first, second = gram[i, subsets[bit, 0, 0]], gram[i, subsets[bit, 1, 0]]
            for k in range(1, subsets.shape[2]):
                first = max(first, gram[i, subsets[bit, 0, k]])
                second = max(second, gram[i, subsets[bit, 1, k]])
            if first < second:
                words[i, bit >> 6] |= np.uint64(1) << np.uint64(bit & 63)
    return words
