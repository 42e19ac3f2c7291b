"""What kernels of paths and of trees have in common: how similar two nodes are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from ..similarity import SymbolTable, TokenKernel, own_similarity
from ..structures import Float32, Int64, Structures
from ..views import Views
from .item_matches import Cells, alike_nodes

MAX_WEIGHT = 1e6
MAX_SIGMA = 100.0  # float32 holds products of many pairs of them


class Matches(NamedTuple):
    """Pairs of similar items of many pairs of structures, in the order of these.

    Parameters
    ----------
    offsets : int64 array (n + 1,)
        Pair ``i`` of structures owns the rows ``offsets[i]:offsets[i + 1]`` of the others.
    own, other : int64 arrays
        Places of the items' nodes in the one structure and in the other.
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
class NodeKernel(TokenKernel, ABC):
    """A kernel that rests on the similarity of single nodes, and of the edges that enter them.

    The similarity of two nodes is ``sigma_x sigma_y edge * sum_a weight_a similarity_a`` over
    their attributes a, the weights summing to 1; see `similarity.TokenKernel` for symbols. It is
    positive semi-definite if that of symbols is, whatever the weights: with ``tokens`` equality
    or gaussian, or without word vectors, but in general not with cosine or sigmoid.

    Parameters
    ----------
    tokens, threshold, bandwidth, edges
        See `similarity.TokenKernel`.
    attribute_weights : tuple of floats >= 0, optional
        One for each node attribute (columns 1… of `Structures.nodes`); None: equal.
    sigma : mapping of edge label to float in [0, 100], optional
        ``{"conj": 0.5}`` weakens and 0 removes the nodes that such an edge enters, in either
        direction; labels that are not named weigh 1.
    view : str
        Name of the view that is compared.

    References
    ----------
    Garg et al. 2019, section 3.2.
    """

    attribute_weights: tuple[float, ...] | None = None
    sigma: Mapping[str, float] | None = None
    view: Literal["path"] | str = "path"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_weights("attribute_weights", self.attribute_weights)
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

    @abstractmethod
    def against(self, y: Views) -> Callable[[Views], Float32]:
        """``gram(·, y)`` with everything that depends on `y` alone computed once."""

    def matches(self, x: Views, y: Views) -> Matches:
        """The similar items of each structure of `x` and the one of `y` in the same place."""
        x_nodes, y_nodes = x[self.view], y[self.view]
        similarity = self._similarity(x_nodes, y_nodes)
        cells = Cells(
            *alike_nodes(similarity, x_nodes.nodes, x_nodes.offsets, y_nodes.nodes, y_nodes.offsets)
        )
        parts, values = self._item_values(x_nodes, y_nodes, cells)
        rows, columns = np.nonzero(values)
        return Matches(
            np.searchsorted(cells.pairs[rows], np.arange(len(x_nodes) + 1)),
            cells.own[rows],
            cells.other[rows],
            values[rows, columns],
            [parts[column] for column in columns.tolist()],
        )

    def _item_values(
        self, x: Structures, y: Structures, cells: Cells
    ) -> tuple[tuple[str, ...], Float32]:
        """Names of the parts of an item, and their similarities, float32 (n_cells, n_parts)."""
        edges, nodes = self._node_values(x, cells)
        return ("both",), (edges * nodes)[:, None]

    def _node_values(self, x: Structures, cells: Cells) -> tuple[Float32, Float32]:
        """Similarity of the edges and of the nodes, float32 (n_cells,) each."""
        nodes = np.zeros(len(cells.similarity), np.float32)
        for k, weight in enumerate(self._shares(x)):  # in order: no value depends on the others
            nodes += weight * cells.similarity[:, k + 1]
        return cells.similarity[:, 0], nodes

    def _shares(self, structures: Structures) -> Float32:
        """Weight of each attribute, float32 (n_attributes,), 1 in sum."""
        weights = self._given_weights(structures)
        return (np.array(weights) / sum(weights)).astype(np.float32)

    def _given_weights(self, structures: Structures) -> tuple[float, ...]:
        """Weight of each attribute as it was given, 1 where none was."""
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
        return weights

    def _table(self, y: Structures) -> SymbolTable:
        """The symbols of `y`, ready to meet others."""
        return SymbolTable(y, self)

    def _similarity(
        self, x: Structures, y: Structures, table: SymbolTable | None = None
    ) -> Float32:
        """Similarity of symbols times the weights of both, float32 (x symbols, y symbols).

        `table` is that of `y`, if there is one already.
        """
        if x.nodes.shape[1] != y.nodes.shape[1]:
            raise ValueError(
                f"nodes have {x.nodes.shape[1]} attributes but those compared with have "
                f"{y.nodes.shape[1]}; extract both with the same settings."
            )
        similarity = (table or self._table(y)).similarity(x)
        return similarity * np.outer(self._symbol_weights(x), self._symbol_weights(y))

    def _own_similarity(self, structures: Structures) -> tuple[Float32, Int64]:
        """Similarity of the nodes of each structure among themselves, without their weights."""
        return own_similarity(structures, self)

    def _symbol_weights(self, structures: Structures) -> Float32:
        """Weight of every symbol, float32 (n_symbols,): sigma of an edge, 1 for what is none."""
        if not self.sigma:
            return np.ones(len(structures.symbols), np.float32)
        named = {f"dep={k}": v for k, v in self.sigma.items()}
        of_symbol = [named.get(symbol.rstrip("<>"), 1.0) for symbol in structures.symbols]
        return np.array(of_symbol, np.float32)


def check_weights(name: str, weights: Sequence[float] | None) -> None:
    """Raise a ValueError that names `name` unless all are 0 or more and one is above 0."""
    if weights is not None and not (
        all(0 <= value <= MAX_WEIGHT for value in weights) and sum(weights) > 0
    ):
        raise ValueError(f"{name} is {weights}; give numbers >= 0, not all of them 0.")
