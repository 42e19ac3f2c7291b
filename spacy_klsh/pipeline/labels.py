"""Between relations and classes: training targets of candidates, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..structures import Float32, Int64
from .candidates import Candidates
from .relations import Record, find_argument

Direction: TypeAlias = Literal["ordered", "label", "none"]
DIRECTIONS: tuple[Direction, ...] = ("ordered", "label", "none")


@dataclass(frozen=True)
class LabelScheme:
    """Relation labels and how their direction is told.

    With direction ``ordered`` both orders of a pair are candidates and a class is a
    label. With ``label`` a pair is one candidate in document order, and each label is
    two classes: head first, tail first. With ``none`` the order means nothing.
    Class 0 is always "no relation".
    """

    labels: tuple[str, ...]
    direction: Direction = "ordered"

    @property
    def classes(self) -> list[tuple[str, bool]]:
        """(label, tail first) of each class; class 0 is ``("", False)``."""
        orders = (False, True) if self.direction == "label" else (False,)
        return [("", False), *((label, order) for label in self.labels for order in orders)]

    def targets(
        self, candidates: Candidates, gold: Sequence[Record]
    ) -> tuple[Int64, dict[str, int]]:
        """Class of each candidate, int64 (n,), and counts of gold that got lost.

        ``unreachable``: no candidate stands for the relation; ``second_label``: its
        pair already has another label.
        """
        rows = {tuple(row): i for i, row in enumerate(candidates.arguments.tolist())}
        classes = {name: i for i, name in enumerate(self.classes)}
        y = np.zeros(len(candidates), np.int64)
        lost = {"unreachable": 0, "second_label": 0}
        for record in gold:
            by_role = {argument.role: argument for argument in record.arguments}
            row = tuple(
                find_argument(by_role[role], candidates.entities) if role in by_role else -1
                for role in candidates.roles
            )
            turned = row not in rows and self.direction != "ordered"
            i = rows.get(row[::-1] if turned else row)
            target = classes.get((record.label, turned and self.direction == "label"))
            if i is None or target is None:
                lost["unreachable"] += 1
            elif y[i] not in (0, target):
                lost["second_label"] += 1
            else:
                y[i] = target
        return y, lost

    def records(
        self, candidates: Candidates, probabilities: Float32, thresholds: Mapping[str, float]
    ) -> list[Record]:
        """The best label of each candidate where it reaches its threshold.

        Parameters
        ----------
        candidates : Candidates
        probabilities : float32 array (n, n_classes)
        thresholds : mapping of label to float
        """
        classes = self.classes
        if not len(candidates) or len(classes) == 1:
            return []
        limits = np.array([thresholds[label] for label, _ in classes[1:]], np.float32)
        best = probabilities[:, 1:].argmax(axis=1)
        scores = probabilities[np.arange(len(best)), best + 1]
        found = []
        for i in np.flatnonzero(scores >= limits[best]):
            label, turned = classes[best[i] + 1]
            row = candidates.arguments[i][::-1] if turned else candidates.arguments[i]
            found.append(Record(label, float(scores[i]), candidates.record_arguments(row)))
        return found


def best_threshold(scores: NDArray[np.floating], correct: NDArray[np.bool_], n_gold: int) -> float:
    """Threshold with the highest F1 over predictions that are right or wrong.

    Parameters
    ----------
    scores : float array (n,)
        Probability of the best label of each candidate.
    correct : bool array (n,)
        Whether that label is the gold one.
    n_gold : int
        Gold relations in all, with those that no candidate reaches.

    Returns
    -------
    float
        Half-way between the last score kept and the first one left out; 0.5 if no
        threshold finds a right one.
    """
    order = np.argsort(-scores, kind="stable")
    scores, correct = scores[order], correct[order]
    kept = np.arange(1, len(scores) + 1)
    f1 = 2 * np.cumsum(correct & (scores > 0)) / (kept + n_gold)  # 0 is never worth keeping
    f1[:-1][scores[:-1] == scores[1:]] = 0.0  # equal scores stay together
    if not len(f1) or f1.max() == 0:
        return 0.5
    last = int(f1.argmax())
    below = scores[last + 1] if last + 1 < len(scores) else 0.0
    middle = (scores[last] + below) / 2
    return float(middle if middle > below else scores[last])  # neighbouring floats
