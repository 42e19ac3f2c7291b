"""The path kernel: common, possibly gapped subsequences of two sequences."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..similarity import SymbolTable, own_similarity
from ..structures import Float32, Int32, Int64, Structures, Views

Float64 = NDArray[np.float64]


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
        sigma = self._sigma(structures)[structures.nodes[:, 0]]
        return _self_values(values, starts, sigma, structures.offsets, *self._numbers(structures))

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
        """Sigma of every symbol, float32 (n_symbols,); 1 for what is no edge."""
        named = {f"dep={k}": v for k, v in (self.sigma or {}).items()}
        of_symbol = [named.get(symbol.rstrip("<>"), 1.0) for symbol in structures.symbols]
        return np.array(of_symbol, np.float32)


class _Comparison:
    def __init__(self, kernel: SubsequenceKernel, y: Views) -> None:
        self._kernel = kernel
        self._y = y[kernel.view]
        self._table = SymbolTable(self._y, threshold=kernel.threshold)
        self._scale = _inverse_roots(kernel.self_values(y))
        self._items = _distinct_items(self._y.nodes, self._y.offsets, kernel.interleaved)
        self._sigma = kernel._sigma(self._y)

    def __call__(self, x: Views) -> Float32:
        kernel, structures = self._kernel, x[self._kernel.view]
        if structures.nodes.shape[1] != self._y.nodes.shape[1]:
            raise ValueError(
                f"nodes have {structures.nodes.shape[1]} attributes but those compared with have "
                f"{self._y.nodes.shape[1]}; extract both with the same settings."
            )
        x_items, x_ids, x_offsets = _distinct_items(
            structures.nodes, structures.offsets, kernel.interleaved
        )
        y_items, y_ids, y_offsets = self._items
        attribute_weights, decay, length_weights, _ = kernel._numbers(structures)
        starts, places, match = _find_matches(
            self._table.similarity(structures),
            x_items,
            kernel._sigma(structures),
            y_items,
            y_ids,
            self._sigma,
            attribute_weights,
        )
        return _gram(
            x_ids,
            x_offsets,
            _inverse_roots(kernel.self_values(x)),
            y_offsets,
            self._scale,
            starts,
            places,
            match,
            decay,
            length_weights,
        )


def _distinct_items(nodes: Int32, offsets: Int64, interleaved: bool) -> tuple[Int32, Int64, Int64]:
    """Structures as sequences of item numbers, and what the items are.

    Returns
    -------
    items : int32 array (n_distinct, n_attributes)
        Symbols of each distinct item; -1 where it has none: an edge on its own has no
        attributes, a node on its own no edge.
    ids : int64 array (n_items,)
        Rows of `items`.
    offsets : int64 array (n + 1,)
    """
    if interleaved:
        lengths = np.diff(offsets)
        rows = np.repeat(nodes, 2, axis=0)
        rows[0::2, 1:], rows[1::2, 0] = -1, -1  # the edge into a node, then the node
        inner = np.ones(len(rows), bool)
        inner[2 * offsets[:-1][lengths > 0]] = False  # no edge enters the first one
        nodes = rows[inner]
        offsets = np.concatenate([[0], np.cumsum(np.maximum(2 * lengths - 1, 0))])
    base, width = int(nodes.max(initial=0)) + 2, nodes.shape[1]
    rows = nodes
    if base**width < 2**62:  # a number sorts faster than a row
        rows = ((nodes + np.int64(1)) * base ** np.arange(width)).sum(axis=1, keepdims=True)
    _, first, ids = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    return np.ascontiguousarray(nodes[first]), ids.reshape(-1), offsets.astype(np.int64)


def _inverse_roots(values: Float64) -> Float64:
    roots = np.sqrt(values)
    return np.divide(1.0, roots, out=np.zeros_like(roots), where=roots > 0)


@njit(nogil=True, cache=True)
def _powers(base: float, n: int) -> Float64:
    powers = np.ones(n + 1, np.float64)
    for i in range(n):
        powers[i + 1] = powers[i] * base
    return powers


@njit(nogil=True, cache=True)
def _collect_matches(
    edges: Float32, nodes: Float32, n: int, m: int, interleaved: bool, places: Int32, match: Float64
) -> int:
    """Positions and similarities of all items that match, in rising order; how many."""
    count = 0
    for a in range(n):
        if interleaved and a > 0:
            for b in range(1, m):
                if edges[a, b] != np.float32(0.0):
                    places[count, 0], places[count, 1] = 2 * a - 1, 2 * b - 1
                    match[count] = edges[a, b]
                    count += 1
        for b in range(m):
            value = nodes[a, b] if interleaved else edges[a, b] * nodes[a, b]
            if value != np.float32(0.0):
                places[count, 0] = 2 * a if interleaved else a
                places[count, 1] = 2 * b if interleaved else b
                match[count] = value
                count += 1
    return count


@njit(nogil=True, cache=True)
def _sum_chains(
    first: int,
    last: int,
    places: Int32,
    match: Float64,
    powers: Float64,
    length_weights: Float64,
    chains: Float64,
) -> float:
    """Sum of w_l K_l over the matches `first` to `last`, in rising order of x.

    A common subsequence is a chain of matches that rises in both paths; ``chains[k]``
    is the weight of all chains of the present length that end in match k.
    """
    total = 0.0
    for length in range(len(length_weights)):
        value = 0.0
        for k in range(last - 1, first - 1, -1):  # backwards: those before k are still shorter
            weight = 0.0 if length > 0 else powers[2]
            x, y = places[k, 0], places[k, 1]
            for i in range(first, k if length > 0 else first):
                if places[i, 0] < x and places[i, 1] < y:
                    weight += chains[i] * powers[x - places[i, 0] + y - places[i, 1]]
            chains[k] = weight * match[k]
            value += chains[k]
        if value == 0.0:  # no chain of this length, so none that is longer
            break
        total += length_weights[length] * value
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
    n, longest = len(offsets) - 1, 0
    for i in range(n):
        longest = max(longest, offsets[i + 1] - offsets[i])
    edges = np.empty((longest, longest), np.float32)
    nodes = np.empty((longest, longest), np.float32)
    places = np.empty((2 * longest * longest, 2), np.int32)
    match, chains = np.empty(len(places)), np.empty(len(places))
    powers = _powers(decay, 4 * longest + 2)
    out = np.zeros(n, np.float64)
    for i in range(n):
        first, size = offsets[i], offsets[i + 1] - offsets[i]
        for a in range(size):
            for b in range(size):
                row = starts[i] + a * size + b
                edges[a, b] = values[row, 0] * (sigma[first + a] * sigma[first + b])
                node = np.float32(0.0)
                for k in range(len(attribute_weights)):
                    node += attribute_weights[k] * values[row, k + 1]
                nodes[a, b] = node
        count = _collect_matches(edges, nodes, size, size, interleaved, places, match)
        out[i] = _sum_chains(0, count, places, match, powers, length_weights, chains)
    return out


@njit(nogil=True, cache=True)
def _item_similarity(
    similarity: Float32, x: Int32, i: int, y: Int32, j: int, attribute_weights: Float32
) -> np.float32:
    """Similarity of two items without sigma; an edge never matches a node."""
    if (x[i, 0] < 0) != (y[j, 0] < 0) or (x[i, 1] < 0) != (y[j, 1] < 0):
        return np.float32(0.0)
    edge = np.float32(1.0) if x[i, 0] < 0 else similarity[x[i, 0], y[j, 0]]
    if x[i, 1] < 0 or edge == np.float32(0.0):
        return edge
    node = np.float32(0.0)
    for k in range(len(attribute_weights)):
        node += attribute_weights[k] * similarity[x[i, k + 1], y[j, k + 1]]
    return edge * node


@njit(nogil=True, cache=True)
def _find_matches(
    similarity: Float32,
    x_items: Int32,
    x_sigma: Float32,
    y_items: Int32,
    y_ids: Int64,
    y_sigma: Float32,
    attribute_weights: Float32,
) -> tuple[Int64, Int32, Float32]:
    """Places in y that match each row of x_items, in rising order, and how well."""
    starts = np.zeros(len(x_items) + 1, np.int64)
    room = 1024
    places, match = np.empty(room, np.int32), np.empty(room, np.float32)
    count = 0
    alike = np.empty(len(y_items), np.float32)
    for i in range(len(x_items)):
        for j in range(len(y_items)):
            alike[j] = _item_similarity(similarity, x_items, i, y_items, j, attribute_weights)
            if alike[j] != np.float32(0.0) and x_items[i, 0] >= 0:
                alike[j] *= x_sigma[x_items[i, 0]] * y_sigma[y_items[j, 0]]
        for j in range(len(y_ids)):
            if alike[y_ids[j]] != np.float32(0.0):
                if count == room:
                    places = np.concatenate((places, np.empty(room, np.int32)))
                    match = np.concatenate((match, np.empty(room, np.float32)))
                    room *= 2
                places[count], match[count] = j, alike[y_ids[j]]
                count += 1
        starts[i + 1] = count
    return starts, places[:count], match[:count]


@njit(nogil=True, cache=True)
def _gram(
    x_ids: Int64,
    x_offsets: Int64,
    x_scale: Float64,
    y_offsets: Int64,
    y_scale: Float64,
    starts: Int64,
    found: Int32,
    similarity: Float32,
    decay: float,
    length_weights: Float64,
) -> Float32:
    """Gram matrix from the rows of y that match each distinct item of x.

    The matches of one x with all y are dealt out to bins, one for each y.
    """
    n, m, longest = len(x_offsets) - 1, len(y_offsets) - 1, 0
    for i in range(n):
        longest = max(longest, x_offsets[i + 1] - x_offsets[i])
    owner = np.empty(y_offsets[-1], np.int64)
    for j in range(m):
        longest = max(longest, y_offsets[j + 1] - y_offsets[j])
        owner[y_offsets[j] : y_offsets[j + 1]] = j
    powers = _powers(decay, 2 * longest + 2)
    places, match, chains = np.empty((0, 2), np.int32), np.empty(0), np.empty(0)
    ends = np.empty(m, np.int64)
    out = np.zeros((n, m), np.float32)
    for i in range(n):
        first, size = x_offsets[i], x_offsets[i + 1] - x_offsets[i]
        if size * y_offsets[-1] > len(match):
            places = np.empty((size * y_offsets[-1], 2), np.int32)
            match, chains = np.empty(len(places)), np.empty(len(places))
        for j in range(m):
            ends[j] = size * y_offsets[j]
        for a in range(size):
            item = x_ids[first + a]
            for k in range(starts[item], starts[item + 1]):
                j = owner[found[k]]
                places[ends[j], 0], places[ends[j], 1] = a, found[k] - y_offsets[j]
                match[ends[j]] = similarity[k]
                ends[j] += 1
        for j in range(m):
            value = _sum_chains(
                size * y_offsets[j], ends[j], places, match, powers, length_weights, chains
            )
            out[i, j] = value * x_scale[i] * y_scale[j]
    return out
