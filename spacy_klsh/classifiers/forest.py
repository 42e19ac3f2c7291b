"""Many decision trees in flat arrays, walked over packed bits."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..compiled import compiled
from ..hashing.codes import Uint64
from ..structures import Float32, Int32, Int64
from .growing import Float64, grow

Uint32 = NDArray[np.uint32]


@dataclass(frozen=True, slots=True, eq=False)
class Forest:
    """Decision trees; a probability is the mean of their leaves' label distributions.

    Parameters
    ----------
    roots : int64 array (n_trees,)
        First node of each tree.
    nodes : int32 array (n_nodes, 2)
        Bit that a node looks at, and its child for a bit of 0; the next row is the
        child for 1. At a leaf: -1, and its row in `values`.
    values : float32 array (n_values, n_labels)
        Distinct label distributions of the leaves.
    """

    KINDS: ClassVar = {"roots": "int64 1d", "nodes": "int32 2d", "values": "float32 2d"}

    roots: Int64
    nodes: Int32
    values: Float32

    @classmethod
    def grown(
        cls,
        words: Uint64,
        y: Int64,
        weights: Float64,
        *,
        n_trees: int,
        n_bits: int,
        n_own: int,
        n_tried: int,
        min_leaf: int,
        bootstrap: bool,
        seed: int,
    ) -> Forest:
        """Trees of `grow`, the same for any number of cores; `y` are rows of `weights`."""
        settings = (words, y, weights, n_bits, n_own, n_tried, min_leaf, bootstrap)
        seeds = np.random.SeedSequence(seed).generate_state(n_trees, np.uint64) | np.uint64(1)
        with ThreadPoolExecutor(os.cpu_count()) as threads:
            trees = list(threads.map(partial(grow, *settings), seeds))
        return cls._joined([(nodes, weights * counts) for nodes, counts in trees])

    @classmethod
    def of_scikit_learn(
        cls, members: Sequence[Any], subspaces: Sequence[Int64], n_labels: int
    ) -> Forest:
        """Fitted tree classifiers that see the bits of their subspaces."""
        trees = []
        for member, subspace in zip(members, subspaces, strict=True):
            nodes, leaves = _pair_siblings(member.tree_, subspace, n_labels)
            distributions = np.zeros((len(leaves), n_labels))
            distributions[:, member.classes_.astype(int)] = member.tree_.value[leaves, 0]
            trees.append((nodes, distributions))
        return cls._joined(trees)

    @classmethod
    def _joined(cls, trees: Sequence[tuple[Int32, Float64]]) -> Forest:
        """Trees whose leaves name rows of an identity matrix and of their own behind it."""
        n_labels = trees[0][1].shape[1]
        roots, n_nodes, n_mixed = [], 0, 0
        for tree, mixed in trees:
            inner = tree[:, 0] >= 0
            is_mixed = ~inner & (tree[:, 1] >= n_labels)
            tree[inner, 1] += n_nodes
            tree[is_mixed, 1] += n_mixed
            roots.append(n_nodes)
            n_nodes, n_mixed = n_nodes + len(tree), n_mixed + len(mixed)
        nodes = np.concatenate([tree for tree, _ in trees])
        leaf = nodes[:, 0] < 0
        rows = np.concatenate([np.eye(n_labels), *(mixed for _, mixed in trees)])
        shares = (rows / rows.sum(axis=1, keepdims=True)).astype(np.float32)
        values, distinct = np.unique(shares, axis=0, return_inverse=True)
        nodes[leaf, 1] = distinct.ravel()[nodes[leaf, 1]]
        return cls(np.array(roots, np.int64), nodes, values)

    def predict_proba(self, words: Uint64) -> Float32:
        """Probabilities, float32 (n, n_labels)."""
        return _mean_of_members(words, self.roots, self.nodes, self.values)

    def among(self, labels: Int64, n_labels: int) -> Forest:
        """The same for `n_labels` labels, of which `labels` were learned."""
        values = np.zeros((len(self.values), n_labels), np.float32)
        values[:, labels] = self.values
        return Forest(self.roots, self.nodes, values)

    def __len__(self) -> int:
        return len(self.roots)

    @property
    def n_labels(self) -> int:
        """Labels that are told apart."""
        return int(self.values.shape[1])

    def fits(self, n_bits: int) -> bool:
        """Whether a walk over `n_bits` bits ends inside the arrays; leaves sum to 1."""
        roots, nodes, values = self.roots, self.nodes, self.values
        if nodes.shape[1] != 2:
            return False
        bits, targets = nodes.T
        leaf = bits < 0
        child, row = targets[~leaf], targets[leaf]
        return bool(
            ((roots >= 0) & (roots < len(nodes))).all()
            and (roots[1:] > roots[:-1]).all()
            and ((bits >= -1) & (bits < n_bits)).all()
            and ((child > np.flatnonzero(~leaf)) & (child < len(nodes) - 1)).all()
            and ((row >= 0) & (row < len(values))).all()
            and (values >= 0).all()
            and (np.abs(values.sum(axis=1, dtype=np.float64) - 1) < 1e-5).all()
        )


def _pair_siblings(tree: Any, subspace: Int64, n_labels: int) -> tuple[Int32, Int64]:
    """Nodes as `grow` has them, all leaves being of several labels, and the leaves in order."""
    inner = np.flatnonzero(tree.children_left >= 0)
    order = np.append(0, np.stack([tree.children_left[inner], tree.children_right[inner]], axis=1))
    nodes = np.full((len(order), 2), -1, np.int32)
    nodes[inner, 0] = subspace[tree.feature[inner]]
    nodes[inner, 1] = 1 + 2 * np.arange(len(inner))
    nodes = nodes[order]  # keeps children behind their parent, as scikit-learn has them
    leaf = nodes[:, 0] < 0
    nodes[leaf, 1] = n_labels + np.arange(leaf.sum())
    return nodes, order[leaf]


@compiled
def _mean_of_members(words: Uint64, roots: Int64, nodes: Int32, values: Float32) -> Float32:
    n, n_labels = len(words), values.shape[1]
    total = np.zeros((n, n_labels), np.float64)
    place, walking = np.empty(n, np.uint32), np.empty(n, np.uint32)
    for root in roots:  # one tree at a time stays in the cache
        _walk(words, nodes, root, place, walking)
        for i in range(n):
            row = nodes[place[i], 1]
            for k in range(n_labels):
                total[i, k] += values[row, k]
    return (total / len(roots)).astype(np.float32)


@compiled
def _walk(words: Uint64, nodes: Int32, root: int, place: Uint32, walking: Uint32) -> None:
    """Set `place` to the leaf of each code; `walking` is scratch of the same length.

    All codes go down one step at a time: of a walk on its own a processor foresees
    neither turns nor end. Unsigned indices spare numba's test for negative ones.
    """
    for i in range(len(place)):
        place[i], walking[i] = root, i
    n_walking = np.uint64(len(place) if nodes[root, 0] >= 0 else 0)
    while n_walking > 0:
        kept = np.uint64(0)
        for j in range(n_walking):
            code = walking[j]
            bit = nodes[place[code], 0]
            one = (words[code, np.uint64(bit >> 6)] >> np.uint64(bit & 63)) & np.uint64(1)
            place[code] = np.uint64(nodes[place[code], 1]) + one
            walking[kept] = code
            kept += np.uint64(nodes[place[code], 0] >= 0)
        n_walking = kept
