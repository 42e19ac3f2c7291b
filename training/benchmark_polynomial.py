"""How fast polynomial kernel machines predict by support examples, an index or item sets."""

from __future__ import annotations

from copy import copy
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spacy_klsh.classifiers.encoded import Encoded
from spacy_klsh.classifiers.item_sets import ItemSets
from spacy_klsh.classifiers.polynomial import Machines, PolynomialClassifier
from spacy_klsh.classifiers.support_examples import InvertedIndex
from spacy_klsh.hashing.codes import Codes
from spacy_klsh.hashing.features import Features

BLOCK, BLOCKS = 20, 15  # candidates that one after the other scores; median over blocks

Labels = NDArray[np.int64]


def polynomial(
    train: Features, y: Labels, test: Features, y_test: Labels, *, sigma: float, **settings: Any
) -> dict[str, float]:
    """Microseconds a candidate of PKB, PKI and PKE in turns, and what PKE changes.

    Parameters
    ----------
    train, test : Features
    y, y_test : int64 array
        Label ids, 0 for "no relation".
    sigma : float
        Of PKE.
    **settings
        Of `PolynomialClassifier`.
    """
    classifier = PolynomialClassifier(method="basic", **settings).fit(bare(train), y)
    support = classifier.machines_
    index, sets = InvertedIndex(support), ItemSets.of(support, sigma, classifier.max_sets)
    taken = microseconds({"pkb": support, "pki": index, "pke": sets}, test)
    exact, found = (decisions(classifier, machines, test) for machines in (index, sets))
    return {
        "pki_speedup": taken["pkb"] / taken["pki"],
        "pke_speedup": taken["pkb"] / taken["pke"],
        **{f"{name}_us": value for name, value in taken.items()},
        "sigma": sigma,
        "pke_changed": float((found != exact).mean()),
        "exact_f1": micro_f1(exact, y_test),
        "pke_f1": micro_f1(found, y_test),
        "n_support": len(support.weights),
        "n_sets": len(sets.columns),
        "pke_bytes": sets.nbytes,
    }


def bare(features: Features) -> Encoded:
    """Candidates with features and a code that says nothing."""
    return Encoded(Codes.pack(np.zeros((len(features), 1), np.uint8)), features, {})


def microseconds(machines: dict[str, Machines], x: Features) -> dict[str, float]:
    """Median processor time a candidate, all taking turns with the same block of candidates."""
    size = min(BLOCK, len(x))
    times: dict[str, list[float]] = {name: [] for name in machines}
    for each in machines.values():
        each.scores(x[:1])  # compiles
    for repeat in range(BLOCKS):
        start = repeat * size % (len(x) - size + 1)
        block = x[start : start + size]
        for name, each in machines.items():
            begin = process_time()
            each.scores(block)
            times[name].append(1e6 * (process_time() - begin) / size)
    return {name: float(np.median(taken)) for name, taken in times.items()}


def decisions(classifier: PolynomialClassifier, machines: Machines, x: Features) -> Labels:
    """Most probable label ids, int64 (n,), if `machines` compute the scores."""
    other = copy(classifier)
    other.machines_ = machines
    return other.predict_proba(bare(x)).argmax(axis=1)


def micro_f1(found: Labels, gold: Labels) -> float:
    """F1 over the candidates, "no relation" left out."""
    n_right = int(((found == gold) & (gold > 0)).sum())
    return 2 * n_right / max(int((found > 0).sum() + (gold > 0).sum()), 1)
