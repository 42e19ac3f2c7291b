"""The path kernel: common, possibly gapped subsequences of two sequences."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from ..similarity import SymbolTable, own_similarity, symbol_similarity
from ..structures import Float32, Int64, Structures, Views
from .chains import sum_subsequences
from .item_matches import cross_matches, own_matches, pair_matches
from .kernel import Float64, inverse_roots
from .packing import distinct_items, padded, similar_lengths, similar_pairs, sorted_order

MAX_WEIGHT = 1e6
MAX_SIGMA = 100.0  # float32 holds products of many pairs of them


class Matches(NamedTuple):
    """Pairs of similar items of many pairs of paths, in the order of the paths.

    Parameters
    ----------
    offsets : int64 array (n + 1,)
        Pair ``i`` of paths owns the rows ``offsets[i]:offsets[i + 1]`` of the others.
    own, other : int64 arrays
        Places of the items' nodes in the one path and in the other.
    similarity : float32 array
        c, always above 0.
    part : list of str
        What is one item: the ``node`` itself or the ``edge`` that enters it if
        interleaved, else ``both``.
    """

    offsets: Int64
    own: Int64
    other: Int64
    similarity: Float32
    part: list[str]


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
    in general, and a normalized value can then exceed 1; see `hashing.families` for
    what becomes of that.

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
    sigma : mapping of edge label to float in [0, 100], optional
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
            if weights is not None and not _are_weights(weights):
                raise ValueError(f"{name} is {weights}; give numbers >= 0, not all of them 0.")
        for label, value in (self.sigma or {}).items():
            if not 0 <= value <= MAX_SIGMA:
                raise ValueError(f"sigma[{label!r}] is {value}; give one in [0, {MAX_SIGMA:g}].")

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

    def pairs(self, x: Views, y: Views, own: Int64, other: Int64) -> Float32:
        """Normalized values of structures ``own[i]`` of `x` and ``other[i]`` of `y`.

        Returns
        -------
        float32 array (n_pairs,)
            Bit for bit those of `gram`.
        """
        x_paths, y_paths = x[self.view], y[self.view]
        weights, decay, length_weights = self._numbers(x_paths)
        similarity = self._similarity(x_paths, y_paths)
        sides = [(s.nodes, s.offsets) for s in (x_paths, y_paths)]
        first = np.zeros(1, np.int64)
        values = np.empty(len(own), np.float64)
        for lanes in similar_pairs(x_paths.lengths[own], y_paths.lengths[other]):
            places = own[lanes], other[lanes]
            match = pair_matches(
                similarity, *sides[0], *sides[1], *places, weights, self.interleaved
            )
            items, ends = np.arange(len(match)), np.array([0, len(match)])  # one sequence
            values[lanes] = sum_subsequences(items, ends, first, match, decay, length_weights)[0]
        scales = [inverse_roots(self.self_values(views)) for views in (x, y)]
        return (values * scales[0][own] * scales[1][other]).astype(np.float32)

    def self_values(self, x: Views) -> Float64:
        """K(x, x) before normalization, float64 (n,)."""
        structures = x[self.view]
        weights, decay, length_weights = self._numbers(structures)
        values, starts = own_similarity(structures, threshold=self.threshold)
        symbol_weights = self._symbol_weights(structures)[structures.nodes]
        out = np.zeros(len(structures), np.float64)
        for lanes in similar_lengths(structures.lengths):
            match = own_matches(
                values, starts, symbol_weights, structures.offsets, lanes, weights, self.interleaved
            )
            items, ends = np.arange(len(match)), np.array([0, len(match)])  # one sequence
            first = np.zeros(1, np.int64)
            out[lanes] = sum_subsequences(items, ends, first, match, decay, length_weights)[0]
        return out

    def matches(self, x: Views, y: Views) -> Matches:
        """The similar items of each path of `x` and the one of `y` in the same place."""
        x_paths, y_paths = x[self.view], y[self.view]
        widths = y_paths.lengths
        n_cells = x_paths.lengths * widths
        pairs = np.repeat(np.arange(len(n_cells)), n_cells)
        own, other = np.divmod(
            np.arange(len(pairs)) - np.repeat(np.cumsum(n_cells) - n_cells, n_cells), widths[pairs]
        )
        parts, values = self._item_values(x_paths, y_paths, own, other, pairs)
        cells, columns = np.nonzero(values)
        return Matches(
            np.searchsorted(pairs[cells], np.arange(len(n_cells) + 1)),
            own[cells],
            other[cells],
            values[cells, columns],
            [parts[column] for column in columns.tolist()],
        )

    def _item_values(
        self, x: Structures, y: Structures, own: Int64, other: Int64, pairs: Int64
    ) -> tuple[tuple[str, ...], Float32]:
        """Names of the parts, and c of those of chosen nodes, float32 (n_cells, n_parts)."""
        weights, _, _ = self._numbers(x)
        x_nodes, y_nodes = x.nodes[x.offsets[pairs] + own], y.nodes[y.offsets[pairs] + other]
        similarity = self._similarity(x, y)[x_nodes, y_nodes]
        edges = similarity[:, 0]
        nodes = np.zeros_like(edges)
        for k, weight in enumerate(weights):  # in this order: no value depends on the others
            nodes += weight * similarity[:, k + 1]
        if not self.interleaved:
            return ("both",), (edges * nodes)[:, None]
        edges[(own == 0) | (other == 0)] = 0.0  # no edge enters the first node
        return ("edge", "node"), np.stack([edges, nodes], axis=1)

    def _numbers(self, structures: Structures) -> tuple[Float32, float, Float64]:
        n_attributes = structures.nodes.shape[1] - 1
        if n_attributes < 1:
            raise ValueError(
                f"nodes have {n_attributes + 1} columns; the kernel needs an edge and at least one "
                "attribute of the node itself."
            )
        weights = self.attribute_weights or (1.0,) * n_attributes
        if len(weights) != n_attributes:
            raise ValueError(
                f"attribute_weights has {len(weights)} values but nodes have {n_attributes} "
                "attributes beside the edge; give one an attribute."
            )
        return (
            (np.array(weights) / sum(weights)).astype(np.float32),
            self.decay,
            np.array(self.length_weights or (1.0,) * self.max_length, np.float64),
        )

    def _similarity(self, x: Structures, y: Structures) -> Float32:
        """Similarity of symbols times the weights of both, float32 (x symbols, y symbols)."""
        similarity = symbol_similarity(x, y, threshold=self.threshold)
        return similarity * np.outer(self._symbol_weights(x), self._symbol_weights(y))

    def _symbol_weights(self, structures: Structures) -> Float32:
        """Weight of every symbol, float32 (n_symbols,): sigma of an edge, 1 for what is none."""
        named = {f"dep={k}": v for k, v in (self.sigma or {}).items()}
        of_symbol = [named.get(symbol.rstrip("<>"), 1.0) for symbol in structures.symbols]
        return np.array(of_symbol, np.float32)


def _are_weights(values: Sequence[float]) -> bool:
    return all(0 <= value <= MAX_WEIGHT for value in values) and sum(values) > 0


class _Comparison:
    """``kernel.gram(·, y)``, prepared."""

    def __init__(self, kernel: SubsequenceKernel, y: Views) -> None:
        self._kernel = kernel
        self._y = y[kernel.view]
        self._table = SymbolTable(self._y, threshold=kernel.threshold)
        self._scale = inverse_roots(kernel.self_values(y))
        self._symbol_weights = kernel._symbol_weights(self._y)
        packed = distinct_items(self._y, kernel.interleaved)
        self._lanes = [
            (lanes, *padded(*packed, lanes)) for lanes in similar_lengths(self._y.lengths)
        ]

    def __call__(self, x: Views) -> Float32:
        kernel, structures = self._kernel, x[self._kernel.view]
        if structures.nodes.shape[1] != self._y.nodes.shape[1]:
            raise ValueError(
                f"nodes have {structures.nodes.shape[1]} attributes but those compared with have "
                f"{self._y.nodes.shape[1]}; extract both with the same settings."
            )
        weights, decay, length_weights = kernel._numbers(structures)
        similarity = self._table.similarity(structures)
        similarity *= np.outer(kernel._symbol_weights(structures), self._symbol_weights)
        items, ids, offsets = distinct_items(structures, kernel.interleaved)
        order = sorted_order(ids, offsets)
        scale = inverse_roots(kernel.self_values(x))
        out = np.empty((len(structures), len(self._y)), np.float32)
        for lanes, y_items, y_ids in self._lanes:
            match = cross_matches(similarity, items, y_items, y_ids, weights)
            values = sum_subsequences(ids, offsets, order, match, decay, length_weights)
            out[:, lanes] = values * scale[:, None] * self._scale[lanes]
        return out
