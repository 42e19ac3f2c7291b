"""A linear model on the words around a pair: what the learning curve compares with."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import PredefinedSplit, cross_val_predict
from sklearn.pipeline import make_pipeline
from spacy.tokens import Doc

from spacy_klsh.pipeline.candidates import Candidates
from spacy_klsh.pipeline.thresholds import best_threshold

STRENGTHS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)  # C of LogisticRegression


class WordModel(NamedTuple):
    """A trained scikit-learn pipeline and the least probability of a relation."""

    model: Any
    threshold: float


def pair_words(doc: Doc, candidates: Candidates) -> list[list[str]]:
    """Features of each candidate: words before, between and after it, and bigrams between.

    Words are those of the pair's sentence in lower case; tokens of an entity appear as
    its label.
    """
    shown = [token.lower_ for token in doc]
    for span in candidates.entities:
        shown[span.start : span.end] = [span.label_] * len(span)
    features = []
    for start, first_end, second, second_end in candidates.spans.tolist():
        sentence = doc[start : start + 1].sent
        between = shown[first_end:second]
        zones = {
            "before": shown[sentence.start : start],
            "between": between,
            "after": shown[max(first_end, second_end) : sentence.end],
            "bigram": map(" ".join, pairwise(["HEAD", *between, "TAIL"])),
        }
        features.append([f"{zone}={word}" for zone, words in zones.items() for word in words])
    return features


def fit_words(
    words: list[list[str]], y: NDArray[np.bool_], folds: NDArray[np.int64], n_gold: int
) -> WordModel:
    """Logistic regression with the strength that ranks candidates of other documents best.

    Parameters
    ----------
    words : list of lists of str
        Features of each candidate.
    y : bool array (n,)
    folds : int array (n,)
        Candidates of a fold are ranked by a model that was trained on the others; the
        threshold is the one with the best F1 over these predictions.
    n_gold : int
        Gold relations in all.
    """
    models = [
        make_pipeline(
            CountVectorizer(analyzer=list, binary=True),
            LogisticRegression(C=strength, solver="liblinear"),
        )
        for strength in STRENGTHS
    ]
    splits = PredefinedSplit(folds)
    held_out = [
        cross_val_predict(model, words, y, cv=splits, method="predict_proba")[:, 1]
        for model in models
    ]
    best = int(np.argmax([roc_auc_score(y, scores) for scores in held_out]))
    return WordModel(models[best].fit(words, y), best_threshold(held_out[best], y, n_gold))
