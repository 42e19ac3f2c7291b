"""Probabilities corrected by what became of those given to candidates not trained on."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..structures import Float32
from .encoded import Encoded
from .platt import Float64, fit_platt, platt

METHODS = ("platt", "isotonic")


class Calibrated:
    """A classifier, and a curve a label from its probabilities to calibrated ones.

    Parameters
    ----------
    member : classifier
        Not fitted.
    method : {"platt", "isotonic"}
        A sigmoid (Platt 1999), which wants few candidates, or a rising line through knots
        (Zadrozny and Elkan 2002), which takes any rising form, but wants many.
    exclusive : bool
        Whether a candidate has one label, "no relation" among them: then the calibrated
        probabilities of all are divided by their sum. False: each label is on its own.

    Attributes
    ----------
    member : classifier
        Fitted by `fit`.
    curves_ : tuple of float64 arrays (n_knots, 2)
        One a label, without "no relation" unless they are exclusive: the score and the
        probability at each knot; for platt `a` and `b` of `platt.platt`. Empty until
        `calibrate`, and probabilities are those of the member.
    """

    curves_: tuple[Float64, ...] = ()

    def __init__(self, member: Any, method: str, *, exclusive: bool) -> None:
        if method not in METHODS:
            raise ValueError(
                f"calibration is {method!r}; choose one of {', '.join(METHODS)}, or null."
            )
        self.member = member
        self.method = method
        self.exclusive = exclusive

    @property
    def widths_(self) -> tuple[int, int]:
        """Bits and features that the member looks at."""
        widths: tuple[int, int] = self.member.widths_
        return widths

    @property
    def n_labels_(self) -> int:
        """Columns of `predict_proba`."""
        return int(self.member.n_labels_)

    def fit(self, x: Encoded, *targets: Any) -> Calibrated:
        """Train the member, with its own arguments; what `calibrate` learned is forgotten."""
        self.member.fit(x, *targets)
        self.curves_ = ()
        return self

    def update(self, x: Encoded, y: NDArray[Any]) -> int:
        """Let the member learn more candidates; the curves stay. The number of errors."""
        return int(self.member.update(x, y))

    def calibrate(self, probabilities: Float32, y: NDArray[np.bool_]) -> Calibrated:
        """Learn the curves.

        Parameters
        ----------
        probabilities : float32 array (n, n_labels)
            Of candidates that the classifier which gave them was not trained on.
        y : bool array (n, n_labels)

        Raises
        ------
        ValueError
            If there is no candidate.
        """
        if not len(y):
            raise ValueError(
                "calibration finds 0 candidates with a probability from training on other Docs; "
                "train on more Docs, or set calibration = null."
            )
        curve = _sigmoid if self.method == "platt" else _knots
        scores = probabilities.astype(np.float64)
        first = 0 if self.exclusive else 1
        self.curves_ = tuple(curve(scores[:, k].copy(), y[:, k]) for k in range(first, y.shape[1]))
        return self

    def predict_proba(self, x: Encoded) -> Float32:
        """Calibrated probabilities, float32 (n, n_labels)."""
        probabilities: Float32 = self.member.predict_proba(x)
        return self.calibrated(probabilities) if self.curves_ else probabilities

    def calibrated(self, probabilities: Float32) -> Float32:
        """Probabilities of the member, float32 (n, n_labels), after calibration."""
        first = 0 if self.exclusive else 1
        out = np.zeros(probabilities.shape)
        for k, curve in enumerate(self.curves_, first):
            out[:, k] = self._on(curve, probabilities[:, k].astype(np.float64))
        if self.exclusive:
            total = sum(out.T)  # one by one, so that no row depends on the number of rows
            out[total == 0, 0] = 1.0  # no label is possible
            out /= np.where(total == 0, 1.0, total)[:, None]
        else:
            out[:, 0] = np.prod(1 - out[:, 1:], axis=1)
        return out.astype(np.float32)

    def _on(self, curve: Float64, scores: Float64) -> Float64:
        if self.method == "platt":
            a, b = curve[0]
            return platt(scores, a, b)
        return np.interp(scores, curve[:, 0], curve[:, 1])

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that `predict_proba` needs, as arrays."""
        if not self.curves_:
            raise ValueError("this classifier has no curves, one a label expected; calibrate() it.")
        return {
            "knots": np.concatenate(self.curves_),
            "offsets": np.cumsum([0, *map(len, self.curves_)], dtype=np.int64),
            **{f"member/{name}": array for name, array in self.member.state().items()},
        }

    def restore(self, state: Mapping[str, NDArray[Any]]) -> Calibrated:
        """Take over the arrays of `state`.

        Raises
        ------
        ValueError
            If one is missing, added, or does not fit.
        """
        own = {name: array for name, array in state.items() if not name.startswith("member/")}
        if own.keys() != {"knots", "offsets"}:
            raise _damaged(f"has the arrays {sorted(own)}, but knots and offsets are needed")
        member = copy(self.member).restore(
            {k.removeprefix("member/"): v for k, v in state.items() if k not in own}
        )
        n_curves = member.n_labels_ - (not self.exclusive)
        curves = self._checked(np.asarray(own["knots"]), np.asarray(own["offsets"]), n_curves)
        self.member, self.curves_ = member, curves
        return self

    def _checked(
        self, knots: NDArray[Any], offsets: NDArray[Any], n_curves: int
    ) -> tuple[Float64, ...]:
        """The curves in these arrays, if there are `n_curves` that `calibrate` can have made."""
        if knots.dtype != np.float64 or knots.ndim != 2 or knots.shape[1] != 2:
            raise _damaged(
                f"has {knots.dtype} {knots.shape} as knots, but float64 (n, 2) is needed"
            )
        if offsets.dtype != np.int64 or offsets.shape != (n_curves + 1,):
            raise _damaged(
                f"has {offsets.dtype} {offsets.shape} as offsets of its knots, but int64 "
                f"({n_curves + 1},) is needed"
            )
        if offsets[0] != 0 or offsets[-1] != len(knots) or (np.diff(offsets) < 1).any():
            raise _damaged(f"has {len(knots)} knots at {offsets.tolist()}, but a curve has some")
        curves = tuple(np.split(knots, offsets[1:-1]))
        if not np.isfinite(knots).all() or not all(map(self._is_curve, curves)):
            raise _damaged(f"has curves that no {self.method} calibration makes")
        return curves

    def _is_curve(self, curve: Float64) -> bool:
        if self.method == "platt":
            return len(curve) == 1
        steps, (least, most) = np.diff(curve, axis=0), curve[[0, -1], 1]
        return bool(
            (steps[:, 0] > 0).all() and (steps[:, 1] >= 0).all() and least >= 0 and most <= 1
        )


def _sigmoid(scores: Float64, y: NDArray[np.bool_]) -> Float64:
    return np.array([fit_platt(scores, y)])


def _knots(scores: Float64, y: NDArray[np.bool_]) -> Float64:
    """The ends of the level parts of the rising line with the least squares."""
    from sklearn.isotonic import IsotonicRegression

    line = IsotonicRegression(y_min=0, y_max=1).fit(scores, y)
    return np.stack([line.X_thresholds_, line.y_thresholds_], axis=1).astype(np.float64)


def _damaged(reason: str) -> ValueError:
    return ValueError(f"the stored calibration {reason}; the file is damaged, train again.")
