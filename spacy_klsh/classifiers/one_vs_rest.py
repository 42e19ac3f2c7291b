"""Several labels for one candidate: a yes-or-no classifier for each label."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..structures import Float32
from .encoded import Encoded
from .stored_views import Arrays
from .votes import Voting


class OneVsRest:
    """Probability of each label on its own; they need not sum to 1.

    Parameters
    ----------
    member : classifier
        Not fitted; a copy of it learns each label.

    Attributes
    ----------
    members_ : tuple of classifier or None
        One a label; None where training had only candidates with the label, or none.
    constants_ : float32 array (n_labels - 1,)
        Probability of the labels without a classifier: 0 or 1.
    """

    members_: tuple[Any, ...]
    constants_: Float32

    def __init__(self, member: Any) -> None:
        self.member = member

    @property
    def widths_(self) -> tuple[int, int]:
        """Bits and features that it looks at; 0 if no label needs any."""
        return next((member.widths_ for member in self.members_ if member is not None), (0, 0))

    @property
    def n_labels_(self) -> int:
        """Columns of `predict_proba`."""
        return len(self.members_) + 1

    def fit(self, x: Encoded, y: NDArray[np.bool_]) -> OneVsRest:
        """Train a classifier a label; `y` is bool (n, n_labels), column 0 "no relation"."""
        self.constants_ = np.array([column.all() for column in y[:, 1:].T], np.float32)
        self.members_ = tuple(
            copy(self.member).fit(x, column.astype(np.int64), 2)
            if 0 < column.sum() < len(column)
            else None
            for column in y[:, 1:].T
        )
        return self

    def update(self, x: Encoded, y: NDArray[np.bool_]) -> int:
        """Let the members learn more candidates; the number of errors made on them.

        A label that all or no candidates of `fit` had keeps its constant probability.
        """
        columns = zip(self.members_, y[:, 1:].T, strict=True)
        return sum(m.update(x, column.astype(np.int64)) for m, column in columns if m is not None)

    def predict_proba(self, x: Encoded) -> Float32:
        """Probabilities, float32 (n, n_labels); column 0: that of none of the labels."""
        self._check_fitted()
        out = np.empty((len(x), self.n_labels_), np.float32)
        out[:, 1:] = self.constants_
        fitted = {k: member for k, member in enumerate(self.members_, 1) if member is not None}
        for k, answers in zip(fitted, _answers(list(fitted.values()), x), strict=True):
            out[:, k] = answers[:, 1]
        out[:, 0] = np.prod(1 - out[:, 1:], axis=1)
        return out

    def state(self) -> Arrays:
        """Everything that `predict_proba` needs, as arrays.

        What all members have alike, such as the stored candidates of nearest neighbours, stands
        there once, as ``all/`` and its name.
        """
        self._check_fitted()
        states = {k: m.state() for k, m in enumerate(self.members_) if m is not None}
        alike = _alike(list(states.values()))
        arrays: Arrays = {"constants": self.constants_}
        arrays |= {f"all/{name}": array for name, array in alike.items()}
        for k, state in states.items():
            own = {name: array for name, array in state.items() if name not in alike}
            arrays |= {f"{k}/{name}": array for name, array in own.items()}
        return arrays

    def _check_fitted(self) -> None:
        if not hasattr(self, "members_"):
            raise ValueError("this classifier has no members, one a label expected; call fit().")

    def restore(self, state: Mapping[str, NDArray[Any]]) -> OneVsRest:
        """Take over the arrays of `state`.

        Raises
        ------
        ValueError
            If one is missing or does not fit.
        """
        constants = np.asarray(state.get("constants"))
        if constants.dtype != np.float32 or constants.ndim != 1:
            raise ValueError(
                f"the stored constants are {constants.dtype} {constants.ndim}d, but float32 1d is "
                "needed; the file is damaged, train again."
            )
        if not np.isin(constants, (0, 1)).all():
            raise ValueError("a stored constant is not 0 or 1; the file is damaged, train again.")
        parts = _parts(state, len(constants))
        members = tuple(copy(self.member).restore(part) if part else None for part in parts)
        fitted = [member for member in members if member is not None]
        for member in fitted:
            if member.n_labels_ != 2:
                raise ValueError(
                    f"a stored classifier tells {member.n_labels_} labels apart, but 2 are "
                    "needed; the file is damaged, train again."
                )
            if member.widths_ != fitted[0].widths_:
                raise ValueError(
                    f"a stored classifier reads {member.widths_} bits and features, but the first "
                    f"{fitted[0].widths_}; the file is damaged, train again."
                )
        if fitted and isinstance(fitted[0], Voting) and not _store_the_same(fitted):
            raise ValueError(
                "labels have stored other candidates each, but the same are expected; the file is "
                "damaged, train again."
            )
        self.members_, self.constants_ = members, constants
        return self


def _answers(members: Sequence[Any], x: Encoded) -> list[Float32]:
    """Probabilities by each; what all of them have stored is looked through once."""
    if members and isinstance(members[0], Voting):
        voters = members[0].voters(x)
        return [member.voted(*voters) for member in members]
    return [member.predict_proba(x) for member in members]


def _store_the_same(members: Sequence[Any]) -> bool:
    """Whether nothing but their labels differs."""
    first, *others = (member.state() for member in members)
    shared = first.keys() - {"counts"}
    return all(_are_equal(first[name], other[name]) for other in others for name in shared)


def _parts(state: Mapping[str, NDArray[Any]], n: int) -> list[Arrays]:
    """The arrays of each of `n` members; empty where there is none."""
    own: dict[str, Arrays] = {"all": {}, **{str(k): {} for k in range(n)}}
    for name, array in state.items():
        k, _, rest = name.partition("/")
        if k in own:
            own[k][rest] = array
        elif name != "constants":
            raise ValueError(
                f"the stored classifier has an array {name!r}, but there are {n} labels; the file "
                "is damaged, train again."
            )
    alike = own.pop("all")
    twice = alike.keys() & set().union(*own.values())
    if twice:
        raise ValueError(
            f"the stored classifier has {sorted(twice)} for all labels, and again for one; the "
            "file is damaged, train again."
        )
    return [{**alike, **part} if part else {} for part in own.values()]


def _alike(states: Sequence[Arrays]) -> Arrays:
    """The arrays that several members have alike; some array stays with each of them."""
    first, *others = states or [{}]
    alike = {
        name: array
        for name, array in first.items()
        if array.ndim and all(name in each and _are_equal(array, each[name]) for each in others)
    }
    return alike if others and all(state.keys() > alike.keys() for state in states) else {}


def _are_equal(a: NDArray[Any], b: NDArray[Any]) -> bool:
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
