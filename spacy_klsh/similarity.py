"""Similarity of symbols: word vectors where both have one, else equality."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .compiled import compiled
from .structures import Float32, Int32, Int64, Structures


class SymbolTable:
    """One side of a comparison, prepared once: the symbols that all others meet.

    Parameters
    ----------
    structures : Structures
        Only its `symbols` and `vectors` are used.
    threshold : float in [0, 1]
        Cosines up to it count as 0; at 1 only equal symbols are similar.
    """

    def __init__(self, structures: Structures, *, threshold: float) -> None:
        self.threshold = threshold
        self._rows = {symbol: row for row, symbol in enumerate(structures.symbols)}
        self._columns = np.ascontiguousarray(structures.vectors.T)

    def similarity(self, x: Structures) -> Float32:
        """Similarity of the symbols of `x` to those of this table, each in [0, 1].

        The thresholded cosine ``max(0, (cos - t) / (1 - t)) * cos`` (Garg et al.
        2019, section 3.2), 1 for equal symbols, 0 where one has no vector. Every
        sum runs in one fixed order in float32, so a value does not depend on what
        else is compared in the same call.

        Returns
        -------
        float32 array (x symbols, table symbols)
        """
        dim = len(self._columns)
        if x.vectors.shape[1] != dim:
            raise ValueError(
                f"symbols have vectors of {x.vectors.shape[1]} dimensions but the reference "
                f"has {dim}; load the word vectors that were used in training."
            )
        equal = np.array([self._rows.get(symbol, -1) for symbol in x.symbols], np.int32)
        return _cross_similarity(x.vectors, self._columns, equal, np.float32(self.threshold))


def symbol_similarity(x: Structures, y: Structures, *, threshold: float) -> Float32:
    """Similarity of every symbol of `x` to every symbol of `y`; see `SymbolTable`."""
    return SymbolTable(y, threshold=threshold).similarity(x)


def own_similarity(x: Structures, *, threshold: float) -> tuple[Float32, Int64]:
    """Similarities of the nodes of each structure among themselves.

    Returns
    -------
    values : float32 array (sum of n_nodes_i ** 2, n_attributes)
        Node a against node b of structure i stands in row
        ``starts[i] + a * n_nodes_i + b``, one column an attribute.
    starts : int64 array (n + 1,)
    """
    starts = np.concatenate([[0], np.cumsum(x.lengths**2)]).astype(np.int64)
    has_vector = np.any(x.vectors != 0, axis=1)
    values = _own_similarity(
        x.nodes, x.offsets, starts, x.vectors, has_vector, np.float32(threshold)
    )
    return values, starts


@compiled
def _threshold_cosine(cosine: np.float32, threshold: np.float32) -> np.float32:
    if cosine <= threshold or threshold >= np.float32(1.0):
        return np.float32(0.0)
    cosine = min(cosine, np.float32(1.0))
    return (cosine - threshold) / (np.float32(1.0) - threshold) * cosine


@compiled
def _cross_similarity(x: Float32, columns: Float32, equal: Int32, threshold: np.float32) -> Float32:
    n, m, dim = len(x), columns.shape[1], len(columns)
    out = np.zeros((n, m), np.float32)
    for i in range(n):
        row = out[i]
        for d in range(dim):  # columns innermost: vectorizes without reordering any sum
            value = x[i, d]
            if value != np.float32(0.0):
                for j in range(m):
                    row[j] += value * columns[d, j]
        for j in range(m):
            row[j] = _threshold_cosine(row[j], threshold)
        if equal[i] >= 0:
            row[equal[i]] = np.float32(1.0)
    return out


@compiled
def _own_similarity(
    nodes: Int32,
    offsets: Int64,
    starts: Int64,
    vectors: Float32,
    has_vector: NDArray[np.bool_],
    threshold: np.float32,
) -> Float32:
    n_attributes = nodes.shape[1]
    out = np.zeros((starts[-1], n_attributes), np.float32)
    for i in range(len(offsets) - 1):
        first, size = offsets[i], offsets[i + 1] - offsets[i]
        for a in range(size):
            for b in range(a + 1):
                for k in range(n_attributes):
                    s, t = nodes[first + a, k], nodes[first + b, k]
                    value = np.float32(0.0)
                    if s == t:
                        value = np.float32(1.0)
                    elif has_vector[s] and has_vector[t]:
                        for d in range(vectors.shape[1]):
                            value += vectors[s, d] * vectors[t, d]
                        value = _threshold_cosine(value, threshold)
                    out[starts[i] + a * size + b, k] = value
                    out[starts[i] + b * size + a, k] = value
    return out
