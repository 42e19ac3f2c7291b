"""Growing decision trees on packed bits: gini, fully grown, a few random bits at each split."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..compiled import compiled
from ..hashing.codes import Uint64
from ..structures import Int32, Int64

Float64 = NDArray[np.float64]


@compiled
def grow(
    words: Uint64,
    labels: Int64,
    weights: Float64,
    n_bits: int,
    n_own: int,
    n_tried: int,
    min_leaf: int,
    bootstrap: bool,
    seed: int,
) -> tuple[Int32, Int64]:
    """Nodes of one tree, and the label counts of its leaves of several labels.

    A node holds its bit and its child for a bit of 0, the next row being the child for
    1; at a leaf -1 and its label, or ``n_labels`` + its row of the counts.

    Parameters
    ----------
    words : uint64 array (n, n_words)
        Packed bits.
    labels : int64 array (n,)
        In ``0 .. len(weights) - 1``.
    weights : float64 array (n_labels,)
    n_bits : int
    n_own : int
        Random bits that the whole tree may use.
    n_tried : int
        Random ones of these among which a split chooses; more if none of them varies.
    min_leaf : int
        Candidates, each as often as drawn, that a leaf must hold.
    bootstrap : bool
        Draw `n` candidates with replacement instead of taking each once.
    seed : uint64
        Above 0.
    """
    n, n_labels = len(words), len(weights)
    state = np.full(1, seed, np.uint64)
    bits = np.arange(n_bits, dtype=np.int32)
    _draw(bits, 0, n_own, state)
    bits = bits[:n_own].copy()
    counts = _drawn(n, state) if bootstrap else np.ones(n, np.int64)
    members, n_members = np.arange(n), 0
    for i in range(n):
        if counts[i] > 0:
            members[n_members] = i
            n_members += 1
    starts, ends = np.zeros(2 * n, np.int64), np.zeros(2 * n, np.int64)
    nodes = np.full((2 * n, 2), -1, np.int32)
    mixed = np.zeros((n, n_labels), np.int64)
    packed = np.zeros((n, (n_tried + 63) >> 6), np.uint64)
    if n_tried == n_own:
        _gather(words, members[:n_members], bits, packed)
    ones = np.zeros((n_labels, n_tried), np.int64)
    ends[0], n_nodes, n_mixed, node = n_members, 1, 0, 0
    while node < n_nodes:
        start, end = starts[node], ends[node]
        own = members[start:end]
        total = mixed[n_mixed]  # stays there if this becomes a leaf of several labels
        total[:] = 0
        for i in own:
            total[labels[i]] += counts[i]
        label, bit = _only_label(total), -1
        if label < 0:
            bit = _best_bit(
                words, packed, labels, weights, counts, own, total, bits, ones, min_leaf, state
            )
        if bit >= 0:
            middle = start + _part(words, own, bit)
            nodes[node, 0], nodes[node, 1] = bit, n_nodes
            starts[n_nodes], ends[n_nodes] = start, middle
            starts[n_nodes + 1], ends[n_nodes + 1] = middle, end
            n_nodes += 2
        elif label >= 0:
            nodes[node, 1] = label
        else:
            nodes[node, 1] = n_labels + n_mixed
            n_mixed += 1
        node += 1
    return nodes[:n_nodes].copy(), mixed[:n_mixed].copy()


@compiled
def _best_bit(
    words: Uint64,
    packed: Uint64,
    labels: Int64,
    weights: Float64,
    counts: Int64,
    own: Int64,
    total: Int64,
    bits: Int32,
    ones: Int64,
    min_leaf: int,
    state: Uint64,
) -> int:
    """The bit whose split leaves the least gini impurity; -1: no split is possible.

    `packed` holds all `bits` of each candidate, or is scratch if fewer are tried.
    """
    n_tried = ones.shape[1]
    for first in range(0, len(bits), n_tried):
        tried = bits[first : first + n_tried]
        if n_tried < len(bits):
            _draw(bits, first, first + len(tried), state)
            _gather(words, own, tried, packed)
        _count_ones(packed, labels, counts, own, ones)
        best, bit = -1.0, -1
        for j in range(len(tried)):
            purity = _purity(ones, j, total, weights, min_leaf)
            if purity > best:
                best, bit = purity, tried[j]
        if bit >= 0:
            return bit
    return -1


@compiled
def _only_label(total: Int64) -> int:
    """The label that all candidates have; -1: there are several."""
    label = -1
    for k in range(len(total)):
        if total[k] > 0:
            if label >= 0:
                return -1
            label = k
    return label


@compiled
def _gather(words: Uint64, own: Int64, bits: Int32, packed: Uint64) -> None:
    """Pack `bits` of the candidates `own` into their rows of `packed`."""
    one = np.uint64(1)
    for w in range(packed.shape[1]):
        first, last = 64 * w, min(64 * w + 64, len(bits))
        for i in own:
            gathered = np.uint64(0)
            for j in range(first, last):
                bit = np.uint64(bits[j])
                value = (words[i, bit >> np.uint64(6)] >> (bit & np.uint64(63))) & one
                gathered |= value << np.uint64(j - first)
            packed[i, w] = gathered


@compiled
def _count_ones(packed: Uint64, labels: Int64, counts: Int64, own: Int64, ones: Int64) -> None:
    """Set ``ones[k, j]`` to the candidates of label k with a 1 at bit j of `packed`.

    Eight bits of a word are counted at once, in a byte each, as long as these suffice.
    """
    low = np.uint64(0x0101010101010101)
    n_labels = len(ones)
    sums = np.zeros((n_labels, packed.shape[1], 8), np.uint64)
    most = np.zeros(n_labels, np.int64)
    ones[:] = 0
    for i in own:
        k, count = labels[i], np.uint64(counts[i])
        if most[k] + counts[i] > 255:
            _add(sums, k, ones)
            most[k] = 0
        most[k] += counts[i]
        for w in range(packed.shape[1]):
            word = packed[i, w]
            for shift in range(8):
                sums[k, w, shift] += count * ((word >> np.uint64(shift)) & low)
    for k in range(n_labels):
        _add(sums, k, ones)


@compiled
def _add(sums: Uint64, k: int, ones: Int64) -> None:
    """Add the bytes of label `k` to `ones`, and begin anew."""
    for j in range(ones.shape[1]):
        byte = sums[k, j >> 6, j & 7] >> np.uint64(j & 56)
        ones[k, j] += np.int64(byte & np.uint64(255))
    sums[k] = 0


@compiled
def _purity(ones: Int64, j: int, total: Int64, weights: Float64, min_leaf: int) -> float:
    """Sum over both sides of squared label weights by weight; -1: a side is too small."""
    n_left, n_right = 0, 0
    left, right, squared_left, squared_right = 0.0, 0.0, 0.0, 0.0
    for k in range(len(weights)):
        one, zero = ones[k, j], total[k] - ones[k, j]
        n_left, n_right = n_left + zero, n_right + one
        left, right = left + weights[k] * zero, right + weights[k] * one
        squared_left += (weights[k] * zero) ** 2
        squared_right += (weights[k] * one) ** 2
    if min(n_left, n_right) < min_leaf:
        return -1.0
    return squared_left / left + squared_right / right


@compiled
def _part(words: Uint64, own: Int64, bit: int) -> int:
    """Move the candidates with a 0 at `bit` to the front; their number."""
    word, place, n_left = np.uint64(bit >> 6), np.uint64(bit & 63), 0
    for k in range(len(own)):
        i = own[k]
        if (words[i, word] >> place) & np.uint64(1) == 0:
            own[k], own[n_left] = own[n_left], i
            n_left += 1
    return n_left


@compiled
def _draw(bits: Int32, first: int, last: int, state: Uint64) -> None:
    """Swap random ones of ``bits[first:]`` to ``bits[first:last]``."""
    for j in range(first, last):
        other = j + _below(len(bits) - j, state)
        bits[j], bits[other] = bits[other], bits[j]


@compiled
def _drawn(n: int, state: Uint64) -> Int64:
    """How often each of `n` candidates is drawn when `n` are, with replacement."""
    counts = np.zeros(n, np.int64)
    for _ in range(n):
        counts[_below(n, state)] += 1
    return counts


@compiled
def _below(n: int, state: Uint64) -> int:
    """A random number in ``0 .. n - 1``, by Marsaglia's xorshift (2003)."""
    x = state[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    state[0] = x
    return int((x >> np.uint64(32)) * np.uint64(n) >> np.uint64(32))
