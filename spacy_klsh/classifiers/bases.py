"""Members of a random subspace ensemble that scikit-learn trains."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..hashing.codes import Codes, Uint64
from ..structures import Int64
from .forest import Forest
from .linear import LinearMembers


def fit_base(
    base: Any, words: Uint64, n_bits: int, y: Int64, n_members: int, n_own: int, seed: int
) -> Forest | LinearMembers:
    """Copies of `base`, each trained on `n_own` random bits and candidates drawn anew.

    Parameters
    ----------
    base : scikit-learn classifier
    words : uint64 array (n, n_words)
    y : int64 array (n,)
        ``0 .. n_labels - 1``, all of which occur.

    Raises
    ------
    ValueError
        If `base` is neither a tree nor linear, or flat arrays would give other
        probabilities than its own.
    """
    from sklearn.ensemble import BaggingClassifier

    bits, n_labels = Codes(words, n_bits).bits(), int(y.max()) + 1
    for n in (1, n_members):  # one is soon refused
        bagging = BaggingClassifier(base, n_estimators=n, max_features=n_own, random_state=seed)
        bagging.fit(bits, y)
        members = _flattened(bagging, n_labels)
        found, expected = members.predict_proba(words[:100]), bagging.predict_proba(bits[:100])
        if not np.allclose(found, expected, atol=1e-4):
            raise ValueError(
                f"the probabilities of {base!r} are no softmax of its coef_ and intercept_; give a "
                "base of which they are, such as LogisticRegression, or a tree."
            )
    return members


def _flattened(bagging: Any, n_labels: int) -> Forest | LinearMembers:
    members, subspaces = bagging.estimators_, bagging.estimators_features_
    if hasattr(members[0], "tree_"):
        return Forest.of_scikit_learn(members, subspaces, n_labels)
    if hasattr(members[0], "coef_"):
        return LinearMembers.of_scikit_learn(members, subspaces, n_labels)
    raise ValueError(
        f"{members[0]!r} has neither tree_ nor coef_, but predicting needs one of these; give a "
        "decision tree or a linear classifier as base."
    )
