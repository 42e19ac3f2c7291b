"""The shortest path kernel: what two equally long paths have in common, place by place."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np

from ..compiled import compiled
from ..structures import Float32, Int32, Int64, Structures, Views
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

    The kernel is positive semi-definite if the similarity of symbols is: so for equality (no
    word vectors, or ``threshold = 1``); thresholded cosines are not in general.

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
        lengths = references.lengths
        order = np.argsort(lengths, kind="stable")
        starts = np.searchsorted(lengths[order], np.arange(lengths.max(initial=0) + 2))

        def gram(x: Views) -> Float32:
            structures = x[self.view]
            similarity = self._similarity(structures, references, table)
            return _gram(similarity, self._paths(structures), paths, order, starts)

        return gram

    def pairs(self, x: Views, y: Views, own: Int64, other: Int64) -> Float32:
        """Normalized values of structures ``own[i]`` of `x` and ``other[i]`` of `y`.

        Returns
        -------
        float32 array (n_pairs,)
            Bit for bit those of `gram`.
        """
        x_paths, y_paths = x[self.view], y[self.view]
        return _pairs(
            self._similarity(x_paths, y_paths),
            self._paths(x_paths),
            self._paths(y_paths),
            own,
            other,
        )

    def self_values(self, x: Views) -> Float64:
        """K(x, x) before normalization, float64 (n,); inf where that is too large."""
        values, offsets = self._own_nodes(x[self.view]).tolist(), x[self.view].offsets.tolist()
        products = [math.prod(values[a:b]) if a < b else 0.0 for a, b in pairwise(offsets)]
        return np.array(products, np.float64)

    def _item_values(
        self, x: Structures, y: Structures, own: Int64, other: Int64, pairs: Int64
    ) -> tuple[tuple[str, ...], Float32]:
        values = np.stack(self._node_values(x, y, own, other, pairs), axis=1)
        values[own == 0, 0] = 0.0  # no edge enters the first node
        values[(own != other) | (x.lengths[pairs] != y.lengths[pairs])] = 0.0
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
        counts = [
            symbol.startswith("dep=") or symbol.partition("=")[2] != ""
            for symbol in structures.symbols
        ]
        return super()._symbol_weights(structures) * np.array(counts, np.float32)

    def _shares(self, structures: Structures) -> Float32:
        return np.array(self._given_weights(structures), np.float32)


class _Paths(NamedTuple):
    """Paths, 1 / sqrt(c(a, a)) of each node with its edge, and the weight of each attribute."""

    nodes: Int32
    offsets: Int64
    scales: Float64
    attribute_weights: Float64


@compiled
def _gram(
    similarity: Float32,
    x: _Paths,
    y: _Paths,
    order: Int64,
    starts: Int64,
) -> Float32:
    """Values of all paths of x and all of y, float32 (n, m).

    Those of y with k nodes are ``order[starts[k] : starts[k + 1]]``.
    """
    out = np.zeros((len(x.offsets) - 1, len(order)), np.float32)
    for i in range(len(out)):
        length = x.offsets[i + 1] - x.offsets[i]
        if 0 < length < len(starts) - 1:
            for j in order[starts[length] : starts[length + 1]]:
                out[i, j] = _value(similarity, x, i, y, j)
    return out


@compiled
def _pairs(
    similarity: Float32,
    x: _Paths,
    y: _Paths,
    own: Int64,
    other: Int64,
) -> Float32:
    """Values of paths ``own[i]`` of x and ``other[i]`` of y, float32 (n_pairs,)."""
    out = np.zeros(len(own), np.float32)
    for i in range(len(own)):
        length = x.offsets[own[i] + 1] - x.offsets[own[i]]
        if length > 0 and length == y.offsets[other[i] + 1] - y.offsets[other[i]]:
            out[i] = _value(similarity, x, own[i], y, other[i])
    return out


@compiled
def _value(similarity: Float32, x: _Paths, i: int, y: _Paths, j: int) -> float:
    """Normalized value of two equally long paths, one factor in [0, 1] after the other."""
    first, shift, value = x.offsets[i], y.offsets[j] - x.offsets[i], 1.0
    for a in range(first, x.offsets[i + 1]):
        b = a + shift
        edge = similarity[x.nodes[a, 0], y.nodes[b, 0]] if a > first else np.float32(1.0)
        if edge == np.float32(0.0):
            return 0.0
        node = 0.0
        for k in range(len(x.attribute_weights)):
            node += x.attribute_weights[k] * similarity[x.nodes[a, k + 1], y.nodes[b, k + 1]]
        value *= edge * node * x.scales[a] * y.scales[b]
        if value == 0.0:
            break
    return value
