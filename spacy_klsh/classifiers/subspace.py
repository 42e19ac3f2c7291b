"""Random subspace ensemble: many decision trees, each on a few bits of the code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..hashing.codes import Uint64
from ..structures import Float32, Int32, Int64
from .encoded import Encoded

ClassWeight = Literal["balanced"] | Mapping[int, float] | None


class SubspaceClassifier:
    """Mean probability of decision trees that each see `bits_per_member` random bits.

    scikit-learn grows the trees; they are then kept as flat arrays and walked over
    packed bits, which gives the same probabilities without scikit-learn.

    Parameters
    ----------
    n_members : int
        R, number of trees.
    bits_per_member : int, optional
        eta, bits that one tree may use; None: a random forest, in which every split
        chooses among a random sqrt(n_bits) of all bits.
    min_samples_leaf : int
        Training candidates that a leaf must hold.
    class_weight : "balanced", mapping of label id to weight, optional
    seed : int

    Attributes
    ----------
    roots_ : int64 array (n_members,)
        First node of each tree.
    bits_ : int32 array (n_nodes,)
        Bit that a node looks at; -1 for a leaf.
    left_, right_ : int32 arrays (n_nodes,)
        Child for a bit of 0 and of 1; at a leaf ``left_`` is its row in `values_`.
    values_ : float32 array (n_values, n_labels)
        Distinct label distributions of the leaves.
    n_bits_ : int
        Bits of the codes it was trained on.

    References
    ----------
    Garg et al. 2019, section 3 ("Random Subspaces of Kernel Hashcodes"); Ho 1998.
    """

    roots_: Int64
    bits_: Int32
    left_: Int32
    right_: Int32
    values_: Float32
    n_bits_: int

    def __init__(
        self,
        *,
        n_members: int = 250,
        bits_per_member: int | None = 30,
        min_samples_leaf: int = 1,
        class_weight: ClassWeight = None,
        seed: int = 0,
    ) -> None:
        if n_members < 1 or min_samples_leaf < 1 or (bits_per_member or 1) < 1:
            raise ValueError(
                f"n_members = {n_members}, bits_per_member = {bits_per_member}, min_samples_leaf "
                f"= {min_samples_leaf}: all must be at least 1."
            )
        self.n_members = n_members
        self.bits_per_member = bits_per_member
        self.min_samples_leaf = min_samples_leaf
        self.class_weight = class_weight
        self.seed = seed

    def fit(
        self, x: Encoded, y: NDArray[np.integer[Any]], n_labels: int | None = None
    ) -> SubspaceClassifier:
        """Grow the ensemble with scikit-learn.

        Parameters
        ----------
        x : Encoded
        y : int array (n,)
            Label ids, 0 for "no relation".
        n_labels : int, optional
            Columns of `predict_proba`; default ``max(y) + 1``.

        Raises
        ------
        ValueError
            If `y` holds one label only.
        """
        labels, y = np.unique(y, return_inverse=True)
        if len(labels) < 2:
            raise ValueError(
                f"all {len(y)} training candidates have one label (id {labels}); at least two "
                "are needed, so annotate relations and unrelated pairs."
            )
        self.n_bits_ = x.codes.n_bits
        n_labels = int(labels[-1]) + 1 if n_labels is None else n_labels
        ensemble = self.estimator(labels).fit(x.codes.bits(), y)
        self._flatten(ensemble, labels, n_labels)
        return self

    def estimator(self, labels: NDArray[Any]) -> Any:
        """The unfitted scikit-learn ensemble for targets that index `labels`."""
        from sklearn.ensemble import BaggingClassifier, RandomForestClassifier
        from sklearn.tree import DecisionTreeClassifier

        weight = self.class_weight
        if isinstance(weight, Mapping):
            weight = {i: weight.get(int(label), 1.0) for i, label in enumerate(labels)}
        settings = {"min_samples_leaf": self.min_samples_leaf, "class_weight": weight}
        if self.bits_per_member is None:
            return RandomForestClassifier(self.n_members, random_state=self.seed, **settings)
        return BaggingClassifier(
            DecisionTreeClassifier(**settings),
            n_estimators=self.n_members,
            max_features=min(self.bits_per_member, self.n_bits_),
            random_state=self.seed,
        )

    def _flatten(self, ensemble: Any, labels: NDArray[Any], n_labels: int) -> None:
        roots, bits, lefts, rights, values = [0], [], [], [], []
        subspaces = getattr(ensemble, "estimators_features_", [np.arange(self.n_bits_)] * len(
            ensemble.estimators_
        ))
        n_leaves = 0
        for member, subspace in zip(ensemble.estimators_, subspaces, strict=True):
            tree = member.tree_
            leaf = tree.children_left < 0
            rows = n_leaves + np.cumsum(leaf) - 1
            distribution = np.zeros((leaf.sum(), n_labels))
            columns = labels[member.classes_.astype(int)]
            distribution[:, columns] = tree.value[leaf, 0]
            distribution /= distribution.sum(axis=1, keepdims=True)
            values.append(distribution.astype(np.float32))
            bits.append(np.where(leaf, -1, subspace[np.where(leaf, 0, tree.feature)]))
            lefts.append(np.where(leaf, rows, roots[-1] + tree.children_left))
            rights.append(np.where(leaf, -1, roots[-1] + tree.children_right))
            n_leaves += int(leaf.sum())
            roots.append(roots[-1] + tree.node_count)
        self.values_, distinct = np.unique(np.concatenate(values), axis=0, return_inverse=True)
        self.roots_ = np.array(roots[:-1], np.int64)
        self.bits_ = np.concatenate(bits).astype(np.int32)
        self.right_ = np.concatenate(rights).astype(np.int32)
        left = np.concatenate(lefts)
        left[self.bits_ < 0] = distinct.ravel()
        self.left_ = left.astype(np.int32)

    def predict_proba(self, x: Encoded) -> Float32:
        """Probabilities, float32 (n, n_labels); column 0 is "no relation"."""
        if x.codes.n_bits != self.n_bits_:
            raise ValueError(
                f"codes have {x.codes.n_bits} bits but training had {self.n_bits_}; use the "
                "hashing that this classifier was trained with."
            )
        words = x.codes.words
        return _mean_of_members(
            words, self.roots_, self.bits_, self.left_, self.right_, self.values_
        )

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that `predict_proba` needs, as arrays."""
        return {
            "roots": self.roots_,
            "bits": self.bits_,
            "left": self.left_,
            "right": self.right_,
            "values": self.values_,
            "n_bits": np.array(self.n_bits_, np.int64),
        }

    def restore(self, state: Mapping[str, NDArray[Any]]) -> SubspaceClassifier:
        """Take over the arrays of `state`.

        Raises
        ------
        ValueError
            If they do not describe trees over `n_bits` bits.
        """
        self.roots_, self.bits_ = state["roots"], state["bits"]
        self.left_, self.right_ = state["left"], state["right"]
        self.values_, self.n_bits_ = state["values"], int(state["n_bits"])
        _check_trees(self)
        return self


def _check_trees(trees: SubspaceClassifier) -> None:
    """Children follow their parent, so a walk ends, and nothing points outside."""
    n = len(trees.bits_)
    position = np.arange(n)
    leaf = trees.bits_ < 0
    fits = (
        len(trees.left_) == len(trees.right_) == n
        and n > 0
        and len(trees.roots_) > 0
        and ((trees.roots_ >= 0) & (trees.roots_ < n)).all()
        and (trees.bits_ < trees.n_bits_).all()
        and ((trees.left_ >= 0) & (trees.left_ < len(trees.values_)))[leaf].all()
        and ((trees.left_ > position) & (trees.left_ < n))[~leaf].all()
        and ((trees.right_ > position) & (trees.right_ < n))[~leaf].all()
    )
    if not fits:
        raise ValueError("the stored trees are inconsistent; the file is damaged, train again.")


@njit(nogil=True, cache=True)
def _mean_of_members(
    words: Uint64, roots: Int64, bits: Int32, left: Int32, right: Int32, values: Float32
) -> Float32:
    n, n_labels = len(words), values.shape[1]
    total = np.zeros((n, n_labels), np.float64)
    for root in roots:  # one tree at a time stays in the cache
        for i in range(n):
            node = root
            while bits[node] >= 0:
                bit = bits[node]
                if (words[i, bit >> 6] >> np.uint64(bit & 63)) & np.uint64(1):
                    node = np.int64(right[node])
                else:
                    node = np.int64(left[node])
            row = left[node]
            for k in range(n_labels):
                total[i, k] += values[row, k]
    return (total / len(roots)).astype(np.float32)
