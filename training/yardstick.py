"""Logistic regression on n-grams of words and of paths: what the default is measured against."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from spacy.tokens import Doc

from spacy_klsh.pipeline.candidates import Candidates
from spacy_klsh.pipeline.thresholds import choose_thresholds
from spacy_klsh.pipeline.training import TrainingSet, document_folds
from spacy_klsh.structures import Structures
from spacy_klsh.views import Views

STRENGTHS = (0.1, 1.0, 10.0)  # C of LogisticRegression
MAX_WORDS, MAX_STEPS = 3, 3  # longest n-grams of words and of paths

Float = NDArray[np.floating[Any]]


def features(
    docs: Sequence[Doc], candidates: Sequence[Candidates], views: Views
) -> Iterator[list[str]]:
    """Features of each candidate of all Docs, one by one: there are many.

    Words before, between and after its entities, n-grams of the words between, and n-grams of
    edges and words on its path. An entity shows as its label, one of the candidate's with
    its role.
    """
    words = (
        each
        for doc, found in zip(docs, candidates, strict=True)
        for each in _word_features(doc, found)
    )
    paths = map(_path_features, _paths(views["path"]))
    return ([*word, *path] for word, path in zip(words, paths, strict=True))


def _word_features(doc: Doc, candidates: Candidates) -> Iterator[list[str]]:
    plain = [token.lower_ for token in doc]
    for span in candidates.entities:
        plain[span.start : span.end] = [span.label_] * len(span)
    for row in candidates.arguments.tolist():
        named = {
            role: candidates.entities[j]
            for role, j in zip(candidates.roles, row, strict=True)
            if j >= 0
        }
        first = min(span.start for span in named.values())
        last = max(span.end for span in named.values())
        marks = {span.start: f"{role}={span.label_}" for role, span in named.items()}
        inside = {i for span in named.values() for i in range(span.start, span.end)}
        between = [
            marks.get(i, plain[i]) for i in range(first, last) if i in marks or i not in inside
        ]
        sentence = doc[first : first + 1].sent
        yield [
            *(f"before={word}" for word in plain[sentence.start : first]),
            *(f"after={word}" for word in plain[last : max(last, sentence.end)]),
            *(f"between={gram}" for gram in _n_grams(between, MAX_WORDS)),
        ]


def _paths(structures: Structures) -> Iterator[list[str]]:
    for i in range(len(structures)):
        items = [symbol for node in structures.words(i) for symbol in node]
        yield items[1:]  # no edge enters the first node


def _path_features(items: Sequence[str]) -> Iterator[str]:
    return (f"path={gram}" for gram in _n_grams(items, MAX_STEPS))


def _n_grams(items: Sequence[str], longest: int) -> Iterator[str]:
    for n in range(1, longest + 1):
        for start in range(len(items) - n + 1):
            yield " ".join(items[start : start + n])


class Yardstick:
    """One logistic regression a class, and thresholds as the component chooses them.

    Parameters
    ----------
    data : TrainingSet
        Candidates with their classes.
    features : iterable of lists of str
        Of each candidate.

    Notes
    -----
    The strength of regularization is the one with the best micro F1 in cross-validation over
    documents; thresholds come from the same predictions.
    """

    def __init__(self, data: TrainingSet, features: Iterable[Sequence[str]]) -> None:
        self._vectorizer = CountVectorizer(analyzer=list, binary=True, min_df=2)
        x, folds = self._vectorizer.fit_transform(features), document_folds(data.groups)
        best = -1.0
        for strength in STRENGTHS:
            held_out = np.zeros(data.y.shape)
            for fold in np.unique(folds):
                train, test = folds != fold, folds == fold
                models = _fit(x[train], data.y[train], strength)
                held_out[test] = _probabilities(models, x[test])
            thresholds = choose_thresholds(data.scheme, held_out, data.y, data.lost_gold)
            f1 = micro_f1(data, held_out, thresholds)
            if f1 > best:
                best, self.strength, self.thresholds = f1, strength, thresholds
        self._models = _fit(x, data.y, self.strength)

    def predict_proba(self, features: Iterable[Sequence[str]]) -> Float:
        """Probability of each class, float (n, n_classes); column 0 is 0."""
        return _probabilities(self._models, self._vectorizer.transform(features))


def _fit(x: Any, y: NDArray[np.bool_], strength: float) -> list[Any]:
    """A model of each class but the first; None where there is nothing to tell apart."""
    return [
        LogisticRegression(C=strength, solver="liblinear").fit(x, column)
        if column.any() and not column.all()
        else None
        for column in y.T[1:]
    ]


def _probabilities(models: Sequence[Any], x: Any) -> Float:
    nothing = np.zeros(x.shape[0])
    columns = [nothing if m is None else m.predict_proba(x)[:, 1] for m in models]
    return np.stack([nothing, *columns], axis=1)


def micro_f1(data: TrainingSet, probabilities: Float, thresholds: dict[str, float]) -> float:
    """F1 of the candidates of `data` over all labels; relations without one count as missed."""
    found = data.scheme.reached(probabilities, thresholds)[:, 1:]
    gold = data.y[:, 1:]
    n_gold = int(gold.sum()) + data.lost_gold.total()
    return 2 * int((found & gold).sum()) / max(int(found.sum()) + n_gold, 1)
