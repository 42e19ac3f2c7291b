"""Packed sequences and trees of symbols: what kernels compare."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Int32: TypeAlias = NDArray[np.int32]
Int64: TypeAlias = NDArray[np.int64]
Float32: TypeAlias = NDArray[np.float32]
Index: TypeAlias = "int | slice | Sequence[int] | NDArray[Any] | tuple[Any, ...]"


@dataclass(frozen=True, slots=True, eq=False)
class Structures:
    """Many sequences or trees, packed in arrays.

    Structure ``i`` owns the rows ``offsets[i]:offsets[i + 1]`` of ``nodes``. A
    node is a tuple of symbols, one for each attribute; by convention column 0 is
    the edge by which the path enters the node and the other columns describe the
    node itself.

    Parameters
    ----------
    nodes : int32 array (n_nodes, n_attributes), C order
        Rows into ``symbols``.
    offsets : int64 array (n + 1,)
        Starts at 0 and never falls; an empty structure repeats its offset.
    symbols : tuple of str
        The dictionary of this object, e.g. ``lemma=bind``, ``dep=nsubj<``; no
        symbol twice.
    vectors : float32 array (n_symbols, dim)
        One unit row a symbol; a zero row means that only equality counts.
    parents : int32 array (n_nodes,), optional
        Parent of each node within its structure, -1 for a root; None for
        sequences.

    Raises
    ------
    ValueError
        If the arrays do not fit together.

    Examples
    --------
    >>> pair = Structures.from_symbols([[("dep=", "lemma=cat")], []])
    >>> len(pair), pair[:1].symbols
    (2, ('dep=', 'lemma=cat'))
    """

    nodes: Int32
    offsets: Int64
    symbols: tuple[str, ...]
    vectors: Float32
    parents: Int32 | None = field(default=None)

    def __post_init__(self) -> None:
        _check_array("nodes", self.nodes, np.int32, 2)
        _check_array("offsets", self.offsets, np.int64, 1)
        _check_array("vectors", self.vectors, np.float32, 2)
        _check_offsets(self.offsets, len(self.nodes))
        if len(set(self.symbols)) != len(self.symbols):
            raise ValueError("a symbol stands twice in symbols; build them with from_symbols().")
        if len(self.vectors) != len(self.symbols):
            raise ValueError(
                f"vectors has {len(self.vectors)} rows but there are {len(self.symbols)} symbols; "
                "give one row a symbol (a zero row for equality only)."
            )
        if self.nodes.size and not (self.nodes.min() >= 0 and self.nodes.max() < len(self.symbols)):
            raise ValueError(
                f"nodes point at symbols {self.nodes.min()}..{self.nodes.max()} but there are "
                f"{len(self.symbols)}; rebuild them with Structures.from_symbols()."
            )
        if self.parents is not None:
            _check_array("parents", self.parents, np.int32, 1)
            _check_parents(self.parents, self.offsets)

    @classmethod
    def from_symbols(
        cls,
        structures: Iterable[Sequence[Sequence[str]]],
        vectors: Mapping[str, Float32] | None = None,
        *,
        n_attributes: int = 2,
        dim: int = 0,
    ) -> Structures:
        """Pack sequences of nodes, each node a sequence of `n_attributes` symbols.

        `vectors` maps a symbol to its unit row of `dim` numbers; symbols that it lacks
        get zeros. `n_attributes` only matters when there is no node at all.
        """
        dictionary: dict[str, int] = {}
        rows: list[list[int]] = []
        offsets = [0]
        for nodes in structures:
            rows += [[dictionary.setdefault(s, len(dictionary)) for s in node] for node in nodes]
            offsets.append(len(rows))
        table = np.zeros((len(dictionary), dim), np.float32)
        for symbol, row in dictionary.items():
            if vectors and symbol in vectors:
                table[row] = vectors[symbol]
        shape = (len(rows), len(rows[0]) if rows else n_attributes)
        return cls(
            nodes=np.array(rows, np.int32).reshape(shape),
            offsets=np.array(offsets, np.int64),
            symbols=tuple(dictionary),
            vectors=table,
        )

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def shape(self) -> tuple[int]:
        """``(n,)``: lets scikit-learn count and index structures."""
        return (len(self),)

    @property
    def lengths(self) -> Int64:
        """Number of nodes of each structure, int64 (n,)."""
        return np.diff(self.offsets)

    def __getitem__(self, index: Index) -> Structures:
        """Chosen structures in the given order, with only the symbols that they use."""
        if isinstance(index, tuple):  # scikit-learn asks for x[(rows, ...)]
            index = index[0]
        chosen = np.atleast_1d(np.arange(len(self))[index])
        lengths = self.lengths[chosen]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        rows = np.repeat(self.offsets[chosen] - offsets[:-1], lengths) + np.arange(offsets[-1])
        nodes = self.nodes[rows]
        is_used = np.zeros(len(self.symbols), bool)
        is_used[nodes] = True
        used, renumbered = np.flatnonzero(is_used), np.cumsum(is_used, dtype=np.int32) - 1
        return Structures(
            nodes=renumbered[nodes],
            offsets=offsets.astype(np.int64),
            symbols=tuple(self.symbols[i] for i in used),
            vectors=self.vectors[used],
            parents=None if self.parents is None else self.parents[rows],
        )

    @staticmethod
    def concat(parts: Sequence[Structures]) -> Structures:
        """All structures of `parts` in order, over one common dictionary.

        Raises
        ------
        ValueError
            If `parts` is empty, or its members differ in attributes, in the
            dimension of their vectors, in having parents or in the vector of a symbol.
        """
        if not parts:
            raise ValueError("concat() got no parts; pass at least one Structures object.")
        first = parts[0]
        for part in parts[1:]:
            _check_alike(first, part)
        dictionary: dict[str, int] = {}
        vectors: list[Float32] = []
        nodes, places = [], []
        for part in parts:
            known = len(dictionary)
            rows = [dictionary.setdefault(symbol, len(dictionary)) for symbol in part.symbols]
            vectors += [part.vectors[i] for i, row in enumerate(rows) if row >= known]
            places.append(np.array(rows, np.int32))
            nodes.append(places[-1][part.nodes])
        table = np.array(vectors, np.float32).reshape(len(vectors), first.vectors.shape[1])
        symbols = tuple(dictionary)
        _check_vectors(parts, symbols, table, np.concatenate(places))
        lengths = np.concatenate([part.lengths for part in parts])
        return Structures(
            nodes=np.concatenate(nodes),
            offsets=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
            symbols=symbols,
            vectors=table,
            parents=_concat_parents(parts),
        )

    def words(self, i: int) -> list[tuple[str, ...]]:
        """Nodes of structure `i` as tuples of symbols, for people to read."""
        rows = self.nodes[self.offsets[i] : self.offsets[i + 1]]
        return [tuple(self.symbols[s] for s in row) for row in rows]


def _check_array(name: str, array: NDArray[Any], dtype: type[Any], ndim: int) -> None:
    if array.dtype != dtype or array.ndim != ndim or not array.flags.c_contiguous:
        raise ValueError(
            f"{name} is {array.ndim}-d {array.dtype}, but a C-ordered {ndim}-d "
            f"{np.dtype(dtype)} array is needed; convert it with np.ascontiguousarray()."
        )


def _check_offsets(offsets: Int64, n_nodes: int) -> None:
    if len(offsets) == 0 or offsets[0] != 0 or (offsets[1:] < offsets[:-1]).any():
        raise ValueError(
            "offsets must start at 0 and never fall; build them as a cumulative sum of lengths."
        )
    if offsets[-1] != n_nodes:
        raise ValueError(
            f"offsets end at {offsets[-1]} but nodes has {n_nodes} rows; "
            "build it with Structures.concat()."
        )


def _check_parents(parents: Int32, offsets: Int64) -> None:
    if len(parents) != offsets[-1]:
        raise ValueError(
            f"parents has {len(parents)} entries but nodes has {offsets[-1]} rows; give one a node."
        )
    lengths = np.diff(offsets)
    if ((parents < -1) | (parents >= np.repeat(lengths, lengths))).any():
        raise ValueError(
            "a parent points outside its structure; number parents from 0 within each structure "
            "and mark roots with -1."
        )
    above_roots = len(parents)
    above = np.where(parents < 0, above_roots, parents + np.repeat(offsets[:-1], lengths))
    above = np.append(above, above_roots)
    for _ in range(int(lengths.max(initial=0)).bit_length()):
        above = above[above]  # twice as far up
    if (above != above_roots).any():
        i = int(np.searchsorted(offsets, (above != above_roots).argmax(), side="right")) - 1
        raise ValueError(
            f"the parents of structure {i} run in a circle; expected trees: follow each node's "
            "parent to a root, marked with -1."
        )


def _check_alike(first: Structures, other: Structures) -> None:
    traits = [
        ("attributes", first.nodes.shape[1], other.nodes.shape[1]),
        ("vector dimensions", first.vectors.shape[1], other.vectors.shape[1]),
        ("parents", first.parents is not None, other.parents is not None),
    ]
    for name, expected, found in traits:
        if expected != found:
            raise ValueError(
                f"structures differ in {name}: {found} found, {expected} expected; "
                "extract them with the same settings and the same word vectors."
            )


def _check_vectors(
    parts: Sequence[Structures], symbols: tuple[str, ...], table: Float32, rows: Int32
) -> None:
    given = np.concatenate([part.vectors for part in parts])
    differ = (given.view(np.int32) != table[rows].view(np.int32)).any(axis=1)  # NaN is NaN
    if differ.any():
        raise ValueError(
            f"the symbol {symbols[rows[differ.argmax()]]!r} has two different vectors, one "
            "expected; extract all parts with the same word vectors."
        )


def _concat_parents(parts: Sequence[Structures]) -> Int32 | None:
    if parts[0].parents is None:
        return None
    return np.concatenate([part.parents for part in parts if part.parents is not None])
