"""The graph kernel: similar trees, node by node from their roots downwards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..structures import Float32, Int64, Structures
from ..trees import chains
from ..views import Views
from .branches import Trees, chosen_values, gram_values, own_values, pack_trees, room_for
from .kernel import Float64, inverse_roots
from .nodes import NodeKernel


@dataclass(frozen=True, kw_only=True)
class GraphKernel(NodeKernel):
    """Similarity of two trees and of the sequences of children that match in them.

    With ``c(a, b)`` the similarity of two nodes, see `nodes.NodeKernel`, and ``lambda`` the
    decay,

    .. code-block:: text

        K(a, b) = 0 where c(a, b) = 0: the nodes do not match; else c(a, b) + sum over
                  sequences i of children of a and j of children of b, equally long, in rising
                  order, i_k matching j_k for all k, of
                  lambda^(span(i) + span(j)) * sum_k K(a[i_k], b[j_k])
        K(x, y) = K(root of x, root of y),   normalized K(x,y) / sqrt(K(x,x) K(y,y))

    with span = last - first + 1 among the siblings. Roots are the first nodes; a ``path`` view
    is a chain that begins at its first node. Zelenko et al.'s dynamic program, for sequences of
    all lengths at once, costs the product of the numbers of children of two nodes that are
    reached, so at most the product of the sizes of the trees, 0 where the roots do not match.

    A node with ``sigma = 0`` matches none, and nothing below it is reached. It keeps its place
    among its siblings: a sequence pays for it in its span, and no contiguous one leads across.

    The kernel is positive semi-definite if c is and matching is an equivalence relation: so with
    ``tokens`` equality or gaussian, or without word vectors, and one attribute that weighs more
    than 0. Nodes that are alike in one of several attributes make it indefinite in general, as
    the thresholded cosine and the sigmoid do, and a normalized value can then exceed 1. Gaussian
    and sigmoid match all words that have vectors.

    Parameters
    ----------
    decay : float in (0, 1)
        lambda, the price of one child spanned in one tree. Above 0.5 K grows exponentially with
        the number of children that are all alike.
    contiguous : bool
        Only sequences without gaps; else sparse ones too.
    tokens, threshold, bandwidth, edges, attribute_weights, sigma
        See `nodes.NodeKernel`.
    view : str
        Name of a view with parents, or ``path``.

    References
    ----------
    Zelenko et al. 2003, sections 4 and 5; Culotta & Sorensen 2004, section 5; Garg et al. 2019,
    section 3.2 (sigma).
    """

    decay: float = 0.5
    contiguous: bool = False
    view: Literal["subtree", "path"] | str = "subtree"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.decay < 1:
            raise ValueError(f"decay is {self.decay}; choose it in (0, 1).")

    def against(self, y: Views) -> Callable[[Views], Float32]:
        """``gram(·, y)`` with everything that depends on `y` alone computed once."""
        references = y[self.view]
        table, trees = self._table(references), self._trees(references)
        y_scale = inverse_roots(self.self_values(y))

        def gram(x: Views) -> Float32:
            structures = x[self.view]
            values = gram_values(
                self._similarity(structures, references, table),
                self._trees(structures),
                trees,
                self._shares(structures),
                *self._prices,
                room_for(structures, references),
            )
            x_scale = inverse_roots(self.self_values(x))
            return (values * x_scale[:, None] * y_scale).astype(np.float32)

        return gram

    def pairs(self, x: Views, y: Views, own: Int64, other: Int64) -> Float32:
        """Normalized values of structures ``own[i]`` of `x` and ``other[i]`` of `y`.

        Returns
        -------
        float32 array (n_pairs,)
            Bit for bit those of `gram`.
        """
        x_trees, y_trees = x[self.view], y[self.view]
        values = chosen_values(
            self._similarity(x_trees, y_trees),
            self._trees(x_trees),
            self._trees(y_trees),
            own,
            other,
            self._shares(x_trees),
            *self._prices,
            room_for(x_trees, y_trees),
        )
        scales = [inverse_roots(self.self_values(views)) for views in (x, y)]
        return (values * scales[0][own] * scales[1][other]).astype(np.float32)

    def self_values(self, x: Views) -> Float64:
        """K(x, x) before normalization, float64 (n,).

        Raises
        ------
        ValueError
            If one exceeds what float64 holds.
        """
        structures = x[self.view]
        with np.errstate(over="ignore", invalid="ignore"):
            values = own_values(
                *self._own_similarity(structures),
                self._symbol_weights(structures)[structures.nodes],
                structures.offsets,
                self._trees(structures),
                self._shares(structures),
                *self._prices,
                room_for(structures, structures),
            )
        if not np.isfinite(values).all():
            i = int(np.isfinite(values).argmin())
            raise ValueError(
                f"K(x, x) of structure {i} with {structures.lengths[i]} nodes exceeds float64 at "
                f"decay = {self.decay}; choose 0.5 or less."
            )
        return values

    @property
    def _prices(self) -> tuple[float, float]:
        """Of a child that matches, and of one that is skipped."""
        return self.decay, 0.0 if self.contiguous else self.decay

    def _trees(self, structures: Structures) -> Trees:
        if structures.parents is not None:
            return pack_trees(structures, structures.parents)
        if self.view != "path":
            raise ValueError(
                f"the view {self.view!r} has no parents, but the graph kernel compares trees; "
                "choose the view subtree or sentence, or path for a chain."
            )
        return pack_trees(structures, chains(structures.offsets))
