"""Logistic regression on the bits of codes and the features beside them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..hashing.features import Features
from ..structures import Float32, Int32, Int64
from .encoded import INPUTS, Encoded, Inputs, are_widths, looked_at
from .scaled_items import probabilities, scaled_rows, slots_of
from .targets import ClassWeight, check_class_weight, checked_targets, one_against_rest

Float64 = NDArray[np.float64]

KINDS = {
    "columns": "int32 1d",
    "squares": "float64 1d",
    "weights": "float32 2d",
    "biases": "float64 1d",
    "labels": "int64 1d",
    "n_labels": "int64 0d",
    "widths": "int64 1d",
}
MAX_ROUNDS = 1000


class LinearClassifier:
    """Logistic regression, one label against the rest, on rarely set items above all.

    An item weighs the logarithm of how seldom it is set in training (its inverse document
    frequency), and the items of a candidate are scaled to length 1: so long sentences count
    no more than short ones, and bits, half of which are set, less than rare words. The
    probabilities of more than two labels are divided by their sum.

    Parameters
    ----------
    C : float
        Inverse strength of the quadratic penalty.
    min_count : int
        Training candidates that must have an item; rarer ones only count in the length.
    class_weight : "balanced", mapping of label id to weight, optional
        Weights are finite and above 0; a label without one has 1.
    inputs : "codes", "features" or "both"
        Where items come from.
    seed : int
        Of the order in which the solver visits candidates.

    Attributes
    ----------
    columns_ : int32 array (n_used,)
        Items that have weights, rising.
    squares_ : float64 array (n_used + 1,)
        Squared inverse document frequency of each of them; the last: of all other items.
    weights_ : float32 array (n_used, n_machines)
        What each adds to the score, before it is divided by the length.
    biases_ : float64 array (n_machines,)
    labels_ : int64 array (n_present,)
        Label ids in training; of two only the second has a machine.

    References
    ----------
    Spärck Jones 1972 (inverse document frequency); Yu et al. 2011 (the solver, liblinear's).
    """

    columns_: Int32
    squares_: Float64
    weights_: Float32
    biases_: Float64
    labels_: Int64
    n_labels_: int
    widths_: tuple[int, int]

    def __init__(
        self,
        *,
        C: float = 10.0,
        min_count: int = 2,
        class_weight: ClassWeight = None,
        inputs: Inputs = "features",
        seed: int = 0,
    ) -> None:
        if not 0 < C < np.inf or min_count < 1 or inputs not in INPUTS:
            raise ValueError(
                f"C = {C}, min_count = {min_count}, inputs = {inputs!r}; give a finite C above 0, "
                f"a count of at least 1, and one of {', '.join(INPUTS)}."
            )
        check_class_weight(class_weight)
        self.C = C
        self.min_count = min_count
        self.class_weight = class_weight
        self.inputs: Inputs = inputs
        self.seed = seed

    def fit(
        self, x: Encoded, y: NDArray[np.integer[Any]], n_labels: int | None = None
    ) -> LinearClassifier:
        """Train a machine a label with scikit-learn.

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
            no features, but `inputs` wants some, or no item is set often enough.
        """
        self.labels_, self.n_labels_ = checked_targets(y, n_labels)
        items = x.items(self.inputs)
        self.widths_ = looked_at(self.inputs, x.widths)
        counts = np.bincount(items.columns, minlength=items.width)
        self.columns_ = np.flatnonzero(counts >= self.min_count).astype(np.int32)
        if not len(self.columns_):
            raise ValueError(
                f"no item is set in {self.min_count} of {len(y)} training candidates, but one or "
                "more must be; lower min_count, or give more candidates."
            )
        rarity = np.log((len(y) + 1) / (counts[self.columns_] + 1))
        self.squares_ = np.append(rarity**2, np.log(len(y) + 1) ** 2)
        rows = self._scaled(items, rarity)
        machines = [self._trained(rows, y, label) for label in one_against_rest(self.labels_)]
        coefficients = np.stack([machine.coef_[0] for machine in machines], axis=1)
        self.weights_ = (coefficients * rarity[:, None]).astype(np.float32)
        self.biases_ = np.array([machine.intercept_[0] for machine in machines])
        self._place()
        return self

    def _scaled(self, items: Features, rarity: Float64) -> Any:
        """What the solver sees: a sparse matrix (n, n_used) of scikit-learn's kind."""
        from scipy.sparse import csr_array

        slots = slots_of(self.columns_, items.width)
        rows = scaled_rows(items.columns, items.offsets, slots, self.squares_, rarity)
        return csr_array(rows, shape=(len(items), len(rarity)))

    def _trained(self, rows: Any, y: NDArray[np.integer[Any]], label: int) -> Any:
        from sklearn.linear_model import LogisticRegression

        weights = self.class_weight if isinstance(self.class_weight, Mapping) else {}
        of_label = np.array([weights.get(k, 1.0) for k in range(self.n_labels_)])
        machine = LogisticRegression(
            C=self.C,
            solver="liblinear",
            dual=True,
            class_weight=None if weights else self.class_weight,
            random_state=self.seed,
            max_iter=MAX_ROUNDS,
        )
        return machine.fit(rows, y == label, sample_weight=of_label[y])

    def _place(self) -> None:
        """Where each item finds its square and its weights side by side: one trip to memory."""
        self._slots = slots_of(self.columns_, sum(self.widths_))
        self._sides = np.zeros((len(self.squares_), 1 + self.weights_.shape[1]))
        self._sides[:, 0], self._sides[:-1, 1:] = self.squares_, self.weights_

    def predict_proba(self, x: Encoded) -> Float32:
        """Probabilities, float32 (n, n_labels); column 0 is "no relation".

        Raises
        ------
        ValueError
            If candidates have other bits or features than in training.
        """
        self._check_fitted()
        items = x.items(self.inputs, self.widths_)
        p = probabilities(items.columns, items.offsets, self._slots, self._sides, self.biases_)
        out = np.zeros((len(x), self.n_labels_), np.float32)
        out[:, self.labels_] = np.stack([1 - p[:, 0], p[:, 0]], axis=1) if p.shape[1] == 1 else p
        return out

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that `predict_proba` needs but the settings, as arrays."""
        self._check_fitted()
        return {
            "columns": self.columns_,
            "squares": self.squares_,
            "weights": self.weights_,
            "biases": self.biases_,
            "labels": self.labels_,
            "n_labels": np.array(self.n_labels_, np.int64),
            "widths": np.array(self.widths_, np.int64),
        }

    def _check_fitted(self) -> None:
        if not hasattr(self, "weights_"):
            raise ValueError("this classifier has no weights, one an item expected; call fit().")

    def restore(self, state: Mapping[str, NDArray[Any]]) -> LinearClassifier:
        """Take over the arrays of `state`.

        Raises
        ------
        ValueError
            If one is missing or added, or they do not describe machines of these settings.
        """
        arrays = {name: np.asarray(state.get(name), order="C") for name in {**KINDS, **state}}
        found = {name: f"{array.dtype} {array.ndim}d" for name, array in arrays.items()}
        if found != KINDS or not self._are_consistent(**arrays):
            raise ValueError(
                f"the stored machines have {found}, but consistent ones have {KINDS}; the file is "
                "damaged, train again."
            )
        bits, features = arrays["widths"].tolist()
        self.widths_, self.n_labels_ = (bits, features), int(arrays["n_labels"])
        self.columns_, self.squares_ = arrays["columns"], arrays["squares"]
        self.weights_, self.biases_ = arrays["weights"], arrays["biases"]
        self.labels_ = arrays["labels"]
        self._place()
        return self

    def _are_consistent(
        self,
        columns: Int32,
        squares: Float64,
        weights: Float32,
        biases: Float64,
        labels: Int64,
        n_labels: Int64,
        widths: Int64,
    ) -> bool:
        """Labels and columns rise within bounds, and all arrays agree and are finite."""
        if not are_widths(widths, self.inputs):
            return False
        ends = np.concatenate([[-1], columns, [widths.sum()]])
        n_machines = len(one_against_rest(labels))
        return bool(
            (np.diff(ends) > 0).all()
            and squares.shape == (len(columns) + 1,)
            and weights.shape == (len(columns), n_machines)
            and biases.shape == (n_machines,)
            and len(labels) >= 2
            and (np.diff(labels) > 0).all()
            and 0 <= labels[0] <= labels[-1] < n_labels
            and all(np.isfinite(array).all() for array in (squares, weights, biases))
            and (squares >= 0).all()
        )
