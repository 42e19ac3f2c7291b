"""The path kernel: common, possibly gapped subsequences of two sequences."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..similarity import SymbolTable, own_similarity
from ..structures import Float32, Int32, Int64, Structures, Views

Float64 = NDArray[np.float64]
Floating = np.floating[Any]


@dataclass(frozen=True, kw_only=True)
class SubsequenceKernel:
    """Weighted number of common subsequences of two paths, gaps allowed.

    With ``c(x, y)`` the similarity of two items and ``lambda`` the decay,

    .. code-block:: text

        K_n(s, t) = sum over index tuples i of s, j of t, both of length n, of
                    lambda^(span(i) + span(j)) * prod_k c(s[i_k], t[j_k])
        K = sum_{n=1..max_length} w_n K_n,   normalized K(s,t) / sqrt(K(s,s) K(t,t))

    with span = last - first + 1. An item is a node with the edge that enters it:
    ``c = sigma_x sigma_y edge * sum_a weight_a similarity_a`` over the node's
    attributes a, the weights summing to 1. Interleaved, edges and nodes are items
    of their own: node, edge, node, …, and an edge never matches a node.

    The kernel is positive semi-definite if the similarity of symbols is: so for
    equality (no word vectors, or ``threshold = 1``); thresholded cosines are not
    in general, see `hashing.families` for what becomes of that.

    Parameters
    ----------
    decay : float in (0, 1]
        lambda, the price of one item spanned in one path.
    max_length : int
        Longest common subsequence that counts, in items.
    length_weights : tuple of `max_length` floats >= 0, optional
        w_n; None: all 1.
    threshold : float in [0, 1]
        Cosines of word vectors up to it count as 0.
    attribute_weights : tuple of floats >= 0, optional
        One for each node attribute (columns 1… of `Structures.nodes`); None: equal.
    sigma : mapping of edge label to float >= 0, optional
        ``{"conj": 0.5}`` weakens and 0 removes the items that carry such an edge,
        in either direction; labels that are not named weigh 1.
    interleaved : bool
        Edges and nodes as separate items.
    view : str
        Name of the view that is compared.

    References
    ----------
    Lodhi et al. 2002, section 4; Bunescu & Mooney 2005 (NIPS), section 2;
    Garg et al. 2019, section 3.2 (sigma).
    """

    decay: float = 0.9
    max_length: int = 4
    length_weights: tuple[float, ...] | None = None
    threshold: float = 0.4
    attribute_weights: tuple[float, ...] | None = None
    sigma: Mapping[str, float] | None = None
    interleaved: bool = True
    view: Literal["path"] | str = "path"

    def __post_init__(self) -> None:
        if not 0 < self.decay <= 1:
            raise ValueError(f"decay is {self.decay}; choose it in (0, 1].")
        if self.max_length < 1:
            raise ValueError(f"max_length is {self.max_length}; at least 1 item must match.")
        if not 0 <= self.threshold <= 1:
            raise ValueError(f"threshold is {self.threshold}; choose it in [0, 1].")
        if self.length_weights is not None and len(self.length_weights) != self.max_length:
            raise ValueError(
                f"length_weights has {len(self.length_weights)} values for max_length = "
                f"{self.max_length}; give one a length."
            )
        for name in ("length_weights", "attribute_weights"):
            weights = getattr(self, name)
            if weights is not None and not (min(weights) >= 0 < max(weights)):
                raise ValueError(f"{name} is {weights}; give numbers >= 0, not all of them 0.")
        for label, value in (self.sigma or {}).items():
            if not value >= 0:
                raise ValueError(f"sigma[{label!r}] is {value}; give a number >= 0.")

    @property
    def views(self) -> tuple[str, ...]:
        """Names of the views that it compares."""
        return (self.view,)

    def gram(self, x: Views, y: Views) -> Float32:
        """Normalized kernel values, float32 (len x, len y); 0 where a norm is 0."""
        return self.against(y)(x)

    def against(self, y: Views) -> Callable[[Views], Float32]:
        """``gram(·, y)`` with everything that depends on `y` alone computed once."""
        return _Comparison(self, y)

    def self_values(self, x: Views) -> Float64:
        """K(x, x) before normalization, float64 (n,)."""
        structures = x[self.view]
        values, starts = own_similarity(structures, threshold=self.threshold)
        return _self_values(
            values, starts, self._sigma(structures), structures.offsets, *self._numbers(structures)
        )

    def _numbers(self, structures: Structures) -> tuple[Float32, float, Float64, bool]:
        n_attributes = structures.nodes.shape[1] - 1
        weights = self.attribute_weights or (1.0,) * n_attributes
        if len(weights) != n_attributes:
            raise ValueError(
                f"attribute_weights has {len(weights)} values but nodes have {n_attributes} "
                "attributes beside the edge; give one an attribute."
            )
        return (
            (np.array(weights) / sum(weights)).astype(np.float32),
            self.decay,
            np.array(self.length_weights or (1.0,) * self.max_length),
            self.interleaved,
        )

    def _sigma(self, structures: Structures) -> Float32:
        """Sigma of the edge of every node, float32 (n_nodes,)."""
        named = {f"dep={k}": v for k, v in (self.sigma or {}).items()}
        of_symbol = [named.get(symbol.rstrip("<>"), 1.0) for symbol in structures.symbols]
        return np.array(of_symbol, np.float32)[structures.nodes[:, 0]]


class _Comparison:
    def __init__(self, kernel: SubsequenceKernel, y: Views) -> None:
        self._kernel = kernel
        self._y = y[kernel.view]
        self._table = SymbolTable(self._y, threshold=kernel.threshold)
        self._sigma = kernel._sigma(self._y)
        self._scale = _inverse_roots(kernel.self_values(y))

    def __call__(self, x: Views) -> Float32:
        kernel, y = self._kernel, self._y
        structures = x[kernel.view]
        if structures.nodes.shape[1] != y.nodes.shape[1]:
            raise ValueError(
                f"nodes have {structures.nodes.shape[1]} attributes but those compared with have "
                f"{y.nodes.shape[1]}; extract both with the same settings."
            )
        return _gram(
            self._table.similarity(structures),
            structures.nodes,
            structures.offsets,
            kernel._sigma(structures),
            _inverse_roots(kernel.self_values(x)),
            y.nodes,
            y.offsets,
            self._sigma,
            self._scale,
            *kernel._numbers(structures),
        )


def _inverse_roots(values: Float64) -> Float64:
    roots = np.sqrt(values)
    return np.divide(1.0, roots, out=np.zeros_like(roots), where=roots > 0)


@njit(nogil=True, cache=True)
def _n_items(n_nodes: int, interleaved: bool) -> int:
    return max(0, 2 * n_nodes - 1) if interleaved else n_nodes


@njit(nogil=True, cache=True)
def _combine(
    edge: Floating, node: Floating, a: int, b: int, interleaved: bool, items: Float64
) -> None:
    """Enter the similarity of node a and node b, with the edges into them, in `items`."""
    if not interleaved:
        items[a, b] = edge * node
        return
    items[2 * a, 2 * b] = node
    if a > 0 and b > 0:
        items[2 * a - 1, 2 * b - 1] = edge
    if b > 0:
        items[2 * a, 2 * b - 1] = 0.0
    if a > 0:
        items[2 * a - 1, 2 * b] = 0.0


@njit(nogil=True, cache=True)
def _subsequence_value(
    items: Float64,
    n: int,
    m: int,
    decay: float,
    length_weights: Float64,
    shorter: Float64,
    longer: Float64,
) -> float:
    """Sum of w_n K_n over the n x m item similarities; the last two are work space.

    ``shorter[a, b]`` is K'_{l-1} of the prefixes of a and b items (Lodhi et al. 2002).
    """
    square = decay * decay
    total = 0.0
    shorter[: n + 1, : m + 1] = 1.0
    longer[: n + 1, 0] = 0.0
    longer[0, : m + 1] = 0.0
    for length in range(min(len(length_weights), n, m)):
        value = 0.0
        for a in range(n):
            run = 0.0
            for b in range(m):
                last = square * items[a, b] * shorter[a, b]
                value += last
                run = decay * run + last
                longer[a + 1, b + 1] = decay * longer[a, b + 1] + run
        if value == 0.0:  # no common subsequence of this length, so none that is longer
            break
        total += length_weights[length] * value
        if length == 0:
            shorter[: n + 1, 0] = 0.0
            shorter[0, : m + 1] = 0.0
        shorter, longer = longer, shorter
    return total


@njit(nogil=True, cache=True)
def _self_values(
    values: Float32,
    starts: Int64,
    sigma: Float32,
    offsets: Int64,
    attribute_weights: Float32,
    decay: float,
    length_weights: Float64,
    interleaved: bool,
) -> Float64:
    n = len(offsets) - 1
    out = np.zeros(n, np.float64)
    longest = 0
    for i in range(n):
        longest = max(longest, offsets[i + 1] - offsets[i])
    width = _n_items(longest, interleaved)
    items = np.empty((width, width), np.float64)
    shorter = np.empty((width + 1, width + 1), np.float64)
    longer = np.empty((width + 1, width + 1), np.float64)
    for i in range(n):
        first, size = offsets[i], offsets[i + 1] - offsets[i]
        for a in range(size):
            for b in range(size):
                row = values[starts[i] + a * size + b]
                edge = row[0] * (sigma[first + a] * sigma[first + b])
                node = np.float32(0.0)
                for k in range(len(attribute_weights)):
                    node += attribute_weights[k] * row[k + 1]
                _combine(edge, node, a, b, interleaved, items)
        n_items = _n_items(size, interleaved)
        out[i] = _subsequence_value(items, n_items, n_items, decay, length_weights, shorter, longer)
    return out


@njit(nogil=True, cache=True)
def _gram(
    similarity: Float32,
    x_nodes: Int32,
    x_offsets: Int64,
    x_sigma: Float32,
    x_scale: Float64,
    y_nodes: Int32,
    y_offsets: Int64,
    y_sigma: Float32,
    y_scale: Float64,
    attribute_weights: Float32,
    decay: float,
    length_weights: Float64,
    interleaved: bool,
) -> Float32:
    n, m = len(x_offsets) - 1, len(y_offsets) - 1
    out = np.zeros((n, m), np.float32)
    x_longest, y_longest = 0, 0
    for i in range(n):
        x_longest = max(x_longest, x_offsets[i + 1] - x_offsets[i])
    for j in range(m):
        y_longest = max(y_longest, y_offsets[j + 1] - y_offsets[j])
    x_width, y_width = _n_items(x_longest, interleaved), _n_items(y_longest, interleaved)
    items = np.empty((x_width, y_width), np.float64)
    shorter = np.empty((x_width + 1, y_width + 1), np.float64)
    longer = np.empty((x_width + 1, y_width + 1), np.float64)
    for i in range(n):
        x_first, x_size = x_offsets[i], x_offsets[i + 1] - x_offsets[i]
        for j in range(m):
            y_first, y_size = y_offsets[j], y_offsets[j + 1] - y_offsets[j]
            scale = x_scale[i] * y_scale[j]
            if scale == 0.0:
                continue
            for a in range(x_size):
                for b in range(y_size):
                    x_node, y_node = x_nodes[x_first + a], y_nodes[y_first + b]
                    edge = similarity[x_node[0], y_node[0]]
                    edge *= x_sigma[x_first + a] * y_sigma[y_first + b]
                    node = np.float32(0.0)
                    if interleaved or edge != 0.0:
                        for k in range(len(attribute_weights)):
                            node += attribute_weights[k] * similarity[x_node[k + 1], y_node[k + 1]]
                    _combine(edge, node, a, b, interleaved, items)
            value = _subsequence_value(
                items,
                _n_items(x_size, interleaved),
                _n_items(y_size, interleaved),
                decay,
                length_weights,
                shorter,
                longer,
            )
            out[i, j] = value * scale
    return out
