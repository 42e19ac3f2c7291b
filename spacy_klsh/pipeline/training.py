"""From training examples to a training set, and the choice of the threshold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from ..classifiers.encoded import Encoded
from ..structures import Int64, Views, concat_views
from .labels import LabelScheme, best_threshold
from .readers import give_entities
from .relations import read_records

if TYPE_CHECKING:
    from .component import RelationExtractor

N_FOLDS = 5


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """All candidates of the training Docs with their classes.

    Parameters
    ----------
    views : Views
    y : int64 array (n,)
        Class ids of `scheme`.
    groups : int64 array (n,)
        Number of the Doc that each candidate comes from.
    unreachable : int64 array (n_docs,)
        Gold relations of each Doc that no candidate stands for.
    entity_labels : frozenset of str
        Labels of the entities of all candidates.
    scheme : LabelScheme
    lost : mapping of reason to int
    """

    views: Views
    y: Int64
    groups: Int64
    unreachable: Int64
    entity_labels: frozenset[str]
    scheme: LabelScheme
    lost: Counter[str]


def collect(
    component: RelationExtractor, examples: Sequence[Example], nlp: Language | None
) -> TrainingSet:
    """Candidates, views and classes of all examples."""
    docs = _parsed([example.reference for example in examples], component, nlp)
    gold = [read_records(doc, component.attr) or [] for doc in docs]
    labels = sorted({record.label for records in gold for record in records})
    scheme = LabelScheme(tuple(labels), component.scheme.direction)
    ordered = scheme.direction == "ordered"
    parts, targets, groups, unreachable = [], [], [], []
    entity_labels: set[str] = set()
    lost: Counter[str] = Counter()
    for i, (doc, records) in enumerate(zip(docs, gold, strict=True)):
        candidates, views = component.extract(doc, component.candidates(doc, ordered=ordered))
        y, missed = scheme.targets(candidates, records)
        lost.update({**candidates.skipped, **missed})
        unreachable.append(missed["unreachable"])
        entity_labels |= candidates.entity_labels
        if len(candidates):
            parts.append(views)
            targets.append(y)
            groups.append(np.full(len(y), i, np.int64))
    y = np.concatenate(targets) if targets else np.zeros(0, np.int64)
    _check_classes(y, len(docs), sum(map(len, gold)), lost)
    return TrainingSet(
        views=concat_views(parts),
        y=y,
        groups=np.concatenate(groups),
        unreachable=np.array(unreachable, np.int64),
        entity_labels=frozenset(entity_labels),
        scheme=scheme,
        lost=+lost,
    )


def _parsed(
    references: Sequence[Doc], component: RelationExtractor, nlp: Language | None
) -> list[Doc]:
    """The references; those without a parse as copies that the upstream pipeline parsed."""
    bare = [doc for doc in references if not doc.has_annotation("DEP")]
    if not bare or nlp is None:
        return list(references)
    stream: Iterable[Doc] = (doc.copy() for doc in bare)
    for name, pipe in nlp.components:
        if name == component.name:
            break
        stream = pipe.pipe(stream, batch_size=128) if hasattr(pipe, "pipe") else map(pipe, stream)
    parsed = iter(list(stream))
    docs = []
    for reference in references:
        doc = reference
        if not reference.has_annotation("DEP"):
            doc = next(parsed)
            give_entities(doc, reference, getattr(component.candidates, "spans_key", None))
        docs.append(doc)
    return docs


def _check_classes(y: Int64, n_docs: int, n_gold: int, lost: Counter[str]) -> None:
    positive = int((y > 0).sum())
    found = (
        f"{n_docs} training Docs hold {n_gold} gold relations and {len(y)} candidate pairs, "
        f"{positive} of them related (left out: {dict(+lost)})"
    )
    if not n_gold:
        raise ValueError(
            f"{found}; set doc._.relations on the reference Docs, and store_user_data=True in "
            "DocBin, or the relations are not saved."
        )
    if not positive:
        raise ValueError(
            f"{found}; no relation joins two candidates: give gold entities, and check spans_key, "
            "entity_pairs, max_tokens and max_sentences of the candidates block."
        )
    if positive == len(y):
        raise ValueError(
            f"{found}; without unrelated pairs nothing can be learned: annotate sentences with "
            "entities that are not related, too."
        )


def choose_threshold(
    make_classifier: Callable[[], Any], encoded: Encoded, data: TrainingSet, n_classes: int
) -> float:
    """Threshold with the best F1 of predictions on Docs left out of training.

    The classifier is refitted on the other Docs of each of 5 folds (as many as there
    are Docs, if fewer); the codes, which know no labels, stay. 0.5 if there is one Doc.
    """
    docs = np.unique(data.groups)
    if len(docs) < 2:
        return 0.5
    fold_of = dict(zip(docs.tolist(), _folds(len(docs)), strict=True))
    folds = np.array([fold_of[group] for group in data.groups.tolist()])
    probabilities = np.zeros((len(data.y), n_classes), np.float32)
    for fold in np.unique(folds):
        held_out = folds == fold
        if len(np.unique(data.y[~held_out])) > 1:
            model = make_classifier().fit(encoded[~held_out], data.y[~held_out], n_classes)
            probabilities[held_out] = model.predict_proba(encoded[held_out])
    best = probabilities[:, 1:].argmax(axis=1) + 1
    scores = probabilities[np.arange(len(best)), best]
    n_gold = int((data.y > 0).sum() + data.unreachable.sum())
    return best_threshold(scores, best == data.y, n_gold)


def _folds(n: int) -> NDArray[np.int64]:
    """Fold of each of `n` Docs, in a fixed random order."""
    order = np.random.default_rng(0).permutation(n)
    return order % min(N_FOLDS, n)
