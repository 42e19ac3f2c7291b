"""The shortest path kernel: what two equally long paths have in common, place by place."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np

from ..compiled import compiled
from ..structures import Float32, Int32, Int64, Structures
from ..views import Views
from .item_matches import Cells
from .kernel import Float64, inverse_roots
from .nodes import NodeKernel


@dataclass(frozen=True, kw_only=True)
class ShortestPathKernel(NodeKernel):
    """Product of the numbers of common features of two paths, place by place.

    A path of n nodes has 2n - 1 places: node, edge, node, …; no edge enters the first node.

    .. code-block:: text

        K(s, t) = 0 where they differ in length or have no node; else
                  prod over nodes k of     sum_a weight_a similarity_a(s_k, t_k)
                  prod over edges k of     sigma_s sigma_t [edges s_k and t_k are alike]
        normalized K(s,t) / sqrt(K(s,s) K(t,t)), which the paper does not

    over the attributes a of a node. An attribute without a value (``ent_type=``) is no feature.
    As in the paper, edges are alike if they have one direction; ``edges = "label"`` asks for one
    label too.

    Normalized, a sigma above 0 cancels out, as does a common factor of the weights; sigma = 0
    makes paths with such an edge similar to nothing.

    The kernel is positive semi-definite if the similarity of symbols is, see
    `similarity.TokenKernel`: so for equality, and in general not for thresholded cosines.

    Parameters
    ----------
    attribute_weights : tuple of floats >= 0, optional
        Of each node attribute, not divided by their sum; None: each counts 1.
    tokens, threshold, bandwidth, edges, sigma, view
        See `nodes.NodeKernel`.

    References
    ----------
    Bunescu & Mooney 2005 (HLT), section 4; Garg et al. 2019, section 3.2 (sigma).
    """

    edges: Literal["label", "direction", "any"] = "direction"

    def against(self, y: Views) -> Callable[[Views], Float32]:
        """``gram(·, y)`` with everything that depends on `y` alone computed once."""
        references = y[self.view]
        table, paths = self._table(references), self._paths(references)

        def gram(x: Views) -> Float32:
            structures = x[self.view]
            similarity = self._similarity(structures, references, table)
            return _gram(similarity, self._paths(structures), paths)

        return gram

    def pairs(self, x: Views, y: Views, own: Int64, other: Int64) -> Float32:
        """Normalized values of structures ``own[i]`` of `x` and ``other[i]`` of `y`.

        Returns
        -------
        float32 array (n_pairs,)
            Bit for bit those of `gram`.
        """
        x_paths, y_paths = x[self.view], y[self.view]
        similarity = self._similarity(x_paths, y_paths)
        return _pairs(similarity, self._paths(x_paths), self._paths(y_paths), own, other)

    def self_values(self, x: Views) -> Float64:
        """K(x, x) before normalization, float64 (n,); inf where that is too large."""
        values, offsets = self._own_nodes(x[self.view]).tolist(), x[self.view].offsets.tolist()
        products = [math.prod(values[a:b]) if a < b else 0.0 for a, b in pairwise(offsets)]
        return np.array(products, np.float64)

    def _item_values(
        self, x: Structures, y: Structures, cells: Cells
    ) -> tuple[tuple[str, ...], Float32]:
        values = np.stack(self._node_values(x, cells), axis=1)
        values[cells.own == 0, 0] = 0.0  # no edge enters the first node
        differ = x.lengths[cells.pairs] != y.lengths[cells.pairs]
        values[(cells.own != cells.other) | differ] = 0.0
        return ("edge", "node"), values

    def _paths(self, structures: Structures) -> _Paths:
        return _Paths(
            structures.nodes,
            structures.offsets,
            inverse_roots(self._own_nodes(structures)),
            self._shares(structures).astype(np.float64),
        )

    def _own_nodes(self, structures: Structures) -> Float64:
        """c(a, a) of each node and the edge that enters it, float64 (n_nodes,)."""
        squares = np.square(self._symbol_weights(structures))[structures.nodes]
        squares[structures.offsets[:-1][structures.lengths > 0], 0] = 1.0  # no edge enters it
        values = np.zeros(len(squares))
        for k, share in enumerate(self._shares(structures).tolist()):
            values += share * squares[:, k + 1]
        return values * squares[:, 0]

    def _symbol_weights(self, structures: Structures) -> Float32:
        weights = super()._symbol_weights(structures)
        for row, symbol in enumerate(structures.symbols):
            if symbol.endswith("=") and symbol != "dep=" and symbol.count("=") == 1:
                weights[row] = 0.0
        return weights

    def _shares(self, structures: Structures) -> Float32:
        return np.array(self._given_weights(structures), np.float32)


class _Paths(NamedTuple):
    """Paths, 1 / sqrt(c(a, a)) of each node with its edge, and the weight of each attribute."""

    nodes: Int32
    offsets: Int64
    scales: Float64
    attribute_weights: Float64


@compiled
def _gram(similarity: Float32, x: _Paths, y: _Paths) -> Float32:
    """Values of all paths of x and y, float32 (n, m); `similarity` is that of symbols."""
    x_lengths, y_lengths = np.diff(x.offsets), np.diff(y.offsets)
    out = np.zeros((len(x_lengths), len(y_lengths)), np.float32)
    for i in range(len(x_lengths)):
        for j in range(len(y_lengths)):
            if x_lengths[i] == y_lengths[j]:  # few are: this costs most
                out[i, j] = _value(similarity, x, i, y, j)
    return out


@compiled
def _pairs(similarity: Float32, x: _Paths, y: _Paths, own: Int64, other: Int64) -> Float32:
    """Values of paths ``own[i]`` of x and ``other[i]`` of y, float32 (n_pairs,)."""
    x_lengths, y_lengths = np.diff(x.offsets)[own], np.diff(y.offsets)[other]
    out = np.zeros(len(own), np.float32)
    for i in np.flatnonzero(x_lengths == y_lengths):
        out[i] = _value(similarity, x, own[i], y, other[i])
    return out


@compiled
def _value(similarity: Float32, x: _Paths, i: int, y: _Paths, j: int) -> float:
    """Normalized value of two equally long paths. With equality no factor exceeds 1."""
    first, last = x.offsets[i], x.offsets[i + 1]
    shift = y.offsets[j] - first
    if first == last:
        return 0.0
    value = 1.0
    for a in range(first, last):
        b = a + shift
        edge = similarity[x.nodes[a, 0], y.nodes[b, 0]] if a > first else np.float32(1.0)
        node = 0.0
        for k in range(len(x.attribute_weights)):
            alike = similarity[x.nodes[a, k + 1], y.nodes[b, k + 1]]
            node += x.attribute_weights[k] * alike
        value *= edge * node * x.scales[a] * y.scales[b]
        if value == 0.0:
            return 0.0
    return value
