"""Least probabilities of attached relations, with the best F1."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..structures import Float32
from .labels import Bool, LabelScheme, Lost

MIN_GOLD = 20  # gold relations that a label of its own wants for a threshold of its own


def choose_thresholds(
    scheme: LabelScheme, probabilities: Float32, y: Bool, lost: Lost
) -> dict[str, float]:
    """Thresholds with the best F1.

    Exclusive labels share the one with the best micro F1: their probabilities come from
    one classifier, and one number is chosen from more data than several.
    Other labels have the one with the best F1 of their own, if they have `MIN_GOLD` gold
    relations or more.

    Parameters
    ----------
    scheme : LabelScheme
    probabilities : float32 array (n, n_classes)
        Of candidates that the classifier was not trained on.
    y, lost
        As `LabelScheme.targets` gives them.
    """
    best = scheme.reached(probabilities, dict.fromkeys(scheme.labels, 0.0))
    names = np.array([label for label, _ in scheme.classes])

    def choose(columns: Bool, n_lost: int) -> float:
        chosen = best & columns
        return best_threshold(probabilities[chosen], y[chosen], int(y[:, columns].sum()) + n_lost)

    common = choose(names != "", sum(lost.values()))
    thresholds = dict.fromkeys(scheme.labels, common)
    for label in () if scheme.exclusive else scheme.labels:
        n_lost = sum(n for (_, name), n in lost.items() if name == label)
        if int(y[:, names == label].sum()) + n_lost >= MIN_GOLD:
            thresholds[label] = choose(names == label, n_lost)
    return thresholds


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
