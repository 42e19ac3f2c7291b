"""Candidates with codes and features, and polynomial kernel machines that learned from them."""

import numpy as np
import strategies

from spacy_klsh.classifiers.encoded import Encoded
from spacy_klsh.classifiers.polynomial import PolynomialClassifier
from spacy_klsh.hashing.codes import Codes
from spacy_klsh.hashing.features import Features

N, WIDTH, N_BITS = (90 if strategies.JIT else 40), 40, 20


def sample(n=N, labels=(0, 1, 2), seed=0):
    """Candidates whose label is told by pairs of items, with some noise."""
    rng = np.random.default_rng(seed)
    dense = rng.random((n, WIDTH)) < 0.2
    pairs = (dense[:, 0] & ~dense[:, 1]) + 2 * (dense[:, 2] | dense[:, 3])
    y = np.where(rng.random(n) < 0.85, pairs, rng.integers(9, size=n))
    y[: len(labels)] = range(len(labels))
    features = Features.from_sets([np.flatnonzero(row).tolist() for row in dense], WIDTH)
    codes = Codes.pack(rng.integers(2, size=(n, N_BITS), dtype=np.uint8))
    return Encoded(codes, features, {}), np.array(labels)[y % len(labels)]


def fitted(n_labels=None, labels=(0, 1, 2), **settings):
    return PolynomialClassifier(**settings).fit(*sample(labels=labels), n_labels)
