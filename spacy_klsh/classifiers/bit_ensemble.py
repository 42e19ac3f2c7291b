"""What ensembles over packed bits share: fitting, predicting, and keeping their arrays."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..hashing.codes import Uint64
from ..structures import Float32, Int64
from .encoded import INPUTS, Encoded, Inputs
from .forest import Forest
from .growing import Float64
from .inputs import BitInputs
from .linear_members import LinearMembers
from .targets import ClassWeight, check_class_weight, checked_targets


class BitEnsemble(ABC):
    """Mean probability of many members that look at bits, kept as flat arrays.

    Attributes
    ----------
    inputs_ : BitInputs
        The bits that members see.
    members_ : Forest or LinearMembers
    """

    n_members: int
    class_weight: ClassWeight
    inputs: Inputs
    n_features_kept: int
    inputs_: BitInputs
    members_: Forest | LinearMembers

    @property
    def widths_(self) -> tuple[int, int]:
        """Bits and features that it looks at."""
        return self.inputs_.n_bits, self.inputs_.width

    @property
    def n_labels_(self) -> int:
        """Columns of `predict_proba`."""
        return self.members_.n_labels

    def fit(
        self, x: Encoded, y: NDArray[np.integer[Any]], n_labels: int | None = None
    ) -> BitEnsemble:
        """Choose the features that are kept, and train the members.

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
            If `y` holds one label only, or labels outside ``0 .. n_labels - 1``, or if
            there are no features, but `inputs` wants some.
        """
        labels, n_labels = checked_targets(y, n_labels)
        targets = np.searchsorted(labels, y)
        self.inputs_ = BitInputs.choose(x, targets, self.inputs, self.n_features_kept)
        weights = label_weights(self.class_weight, labels, targets)
        members = self._train(self.inputs_.words(x), targets, weights)
        self.members_ = members.among(labels, n_labels)
        return self

    @abstractmethod
    def _train(self, words: Uint64, y: Int64, weights: Float64) -> Forest | LinearMembers:
        """Members for the labels that occur; `y` are rows of their `weights`."""

    def predict_proba(self, x: Encoded) -> Float32:
        """Probabilities, float32 (n, n_labels); column 0 is "no relation"."""
        self._check_fitted()
        return self.members_.predict_proba(self.inputs_.words(x))

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that `predict_proba` needs, as arrays."""
        self._check_fitted()
        members = {name: getattr(self.members_, name) for name in self.members_.KINDS}
        return {**members, **self.inputs_.arrays()}

    def _check_fitted(self) -> None:
        if not hasattr(self, "members_"):
            raise ValueError(
                f"this classifier has no members, {self.n_members} are expected; call fit() first."
            )

    def restore(self, state: Mapping[str, NDArray[Any]]) -> BitEnsemble:
        """Take over the arrays of `state`.

        Raises
        ------
        ValueError
            If one is missing or added, or they do not describe `n_members` members that
            look at `inputs`.
        """
        kind = LinearMembers if "subspaces" in state else Forest
        kinds = {**kind.KINDS, **BitInputs.KINDS}
        arrays = {name: np.asarray(state.get(name), order="C") for name in {**kinds, **state}}
        found = {name: f"{array.dtype} {array.ndim}d" for name, array in arrays.items()}
        if found == kinds:
            members = kind(*(arrays[name] for name in kind.KINDS))
            inputs = BitInputs(int(arrays["n_bits"]), int(arrays["width"]), arrays["columns"])
            if (
                len(members) == self.n_members
                and inputs.fits(self.inputs)
                and members.fits(len(inputs))
            ):
                self.members_, self.inputs_ = members, inputs
                return self
        raise ValueError(
            f"the stored members are {found}, but {self.n_members} consistent ones for inputs = "
            f'"{self.inputs}" are {kinds}; the file is damaged, train again.'
        )


def check_settings(class_weight: ClassWeight, inputs: str, **counts: int | None) -> None:
    """Refuse counts below 1 (None is no count), bad weights, unknown `inputs`."""
    if min(count for count in counts.values() if count is not None) < 1:
        found = ", ".join(f"{name} = {count}" for name, count in counts.items())
        raise ValueError(f"{found}: all must be at least 1.")
    check_class_weight(class_weight)
    if inputs not in INPUTS:
        raise ValueError(f'inputs = "{inputs}", but it must be one of {", ".join(INPUTS)}.')


def label_weights(class_weight: ClassWeight, labels: NDArray[Any], y: Int64) -> Float64:
    """Weight of each of `labels`, at most 1; `y` indexes them."""
    weights = np.ones(len(labels))
    if class_weight == "balanced":
        weights = 1 / np.bincount(y)
    elif class_weight is not None:
        weights = np.array([class_weight.get(int(label), 1.0) for label in labels])
    scaled: Float64 = np.maximum(weights / weights.max(), 1e-100)  # so that no square is 0
    return scaled
