"""Scores of polynomial kernel machines from the weights of small item sets: PKE."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..compiled import compiled
from ..hashing.codes import Uint64
from ..hashing.features import Features
from ..structures import Float32, Int32, Int64
from .item_set_mining import mine
from .support_examples import SupportExamples

Float64 = NDArray[np.float64]
KINDS = {
    "columns": "int32 1d",
    "starts": "int64 1d",
    "weights": "float32 2d",
    "empty": "float64 1d",
}


@dataclass(frozen=True, slots=True, eq=False)
class ItemSets:
    """Machines that score items X by the sum of the weights of the stored sets within X.

    The sets are the nodes of a trie, level by level: a node adds one item to the set of
    its parent. The first ``starts[0]`` nodes are sets of one item, and the children of
    node ``v`` are ``starts[v] : starts[v + 1]``.

    Parameters
    ----------
    columns : int32 array (n_nodes,)
        The item that each adds.
    starts : int64 array (n_nodes + 1,)
    weights : float32 array (n_nodes, n_machines), C order
        0 where a node only leads to larger sets.
    empty : float64 array (n_machines,)
        Weights of the empty set.
    width : int
        Columns that candidates may have.
    degree : int
        Items that a set has at most; 1, 2 or 3.

    Attributes
    ----------
    roots : int64 array (width,)
        Node of the set of each column alone; -1: there is none.

    Raises
    ------
    ValueError
        If the arrays are no such trie.

    References
    ----------
    Kudo and Matsumoto 2003, section 4.2 (PKE).
    """

    columns: Int32
    starts: Int64
    weights: Float32
    empty: Float64
    width: int
    degree: int
    roots: Int64 = field(init=False)

    def __post_init__(self) -> None:
        n = len(self.columns)
        shapes = (len(self.starts), *self.weights.shape)
        if shapes != (n + 1, n, len(self.empty)) or not _is_trie(self):
            raise ValueError(f"{n} columns, starts and weights {shapes} are no trie of item sets.")
        roots = np.full(self.width, -1, np.int64)
        roots[self.columns[: self.starts[0]]] = np.arange(self.starts[0])
        object.__setattr__(self, "roots", roots)

    @classmethod
    def of(cls, support: SupportExamples, sigma: float, max_sets: int) -> ItemSets:
        """The sets with a large weight, see `spacy_klsh.classifiers.item_set_mining.mine`."""
        columns, starts, weights = mine(support, sigma, max_sets)
        empty = support.weights.sum(axis=0)
        return cls(columns, starts, weights, empty, support.rows.width, support.degree)

    def scores(self, x: Features) -> Float64:
        """Scores, float64 (n, n_machines)."""
        return _sums(
            *(x.columns, x.offsets, self.columns, self.starts, self.weights, self.empty),
            self.roots,
        )

    @property
    def nbytes(self) -> int:
        """Bytes of what is stored."""
        return sum(array.nbytes for array in self.state().values())

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that `scores` needs but width and degree, as arrays."""
        return {name: getattr(self, name) for name in KINDS}

    @classmethod
    def restore(cls, state: Mapping[str, NDArray[Any]], width: int, degree: int) -> ItemSets:
        """Item sets over `width` columns from the arrays of `state`.

        Raises
        ------
        ValueError
            If an array is missing or added, or they do not fit each other.
        """
        found = {name: f"{array.dtype} {array.ndim}d" for name, array in state.items()}
        if found != KINDS:
            raise ValueError(f"the item sets are {found}, but {KINDS} are needed.")
        columns, starts, weights, empty = (np.asarray(state[n], order="C") for n in KINDS)
        return cls(columns, starts, weights, empty, width, degree)


def _is_trie(sets: ItemSets) -> bool:
    """Every node hangs below one of the level before; nothing points outside; all is finite."""
    columns, starts, n = sets.columns, sets.starts, len(sets.columns)
    if not (0 <= starts[0] <= n and starts[-1] == n and (starts[1:] >= starts[:-1]).all()):
        return False
    end = starts[0]
    for _ in range(sets.degree - 1):
        end = starts[end]
    roots = columns[: starts[0]]
    return bool(
        end == n
        and ((columns >= 0) & (columns < sets.width)).all()
        and len(np.unique(roots)) == len(roots)
        and np.isfinite(sets.weights).all()
        and np.isfinite(sets.empty).all()
    )


@compiled
def _sums(
    x_columns: Int32,
    x_offsets: Int64,
    columns: Int32,
    starts: Int64,
    weights: Float32,
    empty: Float64,
    roots: Int64,
) -> Float64:
    out = np.empty((len(x_offsets) - 1, len(empty)))
    bits = np.zeros(len(roots) // 64 + 1, np.uint64)  # of the candidate's items: fits the cache
    for i in range(len(out)):
        out[i] = empty
        items = x_columns[x_offsets[i] : x_offsets[i + 1]]
        for item in items:
            bits[item >> 6] |= np.uint64(1) << np.uint64(item & 63)
        for item in items:
            if roots[item] >= 0:
                one = roots[item]
                _add(out[i], weights[one])
                for two in range(starts[one], starts[one + 1]):
                    if _has(bits, columns[two]):
                        _add(out[i], weights[two])
                        for three in range(starts[two], starts[two + 1]):
                            if _has(bits, columns[three]):
                                _add(out[i], weights[three])
        for item in items:
            bits[item >> 6] = 0
    return out


@compiled
def _has(bits: Uint64, item: int) -> Any:
    place = np.uint64(item)  # unsigned indices spare numba's test for negative ones
    return (bits[place >> np.uint64(6)] >> (place & np.uint64(63))) & np.uint64(1)


@compiled
def _add(out: Float64, weights: Float32) -> None:
    for machine in range(len(out)):
        out[machine] += weights[machine]
