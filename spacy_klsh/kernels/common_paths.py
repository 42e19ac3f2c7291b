"""The common-paths kernel: paths that two dependency trees share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..structures import Float32, Int64, Structures
from ..views import Views
from .governed import GovernedTrees, governed, is_role
from .item_matches import Cells
from .kernel import Float64, inverse_roots
from .nodes import NodeKernel
from .path_sums import Trees, cross_sums, own_sums

N_CELLS = 2**18  # that are worked on together


@dataclass(frozen=True, kw_only=True)
class CommonPathsKernel(NodeKernel):
    """Weighted number of common paths of two dependency trees.

    A path leads from one node up to its highest one, the peak, and down again; either way
    may be empty. Two paths are common if they go up and down equally far. With m the
    similarity of two nodes and e that of two arcs,

    .. code-block:: text

        K = sum over common paths of alpha^(number of arcs) * prod m * prod e
        normalized K(s,t) / sqrt(K(s,s) K(t,t))

    A single word is a path without arcs and weighs m. By dynamic programming, A and CDP
    over children c of n, d of n',

    .. code-block:: text

        A(c, d) = e(c, d) m(c, d) alpha (1 + CDP(c, d)),      CDP(n, n') = sum_{c,d} A(c, d)
        CPP(n, n') = CDP(n, n') + sum of A(c, d) A(c', d') over c < c' and d != d'
        K = sum_{n,n'} m(n, n') (1 + CPP(n, n'))

    in time proportional to the product of the numbers of nodes. The two middle terms of CPP
    as the paper prints them lack a factor alpha each.

    ``m = sum_a weight_a similarity_a`` over the node's attributes a, the weights summing to
    1, is in [0, 1]. With one attribute and no word vectors it is the paper's equality of
    words. Further attributes (tag, pos, ent_type) are the word classes of its section 6, as
    Bunescu & Mooney 2005 (NIPS) have them: nodes match in part if they share some of their
    features; word vectors make classes of their own. ``e = sigma sigma'`` where the arcs
    are alike, else 0; their direction always counts, as in the paper.

    The kernel is positive semi-definite if the similarity of symbols is, see
    `similarity.TokenKernel`, since it sums products of m and e over pairs of paths of one
    shape. Thresholded cosines are not in general, and a normalized value can then exceed 1.

    Parameters
    ----------
    alpha : float in (0, 1]
        Price of one arc of a path; a path of n words costs ``alpha^(n - 1)``.
    anchors : {"any", "arguments"}
        "arguments": only paths that lead from one argument of the candidate to another count,
        and are compared with the one between the same two roles: the paper's section 5.1.
        Where both are one node, that is the path. The first argument is the root of the given
        tree, and the leaves ``role=NAME`` mark the others; they are no words. So "any" does not
        tell head and tail apart: it wants undirected candidates, ``direction`` "label" or "none".
    tokens, threshold, bandwidth, edges, attribute_weights, sigma, view
        See `nodes.NodeKernel`. ``edges = "direction"`` looks at words and directions alone, as
        in the paper; "any" is the same, for all arcs lead down. sigma concerns the arcs of a
        path: 0 cuts them, the words at both ends stay. The view is a tree, or the path of two
        arguments.

    References
    ----------
    Kate 2008, sections 3, 5.1 and 6; Garg et al. 2019, section 3.2 (sigma).
    """

    alpha: float = 0.25
    anchors: Literal["any", "arguments"] = "any"
    view: str = "subtree"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.alpha <= 1:
            raise ValueError(f"alpha is {self.alpha}; choose it in (0, 1].")
        if self.anchors not in ("any", "arguments"):
            raise ValueError(f"anchors is {self.anchors!r}; choose any or arguments.")

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
        return _Comparison(self, y).pairs(x, own, other)

    def self_values(self, x: Views) -> Float64:
        """K(x, x) before normalization, float64 (n,)."""
        return self._self_values(self._governed(x))

    def _item_values(
        self, x: Structures, y: Structures, cells: Cells
    ) -> tuple[tuple[str, ...], Float32]:
        nodes = self._node_values(x, cells)[1]
        own, other = x.offsets[cells.pairs] + cells.own, y.offsets[cells.pairs] + cells.other
        nodes[is_role(x)[own] | is_role(y)[other]] = 0.0
        return ("node",), nodes[:, None]

    @property
    def _anchored(self) -> bool:
        return self.anchors == "arguments"

    def _governed(self, x: Views) -> GovernedTrees:
        return governed(x[self.view], anchored=self._anchored)

    def _compiled(self, trees: GovernedTrees) -> Trees:
        structures, children = trees
        ends = np.ones(len(structures.nodes))
        if self._anchored:
            ends = is_role(structures) / self.alpha  # the arc to a leaf is none
        return Trees(structures.nodes, structures.offsets, children, ends)

    def _self_values(self, x: GovernedTrees) -> Float64:
        structures, weights = x.structures, self._shares(x.structures)
        parts = [np.zeros(0)]
        for rows in _blocks(structures.lengths**2):
            block, nodes = structures[rows], slice(*structures.offsets[[rows.start, rows.stop]])
            values, starts = self._own_similarity(block)
            symbol_weights = self._symbol_weights(block)[block.nodes]
            trees = self._compiled(GovernedTrees(block, x.children[nodes]))
            settings = weights, trees, self.alpha, self._anchored
            parts.append(own_sums(values, starts, symbol_weights, *settings))
        out = np.concatenate(parts)
        if not np.isfinite(out).all():
            i = int(np.isfinite(out).argmin())
            raise ValueError(
                f"K of structure {i} and itself is {out[i]}, expected a finite number; choose "
                "sigma nearer to 1."
            )
        return out


class _Comparison:
    """``kernel.gram(·, y)``, prepared."""

    def __init__(self, kernel: CommonPathsKernel, y: Views) -> None:
        self._kernel = kernel
        trees = kernel._governed(y)
        self._y, self._y_trees = trees.structures, kernel._compiled(trees)
        self._items = np.unique(self._y.nodes[:, 1:], axis=0, return_inverse=True)[1].reshape(-1)
        self._table = kernel._table(self._y)
        self._scale = inverse_roots(kernel._self_values(trees))

    def __call__(self, x: Views) -> Float32:
        compare, n, m = self._compared(x), len(x[self._kernel.view]), len(self._y)
        out = np.empty((n, m), np.float32)
        for rows in _blocks(np.full(n, m)):
            own, other = np.divmod(np.arange(rows.start * m, rows.stop * m), max(m, 1))
            out[rows] = compare(own, other).reshape(out[rows].shape)
        return out

    def pairs(self, x: Views, own: Int64, other: Int64) -> Float32:
        """Values of structures ``own[i]`` of `x` and ``other[i]`` of y, float32 (n_pairs,)."""
        return self._compared(x)(own, other)

    def _compared(self, x: Views) -> Callable[[Int64, Int64], Float32]:
        """`pairs` of `x` with everything that depends on `x` alone computed once."""
        kernel, trees = self._kernel, self._kernel._governed(x)
        structures = trees.structures
        similarity = kernel._similarity(structures, self._y, self._table)
        sides = kernel._shares(structures), kernel._compiled(trees), self._y_trees, self._items
        scale = inverse_roots(kernel._self_values(trees))

        def pairs(own: Int64, other: Int64) -> Float32:
            settings = kernel.alpha, kernel._anchored
            values = cross_sums(similarity, *sides, own, other, *settings)
            return (values * scale[own] * self._scale[other]).astype(np.float32)

        return pairs


def _blocks(n_cells: Int64) -> Iterator[slice]:
    """Neighbouring rows that are worked on together, `N_CELLS` at a time if they fit."""
    ends = np.cumsum(n_cells)
    start = 0
    while start < len(ends):
        limit = ends[start] - n_cells[start] + N_CELLS
        stop = max(int(np.searchsorted(ends, limit, side="right")), start + 1)
        yield slice(start, stop)
        start = stop
