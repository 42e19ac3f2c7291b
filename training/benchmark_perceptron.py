"""How fast the perceptron learns and predicts, beside scikit-learn's."""

from __future__ import annotations

import json
from collections.abc import Callable
from time import process_time

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.linear_model import Perceptron

from spacy_klsh.classifiers.encoded import Encoded
from spacy_klsh.classifiers.perceptron import PerceptronClassifier
from spacy_klsh.hashing.codes import Codes
from spacy_klsh.hashing.features import Features

N_TRAIN, N_TEST, WIDTH, N_LABELS = 10_000, 20_000, 2**20, 6
ITEMS = (100, 200)  # of a candidate, at least and at most
POSITIVE = 0.3  # share of candidates with one of the five groups
N_PASSES = 10
REPEATS = 5


def candidates(seed: int = 0) -> tuple[Encoded, np.ndarray]:
    """Candidates like ChemProt's: few frequent items, many rare ones; and their label ids.

    The label is the strongest of hidden weights of the items.
    """
    rng = np.random.default_rng(seed)
    n = N_TRAIN + N_TEST
    hashed = rng.permutation(WIDTH).astype(np.int32)
    sets = [hashed[_distinct(rng, rng.integers(*ITEMS, endpoint=True))] for _ in range(n)]
    x = Encoded(Codes.pack(np.zeros((n, 64), np.uint8)), Features.from_sets(sets, WIDTH), {})
    scores = _matrix(x) @ rng.normal(size=(WIDTH, N_LABELS))
    related = scores[:, 1:].max(axis=1) - scores[:, 0]
    scores[:, 0] += np.quantile(related, 1 - POSITIVE)
    return x, scores.argmax(axis=1)


def _distinct(rng: np.random.Generator, size: int) -> np.ndarray:
    """So many different ranks, of which low ones are frequent (Zipf)."""
    ranks: set[int] = set()
    while len(ranks) < size:
        drawn = np.exp(rng.uniform(0, np.log(WIDTH), size=size - len(ranks))).astype(int) - 1
        ranks.update(drawn.tolist())
    return np.fromiter(ranks, int)


def _matrix(x: Encoded) -> csr_matrix:
    found = x.features
    ones = np.ones(len(found.columns), np.float64)
    return csr_matrix((ones, found.columns, found.offsets), shape=(len(found), found.width))


def seconds(run: Callable[[], object]) -> float:
    """Median processor time of a call: other processes do not count."""
    times = []
    for _ in range(REPEATS):
        began = process_time()
        run()
        times.append(process_time() - began)
    return float(np.median(times))


def perceptron() -> dict[str, float]:
    """`measured` on candidates made by chance."""
    x, y = candidates()
    return measured(x[:N_TRAIN], y[:N_TRAIN], x[N_TRAIN:], y[N_TRAIN:])


def measured(train: Encoded, y: np.ndarray, test: Encoded, y_test: np.ndarray) -> dict[str, float]:
    """Candidates a second of one core, predicted and learned, and scikit-learn's.

    Learned: candidates gone over in `N_PASSES` passes, all classes at once, on one
    replicate by `fit` (its Platt sigmoids included), or by `update`; scikit-learn goes over
    them as often, one class behind the other.
    """
    settings = {"inputs": "features", "max_passes": N_PASSES}
    ours = PerceptronClassifier(**settings).fit(train, y)
    single = PerceptronClassifier(n_replicates=1, **settings)
    theirs = Perceptron(max_iter=N_PASSES, tol=None, random_state=0)
    rows, new = _matrix(train), _matrix(test)
    theirs.fit(rows, y)
    share = {
        "ours_accuracy": float((ours.predict_proba(test).argmax(axis=1) == y_test).mean()),
        "sklearn_accuracy": float((theirs.predict(new) == y_test).mean()),
    }
    learned = len(y) * N_PASSES
    updated = PerceptronClassifier(**settings).restore(ours.state())
    return {
        "perceptron_candidates_per_s": len(y_test) / seconds(lambda: ours.predict_proba(test)),
        "sklearn_candidates_per_s": len(y_test) / seconds(lambda: theirs.predict(new)),
        "fit_candidates_per_s": learned / seconds(lambda: single.fit(train, y)),
        "sklearn_fit_candidates_per_s": learned / seconds(lambda: theirs.fit(rows, y)),
        "update_candidates_per_s": len(y) / seconds(lambda: updated.update(train, y)),
        **share,
    }


if __name__ == "__main__":
    print(json.dumps(perceptron(), indent=2))
