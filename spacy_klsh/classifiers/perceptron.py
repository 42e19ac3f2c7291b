"""Averaged, bagged perceptrons, one a class, that may learn from a hierarchy, and ever after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ..hashing.features import Features
from ..structures import Float32
from .averaged import Averaged, Float64, Int8, Passes, are_weights, bagged, outputs
from .encoded import INPUTS, Encoded, Inputs, are_widths, looked_at
from .hierarchy import Tree, flat, given, joined, members
from .sigmoids import Sigmoids, belongs
from .targets import checked_targets

Bool = NDArray[np.bool_]
Strategy = Literal["flat", "given", "lowest", "all"]

WORTH = 1000  # states that the weights of `fit` count as, at most
WEIGHTS = {
    "items": "int32 1d",
    "current": "float32 2d",
    "drift": "float64 2d",
    "n_states": "int64 0d",
}
SIGMOIDS = {"curves": "float64 2d", "outputs": "float32 2d", "targets": "int32 1d"}
KINDS = {"widths": "int64 1d", **WEIGHTS, **SIGMOIDS}


class PerceptronClassifier:
    """Linear classes, each against the rest, that go on learning with `update`.

    `fit` trains every class on bootstrap replicates of the candidates and takes the mean of
    their weights. On an error a class adds the items of the candidate to its weights, or
    takes them away; its weights are averaged over the last passes. Sigmoids, fitted to the
    outputs of replicates for the candidates that they did not draw, which costs no other
    training, make them probabilities, scaled so that a row sums to 1.

    Class 0, "related at all", is the opposite of "no relation". With a hierarchy a class
    starts from the weights of its parent, and the topmost ones from those of class 0.

    `update` goes on from the weights of `fit` with new candidates, once in their order, and
    averages over its steps; the weights of `fit` count as one state a candidate, 1,000 at
    most. Before it learns them it takes the outputs for the new candidates, which it has not
    seen, and refits the sigmoids to the last 4,096 such outputs. So a probability keeps its
    meaning, and a threshold chosen after `fit` stays right. (Candidates that it has seen in
    an earlier update make the sigmoids too sure.)

    Parameters
    ----------
    strategy : {"flat", "given", "lowest", "all"}
        No hierarchy; the one given; with the labels that share a parent joined two by two,
        the most similar weights first; or all classes that share a parent.
    hierarchy : mapping of str to str, or str
        Parent of labels and of their parents, or the JSON file with such a mapping. The
        pipeline, which knows the names of labels, hands it over with `arrange`. Empty: all
        labels stand below class 0.
    max_passes : int
        Times that `fit` goes over the candidates, at most; it stops without an error.
        0: `fit` learns nothing, and leaves all to `update`.
    n_averaged : int
        The last passes, whose weights are averaged.
    n_replicates : int
        Bootstrap replicates.
    inputs : {"codes", "features", "both"}
    seed : int

    Attributes
    ----------
    weights_ : Averaged
    sigmoids_ : Sigmoids
    widths_ : (int, int)
        Bits and features that it looks at.

    References
    ----------
    Zhou et al. 2006; Freund & Schapire 1999; Platt 1999.
    """

    weights_: Averaged
    sigmoids_: Sigmoids
    widths_: tuple[int, int]

    def __init__(
        self,
        *,
        strategy: Strategy = "flat",
        hierarchy: Mapping[str, str] | str = {},
        max_passes: int = 10,
        n_averaged: int = 5,
        n_replicates: int = 10,
        inputs: Inputs = "both",
        seed: int = 0,
    ) -> None:
        for name, found, known in (
            ("strategy", strategy, get_args(Strategy)),
            ("inputs", inputs, INPUTS),
        ):
            if found not in known:
                raise ValueError(f"{name} is {found!r}; choose one of {', '.join(known)}.")
        if hierarchy and strategy == "flat":
            raise ValueError(
                'there is a hierarchy, but strategy is "flat", which uses none; choose given, '
                "lowest or all."
            )
        if max_passes < 0 or min(n_averaged, n_replicates) < 1 or 0 < max_passes < n_averaged:
            raise ValueError(
                f"max_passes = {max_passes}, n_averaged = {n_averaged}, n_replicates = "
                f"{n_replicates}: give at least 1 of each, and no more averaged passes than passes."
            )
        self.strategy = strategy
        self.hierarchy = hierarchy
        self.max_passes = max_passes
        self.n_averaged = n_averaged
        self.n_replicates = n_replicates
        self.inputs = inputs
        self.seed = seed
        self._names: Sequence[str] = ()
        self._above: Mapping[str, str] = {}

    @property
    def n_labels_(self) -> int:
        """Columns of `predict_proba`."""
        return max(2, len(self.sigmoids_.curves))

    @property
    def learns_later(self) -> bool:
        """Whether `fit` leaves all learning to `update`."""
        return self.max_passes == 0

    def arrange(self, names: Sequence[str], above: Mapping[str, str]) -> None:
        """Let `fit` use the hierarchy `above` for label ids with these names."""
        self._names, self._above = names, above

    def fit(
        self, x: Encoded, y: NDArray[np.integer[Any]], n_labels: int | None = None
    ) -> PerceptronClassifier:
        """Train all classes on all candidates.

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
            If `y` holds one label only, or labels outside ``0 .. n_labels - 1``; or if there
            is a hierarchy that nobody handed over with `arrange`, or a circle in it.
        """
        _, n_labels = checked_targets(y, n_labels)
        items = x.items(self.inputs)
        used, columns = np.unique(items.columns, return_inverse=True)
        rows = Features(columns.astype(np.int32), items.offsets, len(used))
        tree = self._start(n_labels)
        if self.strategy in ("lowest", "all"):
            alone, _, _ = self._bagged(rows, _signs(members(tree, n_labels)[:, y]), flat(len(tree)))
            tree = joined(tree, n_labels, alone, all_levels=self.strategy == "all")
        weights, left_out, unseen = self._bagged(rows, _signs(members(tree, n_labels)[:, y]), tree)
        n_classes = n_labels if n_labels > 2 else 1  # what joins labels has done its work
        self.widths_ = looked_at(self.inputs, x.widths)
        self.weights_ = Averaged.spread(
            items.width,
            np.append(used, items.width).astype(np.int32),
            weights[:n_classes],
            0.0,
            min(len(y), WORTH) if self.max_passes else 0,
        )
        self.sigmoids_ = Sigmoids.of(left_out[unseen, :n_classes], y[unseen], self.seed)
        if not self.max_passes:
            self.sigmoids_ = self.sigmoids_.forgotten()
        return self

    def _start(self, n_labels: int) -> Tree:
        """The tree before anything is joined."""
        if n_labels == 2:
            return flat(1)  # the label is all that is related
        if self.strategy == "flat":
            return flat(n_labels)
        if self.hierarchy and len(self._names) != n_labels:
            raise ValueError(
                f"the hierarchy has names, but {len(self._names)} of {n_labels} labels have one; "
                "call arrange() before fit(), as a component with exclusive_classes = true does."
            )
        return given(self._names or [""] * n_labels, self._above)

    def _bagged(self, x: Features, signs: Int8, tree: Tree) -> tuple[Float32, Float64, Bool]:
        passes = Passes(self.max_passes, self.n_averaged)
        return bagged(x, signs, tree, passes, self.n_replicates, self.seed)

    def update(self, x: Encoded, y: NDArray[np.integer[Any]]) -> int:
        """Learn more candidates, once, in their order; the number of errors made on them.

        Raises
        ------
        ValueError
            If `y` holds labels that `fit` had no column for, or `x` has other widths.
        """
        self._check_fitted()
        _check_range(y, self.n_labels_)
        items = x.items(self.inputs, self.widths_)
        if not len(y):
            return 0
        found = outputs(items, self.weights_.mean)
        self.sigmoids_ = self.sigmoids_.after(found, y)
        return self.weights_.learn(items, _signs(belongs(y, found.shape[1]).T))

    def predict_proba(self, x: Encoded) -> Float32:
        """Probabilities, float32 (n, n_labels); column 0 is "no relation"."""
        self._check_fitted()
        return self.sigmoids_.probabilities(
            outputs(x.items(self.inputs, self.widths_), self.weights_.mean)
        )

    def _check_fitted(self) -> None:
        if not hasattr(self, "weights_"):
            raise ValueError("this classifier has no weights, some are expected; call fit() first.")

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that `predict_proba` and `update` need, as arrays."""
        self._check_fitted()
        return {
            "widths": np.array(self.widths_, np.int64),
            **self.weights_.state(),
            "curves": self.sigmoids_.curves,
            "outputs": self.sigmoids_.outputs,
            "targets": self.sigmoids_.targets,
        }

    def restore(self, state: Mapping[str, NDArray[Any]]) -> PerceptronClassifier:
        """Take over the arrays of `state`.

        Raises
        ------
        ValueError
            If one is missing or added, or they do not fit together.
        """
        arrays = {name: np.asarray(state.get(name), order="C") for name in {**KINDS, **state}}
        found = {name: f"{array.dtype} {array.ndim}d" for name, array in arrays.items()}
        if found != KINDS or not self._are_consistent(arrays):
            raise ValueError(
                f"the stored weights are {found}, but consistent ones are {KINDS}; the file is "
                "damaged, train again."
            )
        bits, features = arrays["widths"].tolist()
        self.weights_ = Averaged.spread(bits + features, *(arrays[name] for name in WEIGHTS))
        self.sigmoids_ = Sigmoids(*(arrays[name] for name in SIGMOIDS))
        self.widths_ = bits, features
        return self

    def _are_consistent(self, arrays: Mapping[str, NDArray[Any]]) -> bool:
        return (
            are_widths(arrays["widths"], self.inputs)
            and are_weights(int(arrays["widths"].sum()), *(arrays[name] for name in WEIGHTS))
            and Sigmoids(*(arrays[name] for name in SIGMOIDS)).is_sound(len(arrays["current"]))
        )


def _signs(belongs: Bool) -> Int8:
    return np.where(belongs, np.int8(1), np.int8(-1))


def _check_range(y: NDArray[np.integer[Any]], n_labels: int) -> None:
    if len(y) and (y.min() < 0 or y.max() >= n_labels):
        raise ValueError(f"labels {np.unique(y).tolist()} exceed 0..{n_labels - 1}; set n_labels.")
