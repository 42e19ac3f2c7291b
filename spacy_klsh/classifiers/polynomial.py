"""Support vector machines with a polynomial kernel over sets of items."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..structures import Float32, Int64
from .encoded import INPUTS, Encoded, Inputs, are_widths, looked_at
from .item_sets import ItemSets
from .kernel_machine import (
    Unsigned,
    common_items,
    drawn_rows,
    largest_alphas,
    machine_scores,
    train_machines,
)
from .platt import fit_platt, platt
from .support_examples import InvertedIndex, SupportExamples
from .targets import ClassWeight, check_class_weight, checked_targets, one_against_rest

Float64 = NDArray[np.float64]
Method = Literal["basic", "index", "expansion"]
Machines = SupportExamples | InvertedIndex | ItemSets
METHODS = ("basic", "index", "expansion")
LEAST = 1e-12  # probability before normalizing
BELOW = "machines/"
KINDS = {
    "biases": "float64 1d",
    "sigmoids": "float64 2d",
    "labels": "int64 1d",
    "n_labels": "int64 0d",
    "widths": "int64 1d",
}


class PolynomialClassifier:
    """A C-SVM a label, one against the rest, with the kernel (1 + |X ∩ Y|)^degree.

    Sigmoids that are fitted to out-of-fold scores make probabilities of the scores, which
    are then normalized. ``joblib.parallel_config("threading", n_jobs=2)`` trains machines in
    threads. Training on n candidates takes n² bytes, or twice that if one has over 255 items;
    so of many candidates some are drawn.

    Parameters
    ----------
    degree : 1, 2 or 3
        Items of the largest sets that a machine in effect weighs.
    C : float
        Most weight of one training candidate.
    class_weight : "balanced", mapping of label id to weight, optional
        Factors of `C`, finite and above 0: of a label, where one without has 1; "balanced":
        such that both sides of each machine weigh the same.
    inputs : "codes", "features" or "both"
        Where items come from.
    method : "basic", "index" or "expansion"
        How scores are computed: by comparing with each support example, from lists of the
        support examples that have an item (the same scores), or from the weights of item sets.
    sigma : float
        "expansion": least weight of an item set, times the share of support examples of its
        sign; 0 is exact. Weights, and a good sigma, are smaller for a higher degree.
    max_sets : int
        "expansion": item sets that may be kept, in some 30 bytes each.
    n_folds : int
        Parts of the training candidates, each scored by machines trained on the others.
    max_training_candidates : int
        See `kernel_machine.drawn_rows`; in the sigmoids each counts as all it stands for.
    seed : int
        Of the folds, and of what is drawn.

    Attributes
    ----------
    machines_ : SupportExamples, InvertedIndex or ItemSets
        Scores by `method`.
    biases_ : float64 array (n_machines,)
    sigmoids_ : float64 array (n_machines, 2)
    labels_ : int64 array (n_present,)
        Label ids in training; of two only the second has a machine.
    n_labels_ : int
        Columns of `predict_proba`.
    widths_ : tuple of int
        Bits and features that it looks at.

    References
    ----------
    Kudo and Matsumoto 2003; Platt 1999.
    """

    machines_: Machines
    biases_: Float64
    sigmoids_: Float64
    labels_: Int64
    n_labels_: int
    widths_: tuple[int, int]

    def __init__(
        self,
        *,
        degree: int = 2,
        C: float = 1.0,
        class_weight: ClassWeight = None,
        inputs: Inputs = "features",
        method: Method = "index",
        sigma: float = 0.0005,
        max_sets: int = 5_000_000,
        n_folds: int = 3,
        max_training_candidates: int = 30_000,
        seed: int = 0,
    ) -> None:
        if degree not in (1, 2, 3) or inputs not in INPUTS or method not in METHODS:
            raise ValueError(
                f"degree = {degree}, inputs = {inputs!r}, method = {method!r}; choose 1, 2 or 3, "
                f"one of {INPUTS}, and one of {METHODS}."
            )
        if not (0 < C < np.inf and 0 <= sigma < np.inf and n_folds >= 2 and max_sets >= 1):
            raise ValueError(
                f"C = {C}, sigma = {sigma}, n_folds = {n_folds}, max_sets = {max_sets}; they must "
                "be finite, and above 0, at least 0, 2 and 1."
            )
        if max_training_candidates < 2:
            raise ValueError(
                f"max_training_candidates = {max_training_candidates}; give at least 2."
            )
        check_class_weight(class_weight)
        self.degree = degree
        self.C = C
        self.class_weight = class_weight
        self.inputs: Inputs = inputs
        self.method = method
        self.sigma = sigma
        self.max_sets = max_sets
        self.n_folds = n_folds
        self.max_training_candidates = max_training_candidates
        self.seed = seed

    def fit(
        self, x: Encoded, y: NDArray[np.integer[Any]], n_labels: int | None = None
    ) -> PolynomialClassifier:
        """Train the machines and fit their sigmoids.

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
            If `y` holds one label only, or labels outside ``0 .. n_labels - 1``, or there are
            no features, no item sets or more than `max_sets`.
        """
        self.labels_, self.n_labels_ = checked_targets(y, n_labels)
        rows, weights = drawn_rows(y, self.max_training_candidates, self.seed)
        items, y = x.items(self.inputs)[rows], y[rows]
        self.widths_ = looked_at(self.inputs, x.widths)
        common = common_items(items)
        table, self.biases_ = self._trained(common, y, np.arange(len(y)))
        used = np.flatnonzero(table.any(axis=1))
        self.machines_ = self.arranged(SupportExamples(items[used], table[used], self.degree))
        scores, labels = self._out_of_fold(common, y), one_against_rest(self.labels_)
        pairs = zip(scores.T, labels, strict=True)
        self.sigmoids_ = np.array([fit_platt(f, y == label, weights) for f, label in pairs])
        return self

    def arranged(self, support: SupportExamples) -> Machines:
        """What computes the scores of `support` by `method`."""
        if self.method == "expansion":
            return ItemSets.of(support, self.sigma, self.max_sets)
        return InvertedIndex(support) if self.method == "index" else support

    def _kernel(self, common: Unsigned) -> Float64:
        """Its value for each number of items in common."""
        return (1.0 + np.arange(common.max(initial=0) + 1)) ** self.degree

    def _trained(
        self, common: Unsigned, y: NDArray[np.integer[Any]], rows: Int64
    ) -> tuple[Float64, Float64]:
        """Weights of `rows` in the machines for `labels_`, and the biases."""
        targets = [y[rows] == label for label in one_against_rest(self.labels_)]
        caps = [largest_alphas(each, y[rows], self.C, self.class_weight) for each in targets]
        return train_machines(common, rows, self._kernel(common), targets, caps)

    def _out_of_fold(self, common: Unsigned, y: NDArray[np.integer[Any]]) -> Float64:
        """Scores, float64 (n, n_machines), of each candidate by machines that never saw it."""
        order = np.random.default_rng(self.seed).permutation(len(y))
        order = order[np.argsort(y[order], kind="stable")]  # each label goes to all folds alike
        folds = np.empty(len(y), np.int64)
        folds[order] = np.arange(len(y)) % self.n_folds
        scores, kernel = np.empty((len(y), len(self.biases_))), self._kernel(common)
        for fold in range(self.n_folds):
            inside, outside = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
            table, biases = self._trained(common, y, outside)
            scores[inside] = machine_scores(common, inside, outside, kernel, table) + biases
        return scores

    def predict_proba(self, x: Encoded) -> Float32:
        """Probabilities, float32 (n, n_labels); column 0 is "no relation".

        Raises
        ------
        ValueError
            If candidates have other bits or features than in training.
        """
        self._check_fitted()
        scores = self.machines_.scores(x.items(self.inputs, self.widths_)) + self.biases_
        p = np.stack([platt(f, a, b) for f, (a, b) in zip(scores.T, self.sigmoids_, strict=True)])
        p = np.maximum(np.concatenate([1 - p, p]) if len(self.labels_) == 2 else p, LEAST)
        out = np.zeros((len(x), self.n_labels_), np.float32)
        out[:, self.labels_] = (p / p.sum(axis=0)).T
        return out

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that `predict_proba` needs but the settings, as arrays."""
        self._check_fitted()
        return {
            "biases": self.biases_,
            "sigmoids": self.sigmoids_,
            "labels": self.labels_,
            "n_labels": np.array(self.n_labels_, np.int64),
            "widths": np.array(self.widths_, np.int64),
            **{BELOW + name: array for name, array in self.machines_.state().items()},
        }

    def _check_fitted(self) -> None:
        if not hasattr(self, "sigmoids_"):
            raise ValueError("this classifier has no machines, one a label expected; call fit().")

    def restore(self, state: Mapping[str, NDArray[Any]]) -> PolynomialClassifier:
        """Take over the arrays of `state`.

        Raises
        ------
        ValueError
            If one is missing or added, or they do not describe machines of these settings.
        """
        machines = {n.removeprefix(BELOW): a for n, a in state.items() if n.startswith(BELOW)}
        own = {n: np.asarray(a, order="C") for n, a in state.items() if not n.startswith(BELOW)}
        found = {name: f"{array.dtype} {array.ndim}d" for name, array in own.items()}
        n_machines = np.asarray(machines.get("weights")).shape[-1:]
        if found != KINDS or not self._are_consistent(n_machines, **own):
            raise ValueError(
                f"the stored machines have {found}, but consistent ones have {KINDS}; the file is "
                "damaged, train again."
            )
        width = int(own["widths"].sum())
        restored: Machines
        try:
            if self.method == "expansion":
                restored = ItemSets.restore(machines, width, self.degree)
            else:
                restored = self.arranged(SupportExamples.restore(machines, width, self.degree))
        except ValueError as error:
            raise ValueError(f"{error} The file is damaged, train again.") from error
        self.machines_ = restored
        self.biases_, self.sigmoids_, self.labels_ = own["biases"], own["sigmoids"], own["labels"]
        bits, features = own["widths"].tolist()
        self.n_labels_, self.widths_ = int(own["n_labels"]), (bits, features)
        return self

    def _are_consistent(
        self,
        n_machines: tuple[int, ...],
        biases: Float64,
        sigmoids: Float64,
        labels: Int64,
        n_labels: Int64,
        widths: Int64,
    ) -> bool:
        """Labels rise within bounds, all machines have all, and the inputs are looked at."""
        return bool(
            are_widths(widths, self.inputs)
            and len(labels) >= 2
            and (labels[1:] > labels[:-1]).all()
            and 0 <= labels[0] <= labels[-1] < n_labels
            and biases.shape == one_against_rest(labels).shape == n_machines
            and sigmoids.shape == (len(biases), 2)
            and np.isfinite(biases).all()
            and np.isfinite(sigmoids).all()
        )
