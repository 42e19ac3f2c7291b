"""Random subspace ensemble: many decision trees, each on a few bits of the code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..compiled import compiled
from ..hashing.codes import Uint64
from ..structures import Float32, Int32, Int64
from .encoded import Encoded

Uint32 = NDArray[np.uint32]
ClassWeight = Literal["balanced"] | Mapping[int, float] | None


class SubspaceClassifier:
    """Mean probability of decision trees that each see `bits_per_member` random bits.

    scikit-learn grows the trees; they are then kept as flat arrays and walked over
    packed bits, which gives the same probabilities without scikit-learn.
    `fit` within ``joblib.parallel_config("threading", n_jobs=2)`` grows them in threads.

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
        Weights are finite and above 0; a label without one has 1.
    seed : int

    Attributes
    ----------
    roots_ : int64 array (n_members,)
        First node of each tree.
    nodes_ : int32 array (n_nodes, 2)
        Bit that a node looks at, and its child for a bit of 0; the next row is the
        child for 1. At a leaf: -1, and its row in `values_`.
    values_ : float32 array (n_values, n_labels)
        Distinct label distributions of the leaves.
    n_bits_ : int
        Bits of the codes it was trained on.

    References
    ----------
    Garg et al. 2019, section 3 ("Random Subspaces of Kernel Hashcodes"); Ho 1998.
    """

    roots_: Int64
    nodes_: Int32
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
        if min(n_members, min_samples_leaf, 1 if bits_per_member is None else bits_per_member) < 1:
            raise ValueError(
                f"n_members = {n_members}, bits_per_member = {bits_per_member}, min_samples_leaf "
                f"= {min_samples_leaf}: all must be at least 1."
            )
        weights = class_weight.values() if isinstance(class_weight, Mapping) else ()
        if not all(0 < weight < np.inf for weight in weights):
            raise ValueError(f"class_weight holds {list(weights)}; give finite weights above 0.")
        self.n_members = n_members
        self.bits_per_member = bits_per_member
        self.min_samples_leaf = min_samples_leaf
        self.class_weight = class_weight
        self.seed = seed

    @property
    def widths_(self) -> tuple[int, int]:
        """Bits and features that it looks at."""
        return self.n_bits_, 0

    @property
    def n_labels_(self) -> int:
        """Columns of `predict_proba`."""
        return int(self.values_.shape[1])

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
            If `y` holds one label only, or labels outside ``0 .. n_labels - 1``.
        """
        labels, y = np.unique(y, return_inverse=True)
        if len(labels) < 2:
            raise ValueError(
                f"all {len(y)} training candidates have one label (ids {labels.tolist()}); at "
                "least two are needed, so annotate relations and unrelated pairs."
            )
        n_labels = int(labels[-1]) + 1 if n_labels is None else n_labels
        if labels[0] < 0 or labels[-1] >= n_labels:
            raise ValueError(f"labels {labels.tolist()} exceed 0..{n_labels - 1}; set n_labels.")
        self.n_bits_ = x.codes.n_bits
        self._flatten(self.estimator(labels).fit(x.codes.bits(), y), labels, n_labels)
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
        members = ensemble.estimators_
        every_bit = [np.arange(self.n_bits_)] * len(members)
        subspaces = getattr(ensemble, "estimators_features_", every_bit)
        roots, nodes, values = [0], [], []
        for member, subspace in zip(members, subspaces, strict=True):
            tree, columns = member.tree_, labels[member.classes_.astype(int)]
            flat, leaves = _pair_siblings(tree, subspace, roots[-1])
            distributions = np.zeros((len(leaves), n_labels))
            distributions[:, columns] = tree.value[leaves, 0]
            values.append(distributions.astype(np.float32))
            nodes.append(flat)
            roots.append(roots[-1] + len(flat))
        self.roots_ = np.array(roots[:-1], np.int64)
        self.nodes_ = np.concatenate(nodes)
        self.values_, rows = np.unique(np.concatenate(values), axis=0, return_inverse=True)
        self.nodes_[self.nodes_[:, 0] < 0, 1] = rows.ravel()

    def predict_proba(self, x: Encoded) -> Float32:
        """Probabilities, float32 (n, n_labels); column 0 is "no relation"."""
        self._check_fitted()
        if x.codes.n_bits != self.n_bits_:
            raise ValueError(
                f"codes have {x.codes.n_bits} bits but training had {self.n_bits_}; use the "
                "hashing that this classifier was trained with."
            )
        return _mean_of_members(x.codes.words, self.roots_, self.nodes_, self.values_)

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that `predict_proba` needs, as arrays."""
        self._check_fitted()
        n_bits = np.array(self.n_bits_, np.int64)
        return dict(roots=self.roots_, nodes=self.nodes_, values=self.values_, n_bits=n_bits)

    def _check_fitted(self) -> None:
        if not hasattr(self, "roots_"):
            raise ValueError(
                f"this classifier has no trees, {self.n_members} are expected; call fit() first."
            )

    def restore(self, state: Mapping[str, NDArray[Any]]) -> SubspaceClassifier:
        """Take over the arrays of `state`.

        Raises
        ------
        ValueError
            If one is missing or added, or they do not describe `n_members` trees over
            `n_bits` bits.
        """
        kinds = {"roots": "int64 1d", "nodes": "int32 2d", "values": "float32 2d"}
        kinds["n_bits"] = "int64 0d"
        arrays = {name: np.asarray(state.get(name), order="C") for name in {**kinds, **state}}
        found = {name: f"{array.dtype} {array.ndim}d" for name, array in arrays.items()}
        if found != kinds or len(arrays["roots"]) != self.n_members or not _are_trees(**arrays):
            raise ValueError(
                f"the stored trees are {found}, but {self.n_members} consistent ones are {kinds}; "
                "the file is damaged, train again."
            )
        self.roots_, self.nodes_ = arrays["roots"], arrays["nodes"]
        self.values_, self.n_bits_ = arrays["values"], int(arrays["n_bits"])
        return self


def _pair_siblings(tree: Any, subspace: Int64, start: int) -> tuple[Int32, Int64]:
    """Rows of `nodes_` for one tree, and its nodes that became leaves, in their new order."""
    inner = np.flatnonzero(tree.children_left >= 0)
    order = np.append(0, np.stack([tree.children_left[inner], tree.children_right[inner]], axis=1))
    nodes = np.full((len(order), 2), -1, np.int32)
    nodes[inner, 0] = subspace[tree.feature[inner]]
    nodes[inner, 1] = start + 1 + 2 * np.arange(len(inner))
    nodes = nodes[order]  # keeps children behind their parent, as scikit-learn has them
    return nodes, order[nodes[:, 0] < 0]


def _are_trees(roots: Int64, nodes: Int32, values: Float32, n_bits: Int64) -> bool:
    """Children follow their parent, so a walk ends; nothing points outside; leaves sum to 1."""
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
