"""The path kernel: common, possibly gapped subsequences of two sequences."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..structures import Float32, Int64, Structures
from ..views import Views
from .chains import sum_subsequences
from .item_matches import Cells, cross_matches, own_matches, pair_matches
from .kernel import Float64, inverse_roots
from .nodes import NodeKernel, check_weights
from .packing import distinct_items, padded, similar_lengths, similar_pairs, sorted_order


@dataclass(frozen=True, kw_only=True)
class SubsequenceKernel(NodeKernel):
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
    equality (also: no word vectors, or ``threshold = 1``) and Gaussians; thresholded
    cosines and sigmoids are not in general, and a normalized value can then exceed 1;
    see `hashing.families` for what becomes of that.

    Parameters
    ----------
    decay : float in (0, 1]
        lambda, the price of one item spanned in one path.
    max_length : int
        Longest common subsequence that counts, in items.
    length_weights : tuple of `max_length` floats >= 0, optional
        w_n; None: all 1.
    interleaved : bool
        Edges and nodes as separate items.
    tokens, threshold, bandwidth, edges, attribute_weights, sigma, view
        See `nodes.NodeKernel`; sigma concerns the items that carry such an edge.

    References
    ----------
    Lodhi et al. 2002, section 4; Bunescu & Mooney 2005 (NIPS), section 2;
    Garg et al. 2019, section 3.2 (sigma).
    """

    decay: float = 0.9
    max_length: int = 4
    length_weights: tuple[float, ...] | None = None
    interleaved: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.decay <= 1:
            raise ValueError(f"decay is {self.decay}; choose it in (0, 1].")
        if self.max_length < 1:
            raise ValueError(f"max_length is {self.max_length}; at least 1 item must match.")
        if self.length_weights is not None and len(self.length_weights) != self.max_length:
            raise ValueError(
                f"length_weights has {len(self.length_weights)} values for max_length = "
                f"{self.max_length}; give one a length."
            )
        check_weights("length_weights", self.length_weights)

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
        weights, length_weights = self._shares(x_paths), self._length_weights
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
            sums = sum_subsequences(items, ends, first, match, self.decay, length_weights)
            values[lanes] = sums[0]
        scales = [inverse_roots(self.self_values(views)) for views in (x, y)]
        return (values * scales[0][own] * scales[1][other]).astype(np.float32)

    def self_values(self, x: Views) -> Float64:
        """K(x, x) before normalization, float64 (n,)."""
        structures = x[self.view]
        weights, length_weights = self._shares(structures), self._length_weights
        values, starts = self._own_similarity(structures)
        symbol_weights = self._symbol_weights(structures)[structures.nodes]
        out = np.zeros(len(structures), np.float64)
        for lanes in similar_lengths(structures.lengths):
            match = own_matches(
                values, starts, symbol_weights, structures.offsets, lanes, weights, self.interleaved
            )
            items, ends = np.arange(len(match)), np.array([0, len(match)])  # one sequence
            first = np.zeros(1, np.int64)
            out[lanes] = sum_subsequences(items, ends, first, match, self.decay, length_weights)[0]
        return out

    def _item_values(
        self, x: Structures, y: Structures, cells: Cells
    ) -> tuple[tuple[str, ...], Float32]:
        if not self.interleaved:
            return super()._item_values(x, y, cells)
        edges, nodes = self._node_values(x, cells)
        edges[(cells.own == 0) | (cells.other == 0)] = 0.0  # no edge enters the first node
        return ("edge", "node"), np.stack([edges, nodes], axis=1)

    @property
    def _length_weights(self) -> Float64:
        return np.array(self.length_weights or (1.0,) * self.max_length, np.float64)


class _Comparison:
    """``kernel.gram(·, y)``, prepared."""

    def __init__(self, kernel: SubsequenceKernel, y: Views) -> None:
        self._kernel = kernel
        self._y = y[kernel.view]
        self._table = kernel._table(self._y)
        self._scale = inverse_roots(kernel.self_values(y))
        packed = distinct_items(self._y, kernel.interleaved)
        self._lanes = [
            (lanes, *padded(*packed, lanes)) for lanes in similar_lengths(self._y.lengths)
        ]

    def __call__(self, x: Views) -> Float32:
        kernel, structures = self._kernel, x[self._kernel.view]
        weights, length_weights = kernel._shares(structures), kernel._length_weights
        similarity = kernel._similarity(structures, self._y, self._table)
        items, ids, offsets = distinct_items(structures, kernel.interleaved)
        order = sorted_order(ids, offsets)
        scale = inverse_roots(kernel.self_values(x))
        out = np.empty((len(structures), len(self._y)), np.float32)
        for lanes, y_items, y_ids in self._lanes:
            match = cross_matches(similarity, items, y_items, y_ids, weights)
            values = sum_subsequences(ids, offsets, order, match, kernel.decay, length_weights)
            out[:, lanes] = values * scale[:, None] * self._scale[lanes]
        return out
