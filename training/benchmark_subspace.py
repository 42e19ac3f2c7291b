"""How fast the subspace classifier predicts, beside the scikit-learn ensembles."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier

from spacy_klsh.classifiers.encoded import Encoded
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


def predictors() -> dict[str, Predictor]:
    """The function that predicts and its candidates: ours, and scikit-learn's two."""
    bits, y = synthetic_codes()
    train, test, y = bits[:N_TRAIN], bits[N_TRAIN:], y[:N_TRAIN]
    classifier = SubspaceClassifier().fit(Encoded(Codes.pack(train), None, {}), y)
    bagging = classifier.estimator(np.unique(y)).fit(train, y)
    forest = RandomForestClassifier(250, random_state=0).fit(train, y)
    x = Encoded(Codes.pack(test), None, {})
    np.testing.assert_allclose(
        classifier.predict_proba(x), bagging.predict_proba(test), rtol=0, atol=1e-6
    )
    return {
        "ours": (classifier.predict_proba, x),
        "bagging": (bagging.predict_proba, test),
        "forest": (forest.predict_proba, test),
    }


def microseconds(predictors: Mapping[str, Predictor], rows: int) -> dict[str, float]:
    """Median time of a call, all predictors taking turns."""
    times: dict[str, list[float]] = {name: [] for name in predictors}
    for repeat in range(REPEATS[rows]):
        start = repeat * rows % (N_TEST - rows + 1)  # other rows each time where there are enough
        for name, (predict, candidates) in predictors.items():
            block = candidates[start : start + rows]
            begin = perf_counter()
            predict(block)
            times[name].append(1e6 * (perf_counter() - begin))
    return {name: float(np.median(taken)) for name, taken in times.items()}


def subspace() -> dict[str, float]:
    """Microseconds a call at 1, 32 and 2,000 rows, and the faster of scikit-learn's / ours."""
    compared = predictors()
    figures = {}
    for rows in REPEATS:
        taken = microseconds(compared, rows)
        figures[f"speedup_{rows}"] = min(taken["bagging"], taken["forest"]) / taken["ours"]
        figures.update({f"{name}_us_{rows}": value for name, value in taken.items()})
    return figures


if __name__ == "__main__":
    print(json.dumps(subspace(), indent=2))
