"""Least probabilities of attached relations: with the best F1, or for a share of candidates."""

from __future__ import annotations

from collections.abc import Mapping

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
    return _below(scores, int(f1.argmax()))


def match_share(
    scheme: LabelScheme, probabilities: Float32, share: float | Mapping[str, float]
) -> dict[str, float]:
    """Thresholds at which a share of the candidates has a label.

    Parameters
    ----------
    scheme : LabelScheme
    probabilities : float32 array (n, n_classes)
    share : float in (0, 1], or mapping of label to float
        Of the candidates with any label: all labels have one threshold. Or of those with
        each label; exclusive: the label is the best one of these candidates.

    Raises
    ------
    ValueError
        If a share is no number in (0, 1], or not all labels have one.
    """
    best = scheme.reached(probabilities, dict.fromkeys(scheme.labels, 0.0))
    scores = probabilities * best
    names = np.array([label for label, _ in scheme.classes])
    if not isinstance(share, Mapping):
        common = threshold_of_share(scores[:, names != ""].max(axis=1), share)
        return dict.fromkeys(scheme.labels, common)
    if share.keys() != set(scheme.labels):
        raise ValueError(
            f"shares are given for {sorted(share)}, but the labels are {list(scheme.labels)}; give "
            "each of them one, or one number for all."
        )
    return {
        label: threshold_of_share(scores[:, names == label].max(axis=1), share[label])
        for label in scheme.labels
    }


def threshold_of_share(scores: NDArray[np.floating], share: float) -> float:
    """Threshold that the share of `scores` nearest to `share` reaches.

    Equal scores stay together, one is kept at least, and none of 0.

    Parameters
    ----------
    scores : float array (n,)
        Probability of the best label of each candidate.
    share : float in (0, 1]

    Returns
    -------
    float
        As of `best_threshold`.
    """
    if not _is_number(share) or not 0 < share <= 1:
        raise ValueError(f"the positive share is {share!r}; give a number above 0, and at most 1.")
    scores = -np.sort(-scores)
    ends = np.flatnonzero(scores != np.append(scores[1:], 0.0))  # the last of equal ones, not 0
    if not len(ends):
        return 0.5
    return _below(scores, int(ends[np.abs(ends + 1 - share * len(scores)).argmin()]))


def _below(scores: NDArray[np.floating], last: int) -> float:
    """Half-way between ``scores[last]`` and the next of these falling scores."""
    below = scores[last + 1] if last + 1 < len(scores) else 0.0
    middle = (scores[last] + below) / 2
    return float(middle if middle > below else scores[last])  # neighbouring floats


def checked_threshold(threshold: float | None) -> float | None:
    """The threshold of a config.

    Raises
    ------
    ValueError
        If it is neither None nor a number in [0, 1].
    """
    if threshold is None:
        return None
    if not _is_number(threshold) or not 0 <= threshold <= 1:
        raise ValueError(
            f"threshold is {threshold!r}; give a number in [0, 1], or null to let training choose."
        )
    return float(threshold)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
