"""Similarity of symbols: by word vectors where both have one, else by equality."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .compiled import compiled
from .structures import Float32, Int32, Int64, Structures

Bool: TypeAlias = NDArray[np.bool_]

TOKENS = ("cosine", "equality", "gaussian", "sigmoid")
EDGES = ("label", "direction", "any")
COSINE, EQUALITY, GAUSSIAN, SIGMOID = range(len(TOKENS))
LOG_2 = math.log(2.0)
TAYLOR = tuple(1.0 / math.factorial(n) for n in range(8, -1, -1))
POWERS = np.array([2.0**n for n in range(-150, 151)])  # beyond that float32 is 0 or infinite


@dataclass(frozen=True, kw_only=True)
class TokenKernel:
    """How similar symbols are: equal ones 1, and no two others more than that.

    Different symbols have, if both have a word vector, one of the token kernels of Garg et al.

    .. code-block:: text

        cosine      max(0, (cos - threshold) / (1 - threshold)) * cos
        equality    0
        gaussian    exp(-||w_a - w_b||^2 / bandwidth)
        sigmoid     (1 + tanh(w_a . w_b)) / 2

    and else 0. The sigmoid of a unit vector and itself is .88, so equal symbols have .12 more
    than the formula gives: a symbol is more like itself than like any other, even one with the
    same vector. It is never 0: unrelated words have .5, opposite ones .12.

    Edges with a direction, ``dep=nsubj<`` and ``dep=nsubj>``, may be alike without being equal;
    then they are either alike, 1, or not, 0. The edge ``dep=`` of a first node and those of
    roles are like themselves alone.

    Positive semi-definite are equality, the Gaussian (a kernel of the vectors, and equality of
    the symbols without one), and each choice for edges (equality of classes). The thresholded
    cosine and the sigmoid are not in general; see `hashing.families` for what becomes of that.

    Parameters
    ----------
    tokens : {"cosine", "equality", "gaussian", "sigmoid"}
    threshold : float in [0, 1]
        Cosines up to it count as 0; at 1 only equal symbols are similar.
    bandwidth : float above 0
        Squared distance at which the Gaussian has fallen to 1 / e.
    edges : {"label", "direction", "any"}
        Edges are alike if they are equal, if they have the same direction, or always.

    References
    ----------
    Garg et al. 2019, section 3.2.
    """

    tokens: Literal["cosine", "equality", "gaussian", "sigmoid"] = "cosine"
    threshold: float = 0.4
    bandwidth: float = 1.0
    edges: Literal["label", "direction", "any"] = "label"

    def __post_init__(self) -> None:
        for name, known in (("tokens", TOKENS), ("edges", EDGES)):
            if getattr(self, name) not in known:
                raise ValueError(
                    f"{name} is {getattr(self, name)!r}; choose one of {', '.join(known)}."
                )
        if not 0 <= self.threshold <= 1:
            raise ValueError(f"threshold is {self.threshold}; choose it in [0, 1].")
        if not 0 < self.bandwidth < math.inf:
            raise ValueError(f"bandwidth is {self.bandwidth}; give a number above 0.")

    def classes(self, symbols: Sequence[str]) -> Sequence[str]:
        """A name for each symbol that is equal for those that count as equal."""
        if self.edges == "label":
            return symbols
        by_direction = self.edges == "direction"
        return [
            f"dep={symbol[-1] if by_direction else '<>'}" if _is_edge(symbol) else symbol
            for symbol in symbols
        ]

    def class_numbers(self, symbols: Sequence[str]) -> Int32:
        """A number for each symbol, equal for those of one class, int32 (n_symbols,)."""
        if self.edges == "label":
            return np.arange(len(symbols), dtype=np.int32)
        names: dict[str, int] = {}
        numbers = [names.setdefault(name, len(names)) for name in self.classes(symbols)]
        return np.array(numbers, np.int32)

    def are_soft(self, structures: Structures) -> Bool:
        """Whether the vector of each symbol counts, bool (n_symbols,)."""
        if self.tokens == "equality":
            return np.zeros(len(structures.symbols), np.bool_)
        soft: Bool = np.any(structures.vectors != 0, axis=1)
        if self.edges != "label" and soft.any():
            soft &= np.array([not _is_edge(symbol) for symbol in structures.symbols], np.bool_)
        return soft

    @property
    def formula(self) -> tuple[int, np.float32, float]:
        """Number of the token kernel in `TOKENS`, its threshold and bandwidth."""
        return TOKENS.index(self.tokens), np.float32(self.threshold), float(self.bandwidth)


class SymbolTable:
    """One side of a comparison, prepared once: the symbols that all others meet.

    Parameters
    ----------
    structures : Structures
        Only its `symbols` and `vectors` are used.
    kernel : TokenKernel
    """

    def __init__(self, structures: Structures, kernel: TokenKernel) -> None:
        self._kernel = kernel
        names = kernel.classes(structures.symbols)
        self._classes = {name: k for k, name in enumerate(dict.fromkeys(names))}
        classes = self._numbers(names)
        self._members = np.argsort(classes, kind="stable")
        self._bounds = np.searchsorted(classes[self._members], np.arange(len(self._classes) + 1))
        self._soft = kernel.are_soft(structures)
        self._columns = np.ascontiguousarray(structures.vectors.T) * self._soft

    def similarity(self, x: Structures) -> Float32:
        """Similarity of the symbols of `x` to those of this table, each in [0, 1].

        Every sum runs in one fixed order in float32, so a value does not depend on what
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
        return _cross_similarity(
            x.vectors,
            self._columns,
            self._kernel.are_soft(x),
            self._soft,
            self._numbers(self._kernel.classes(x.symbols)),
            self._members,
            self._bounds,
            *self._kernel.formula,
        )

    def _numbers(self, names: Sequence[str]) -> Int32:
        """Number of each class, int32 (n_symbols,); -1: no symbol of the table is in it."""
        return np.array([self._classes.get(name, -1) for name in names], np.int32)


def own_similarity(x: Structures, kernel: TokenKernel) -> tuple[Float32, Int64]:
    """Similarities of the nodes of each structure among themselves.

    Returns
    -------
    values : float32 array (sum of n_nodes_i ** 2, n_attributes)
        Node a against node b of structure i stands in row
        ``starts[i] + a * n_nodes_i + b``, one column an attribute.
    starts : int64 array (n + 1,)
    """
    starts = np.concatenate([[0], np.cumsum(x.lengths**2)]).astype(np.int64)
    values = _own_similarity(
        x.nodes,
        x.offsets,
        starts,
        x.vectors,
        kernel.are_soft(x),
        kernel.class_numbers(x.symbols),
        *kernel.formula,
    )
    return values, starts


def _is_edge(symbol: str) -> bool:
    """Whether it is an arc with a direction, such as ``dep=nsubj<``."""
    return symbol.startswith("dep=") and symbol.endswith(("<", ">"))


@compiled
def _exp(x: float) -> float:
    """The exponential to 9 digits, by the same sums on every machine and in every loop."""
    x = min(max(x, -150.0 * LOG_2), 150.0 * LOG_2)
    n = math.floor(x * (1.0 / LOG_2) + 0.5)
    rest, value = x - n * LOG_2, 0.0
    for factor in TAYLOR:
        value = value * rest + factor
    return value * float(POWERS[int(n) + 150])


@compiled
def _soft_value(
    value: np.float32, tokens: int, threshold: np.float32, bandwidth: float
) -> np.float32:
    """Similarity of different symbols by the product of their vectors or their squared distance."""
    if tokens == GAUSSIAN:
        return np.float32(_exp(-np.float64(value) / bandwidth))
    if tokens == SIGMOID:
        return np.float32(1.0 / (1.0 + _exp(-2.0 * np.float64(value))))  # (1 + tanh) / 2
    if value <= threshold or threshold >= np.float32(1.0):
        return np.float32(0.0)
    cosine = min(value, np.float32(1.0))
    return (cosine - threshold) / (np.float32(1.0) - threshold) * cosine


@compiled
def _cross_similarity(
    x: Float32,
    columns: Float32,
    x_soft: Bool,
    soft: Bool,
    x_classes: Int32,
    members: Int64,
    bounds: Int64,
    tokens: int,
    threshold: np.float32,
    bandwidth: float,
) -> Float32:
    """Class ``c`` are the columns ``members[bounds[c]:bounds[c + 1]]``."""
    n, m, dim = len(x), columns.shape[1], len(columns)
    out = np.zeros((n, m), np.float32)
    for i in range(n):
        row = out[i]
        if x_soft[i]:
            for d in range(dim):  # columns innermost: vectorizes without reordering any sum
                value = x[i, d]
                if tokens == GAUSSIAN:
                    for j in range(m):
                        row[j] += (value - columns[d, j]) * (value - columns[d, j])
                elif value != np.float32(0.0):
                    for j in range(m):
                        row[j] += value * columns[d, j]
            if tokens == COSINE:
                for j in range(m):  # without a vector the sum is 0, and stays so
                    row[j] = _soft_value(row[j], COSINE, threshold, bandwidth)
            else:
                for j in range(m):
                    value = _soft_value(row[j], tokens, threshold, bandwidth)
                    row[j] = value if soft[j] else np.float32(0.0)
        if x_classes[i] >= 0:
            for k in range(bounds[x_classes[i]], bounds[x_classes[i] + 1]):
                row[members[k]] = np.float32(1.0)
    return out


@compiled
def _own_similarity(
    nodes: Int32,
    offsets: Int64,
    starts: Int64,
    vectors: Float32,
    soft: Bool,
    classes: Int32,
    tokens: int,
    threshold: np.float32,
    bandwidth: float,
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
                    if classes[s] == classes[t]:
                        value = np.float32(1.0)
                    elif soft[s] and soft[t]:
                        for d in range(vectors.shape[1]):
                            if tokens == GAUSSIAN:
                                difference = vectors[s, d] - vectors[t, d]
                                value += difference * difference
                            else:
                                value += vectors[s, d] * vectors[t, d]
                        value = _soft_value(value, tokens, threshold, bandwidth)
                    out[starts[i] + a * size + b, k] = value
                    out[starts[i] + b * size + a, k] = value
    return out
