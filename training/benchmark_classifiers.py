"""How fast three kinds of classifiers are on candidates of ChemProt, in one run."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import spacy
from benchmark_kernel import BASE
from benchmark_neighbors import N_QUERIES, searched
from benchmark_perceptron import measured
from benchmark_polynomial import Labels, polynomial
from public import CORPORA
from spacy.language import Language
from spacy.tokens import Doc
from tokens import as_examples, parsed

from spacy_klsh import RelationExtractor
from spacy_klsh.classifiers.encoded import Encoded
from spacy_klsh.pipeline.comparison import encode
from spacy_klsh.pipeline.training import TrainingSet, collect

N_TEST = 3000
SIGMA = 0.0005


class Part(NamedTuple):
    """Candidates of some documents, and their label ids, int64 (n,)."""

    x: Encoded
    y: Labels


def classifiers(corpora: Path) -> dict[str, float]:
    """Speed of polynomial kernel machines, of the nearest codes and of the perceptron.

    All training documents of ChemProt, and its test documents until they hold `N_TEST`
    candidates, in the order of the files. Features and codes are those of the component with
    its default config.
    """
    nlp = spacy.load(BASE, exclude=["ner"])
    corpus = CORPORA["chemprot"]
    component = nlp.create_pipe("klsh_relations", config=dict(corpus.settings))
    splits, _ = corpus.splits(corpora, nlp)
    docs = parsed(nlp, splits["train"]), first_parsed(nlp, component, splits["test"], N_TEST)
    train, test = encoded(component, *docs)
    return {
        **polynomial(train.x.features, train.y, test.x.features, test.y, sigma=SIGMA),
        **searched(test.x.codes[:N_QUERIES], train.x.codes),
        **measured(train.x, train.y, test.x, test.y),
        "n_train_candidates": len(train.y),
        "n_test_candidates": len(test.y),
        "n_documents": sum(map(len, docs)),
        "features_per_candidate": len(train.x.features.columns) / len(train.y),
    }


def first_parsed(
    nlp: Language, component: RelationExtractor, docs: Iterable[Doc], n: int
) -> list[Doc]:
    """The first documents with `n` candidates or more, parsed."""
    taken, n_candidates = [], 0
    for doc in docs:
        if n_candidates >= n:
            break
        taken += parsed(nlp, [doc])
        n_candidates += len(component.candidates(taken[-1], ordered=True))
    return taken


def encoded(component: RelationExtractor, train: list[Doc], test: list[Doc]) -> tuple[Part, Part]:
    """Codes and features of the candidates of both, by references from the training documents.

    Of several labels the first counts; one that training lacks is "no relation".
    """
    data, new = (collect(component, as_examples(docs), None) for docs in (train, test))
    component.hashing.fit(data.views)
    ids = {label: i for i, label in enumerate(data.scheme.classes)}

    def part(found: TrainingSet) -> Part:
        labels = np.array([ids.get(label, 0) for label in found.scheme.classes])
        codes = component.hashing.transform(found.views)
        return Part(encode(component, codes, found.views), labels[found.y.argmax(axis=1)])

    return part(data), part(new)
