"""How fast the subspace classifier trains and predicts, beside the scikit-learn ensembles."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import BaggingClassifier, ExtraTreesClassifier, RandomForestClassifier
from sklearn.metrics import brier_score_loss
from sklearn.tree import DecisionTreeClassifier

from spacy_klsh.classifiers.encoded import Encoded
from spacy_klsh.classifiers.extra_trees import ExtraTrees
from spacy_klsh.classifiers.subspace import SubspaceClassifier
from spacy_klsh.hashing.codes import Codes

N_TRAIN, N_TEST, N_BITS, N_GROUPS, DIM = 5000, 4000, 1000, 60, 20
POSITIVE = 0.12
REPEATS = {1: 41, 32: 41, 2000: 11}

Predictor = tuple[Callable[[Any], Any], Any]


def synthetic_codes(seed: int = 0) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Bits, uint8 (N_TRAIN + N_TEST, N_BITS), and labels of which `POSITIVE` are 1.

    Candidates lie around a few groups, as dependency paths do; a bit is a noisy
    hyperplane, so bits depend on each other; a label is a noisy direction.
    """
    rng = np.random.default_rng(seed)
    n = N_TRAIN + N_TEST
    groups = rng.normal(size=(N_GROUPS, DIM))
    points = groups[rng.integers(N_GROUPS, size=n)] + 0.6 * rng.normal(size=(n, DIM))
    noise = rng.normal(size=(n, N_BITS))
    bits = points @ rng.normal(size=(DIM, N_BITS)) + 0.5 * noise > 0
    score = points @ rng.normal(size=DIM) + 2 * rng.normal(size=n)
    return bits.astype(np.uint8), (score > np.quantile(score, 1 - POSITIVE)).astype(np.int64)


def ensembles() -> dict[str, tuple[Any, Any]]:
    """Ours and scikit-learn's of the same kind, not fitted; all use every core."""
    bagging = BaggingClassifier(
        DecisionTreeClassifier(), 250, max_features=30, random_state=0, n_jobs=-1
    )
    return {
        "subspace": (SubspaceClassifier(), bagging),
        "forest": (
            SubspaceClassifier(bits_per_member=None),
            RandomForestClassifier(250, random_state=0, n_jobs=-1),
        ),
        "extra": (
            ExtraTrees(inputs="codes"),
            ExtraTreesClassifier(250, random_state=0, n_jobs=-1),
        ),
    }


def fitted() -> tuple[dict[str, tuple[Any, Any]], dict[str, float], Encoded, NDArray[np.uint8]]:
    """The ensembles after training, what that took, and the test candidates for both.

    Returns figures `fit_s` of ours, `fit_speedup` of scikit-learn's time by ours, and
    the Brier scores of both on test candidates, for each kind.
    """
    bits, y = synthetic_codes()
    train, test = bits[:N_TRAIN], bits[N_TRAIN:]
    x, new = (Encoded(Codes.pack(part), None, {}) for part in (train, test))
    compared, figures = ensembles(), {}
    for ours, _ in compared.values():
        ours.fit(x[:100], y[:100])  # compiled before the clock starts
    for name, (ours, theirs) in compared.items():
        taken = [seconds(ours.fit, x, y[:N_TRAIN]), seconds(theirs.fit, train, y[:N_TRAIN])]
        figures[f"{name}_fit_s"] = taken[0]
        figures[f"{name}_fit_speedup"] = taken[1] / taken[0]
        for who, model, candidates in (("ours", ours, new), ("theirs", theirs, test)):
            share = model.predict_proba(candidates)[:, 1]
            figures[f"{name}_brier_{who}"] = float(brier_score_loss(y[N_TRAIN:], share))
    return compared, figures, new, test


def seconds(function: Callable[..., Any], *arguments: Any) -> float:
    """Time of one call."""
    begin = perf_counter()
    function(*arguments)
    return perf_counter() - begin


def microseconds(predictors: Mapping[str, Predictor], rows: int) -> dict[str, float]:
    """Median time of a call, all predictors taking turns."""
    times: dict[str, list[float]] = {name: [] for name in predictors}
    for repeat in range(REPEATS[rows]):
        start = repeat * rows % (N_TEST - rows + 1)  # other rows each time where there are enough
        for name, (predict, candidates) in predictors.items():
            block = candidates[start : start + rows]
            times[name].append(1e6 * seconds(predict, block))
    return {name: float(np.median(taken)) for name, taken in times.items()}


def subspace() -> dict[str, float]:
    """Training, see `fitted`; microseconds a call, and the faster of scikit-learn's / ours."""
    compared, figures, x, test = fitted()
    (ours, bagging), (_, forest) = compared["subspace"], compared["forest"]
    predictors = {"ours": (ours.predict_proba, x)}
    for name, theirs in (("bagging", bagging), ("forest", forest)):
        predictors[name] = (theirs.set_params(n_jobs=1).predict_proba, test)
    for rows in REPEATS:
        taken = microseconds(predictors, rows)
        figures[f"speedup_{rows}"] = min(taken["bagging"], taken["forest"]) / taken["ours"]
        figures.update({f"{name}_us_{rows}": value for name, value in taken.items()})
    return figures


if __name__ == "__main__":
    print(json.dumps(subspace(), indent=2))
