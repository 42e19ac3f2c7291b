"""Several classifiers that answer together."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..structures import Float32
from .encoded import Encoded

LEAST = 1e-4  # a member that is sure of the wrong label does not outvote all others


class Ensemble:
    """Mean of the logits of its members.

    A probability is proportional to the geometric mean of those of the members, which for
    two labels is the mean of their logits; what a member gives counts as 0.0001 at least.

    Parameters
    ----------
    members : mapping of name to classifier
        Not fitted.
    weights : mapping of name to float, optional
        Share of each, finite and above 0; a member without one has 1.

    Attributes
    ----------
    members_ : dict of name to classifier
        The fitted ones.
    """

    members_: dict[str, Any]

    def __init__(
        self, *, members: Mapping[str, Any], weights: Mapping[str, float] | None = None
    ) -> None:
        weights = weights or {}
        if not members or not weights.keys() <= members.keys() or any("/" in n for n in members):
            raise ValueError(
                f"members are {list(members)}, with weights for {list(weights)}; name a member or "
                'more, without "/", and give no weight to others.'
            )
        if not all(0 < weight < np.inf for weight in weights.values()):
            raise ValueError(f"weights are {dict(weights)}; give finite ones above 0.")
        self.members = members
        self.weights = weights

    @property
    def widths_(self) -> tuple[int, int]:
        """Bits and features that any member looks at."""
        bits, features = zip(*(member.widths_ for member in self.members_.values()), strict=True)
        return max(bits), max(features)

    @property
    def n_labels_(self) -> int:
        """Columns of `predict_proba`."""
        return next(int(member.n_labels_) for member in self.members_.values())

    def fit(self, x: Encoded, y: NDArray[np.integer[Any]], n_labels: int | None = None) -> Ensemble:
        """Train a copy of each member on the same candidates, see `SubspaceClassifier.fit`."""
        self.members_ = {
            name: copy(member).fit(x, y, n_labels) for name, member in self.members.items()
        }
        return self

    def predict_proba(self, x: Encoded) -> Float32:
        """Probabilities, float32 (n, n_labels); column 0 is "no relation"."""
        self._check_fitted()
        total = sum(self.weights.get(name, 1.0) for name in self.members_)
        logs = np.zeros((len(x), self.n_labels_))
        for name, member in self.members_.items():
            p = np.maximum(member.predict_proba(x).astype(np.float64), LEAST)
            logs += self.weights.get(name, 1.0) / total * np.log(p)
        means = np.exp(logs)
        sums = sum(means.T)  # one by one, so that no row depends on the number of rows
        probabilities: Float32 = (means / np.asarray(sums)[:, None]).astype(np.float32)
        return probabilities

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that `predict_proba` needs but the settings, as arrays."""
        self._check_fitted()
        return {
            f"{name}/{array}": value
            for name, member in self.members_.items()
            for array, value in member.state().items()
        }

    def _check_fitted(self) -> None:
        if not hasattr(self, "members_"):
            raise ValueError(
                f"the members {list(self.members)} are not trained, but must be; call fit() first."
            )

    def restore(self, state: Mapping[str, NDArray[Any]]) -> Ensemble:
        """Take over the arrays of `state`.

        Raises
        ------
        ValueError
            If those of a member are missing, damaged, or do not agree with the others.
        """
        parts: dict[str, dict[str, NDArray[Any]]] = {name: {} for name in self.members}
        for key, value in state.items():
            name, _, array = key.partition("/")
            if name not in parts:
                raise ValueError(
                    f"the stored classifier has an array {key!r}, but the members are "
                    f"{list(parts)}; the file is damaged, train again."
                )
            parts[name][array] = value
        members = {name: copy(self.members[name]).restore(part) for name, part in parts.items()}
        looked_at = zip(*(member.widths_ for member in members.values()), strict=True)
        widths = [set(column) - {0} for column in looked_at]
        labels = {member.n_labels_ for member in members.values()}
        if len(labels) > 1 or any(len(column) > 1 for column in widths):
            raise ValueError(
                f"the stored members look at {widths} bits and features and tell {labels} labels "
                "apart, but must agree; the file is damaged, train again."
            )
        self.members_ = members
        return self
