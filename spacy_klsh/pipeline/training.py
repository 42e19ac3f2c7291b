"""From training examples to a training set, a classifier, and its out-of-fold answers."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from ..classifiers.encoded import Encoded
from ..structures import Float32, Int64, Views
from .candidates import Candidates
from .comparison import extract, judge
from .hierarchies import arrange
from .labels import Bool, LabelScheme, Lost
from .readers import give_entities
from .relations import Record, read_records
from .thresholds import choose_thresholds

if TYPE_CHECKING:
    from .component import RelationExtractor

logger = logging.getLogger(__name__)

N_FOLDS = 5
EVEN_CHANCE = 0.5


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """All candidates of the training Docs with their classes.

    Parameters
    ----------
    candidates : sequence of Candidates
        Of each Doc.
    views : Views
        Of all of them.
    y : bool array (n, n_classes)
        Classes of `scheme`.
    groups : int64 array (n,)
        Number of the Doc that each candidate comes from.
    lost_gold : Counter of (reason, label)
        Gold relations that no candidate stands for.
    entity_labels : frozenset of str
        Labels of the entities of all candidates.
    scheme : LabelScheme
    skipped : Counter of reason to int
        Pairs or candidates that were left out.
    """

    candidates: Sequence[Candidates]
    views: Views
    y: Bool
    groups: Int64
    lost_gold: Lost
    entity_labels: frozenset[str]
    scheme: LabelScheme
    skipped: Counter[str]

    @property
    def lost(self) -> Counter[str]:
        """Everything that was left out, by reason."""
        counts = Counter(self.skipped)
        for (reason, _), n in self.lost_gold.items():
            counts[reason] += n
        return counts


def train(component: RelationExtractor, examples: Sequence[Example], nlp: Language | None) -> None:
    """Fit the hashing, the classifier and the thresholds of `component`."""
    from joblib import parallel_config

    data = collect(component, examples, nlp)
    component.report.update(data.lost)
    component.hashing.fit(data.views)
    encoded = Encoded(component.hashing.transform(data.views), None, data.views)
    with parallel_config("threading", n_jobs=-1):  # the same trees for any number
        component.classifier = fit_classifier(component, encoded, data.y, data.scheme)
        thresholds = _thresholds(component, encoded, data)
    names = np.array([label for label, _ in data.scheme.classes[1:]], dtype=object)
    component.reference_labels = [
        names[data.y[row, 1:]].tolist() for row in component.hashing.reference_rows_
    ]
    component.entity_labels = data.entity_labels
    component.scheme = data.scheme  # last: before it the component counts as untrained
    component.thresholds = thresholds
    logger.info(
        "%s: %d candidates in %d Docs, %d of them related; thresholds %s; lost: %s",
        component.name,
        len(data.y),
        len(np.unique(data.groups)),
        int((~data.y[:, 0]).sum()),
        thresholds,
        dict(data.lost),
    )


def _thresholds(component: RelationExtractor, x: Encoded, data: TrainingSet) -> dict[str, float]:
    if component.threshold is not None:
        return dict.fromkeys(data.scheme.labels, component.threshold)
    if learns_later(component):
        return dict.fromkeys(data.scheme.labels, EVEN_CHANCE)
    return choose_thresholds(data.scheme, out_of_fold(component, x, data), data.y, data.lost_gold)


def learns_later(component: RelationExtractor) -> bool:
    """Whether the config leaves all learning to ``nlp.update``."""
    return getattr(component.make_classifier(seed=component.seed), "max_passes", None) == 0


def collect(
    component: RelationExtractor, examples: Sequence[Example], nlp: Language | None
) -> TrainingSet:
    """Candidates, views and classes of all examples."""
    docs = _parsed([example.reference for example in examples], component, nlp)
    gold = [component.scheme.gold(read_records(doc, component.attr) or []) for doc in docs]
    labels = sorted({record.label for records in gold for record in records})
    scheme = replace(component.scheme, labels=tuple(labels))
    offered = [component.candidates(doc, ordered=scheme.ordered) for doc in docs]
    candidates, views = extract(component, docs, offered)
    y, lost_gold = targets(scheme, candidates, gold)
    data = TrainingSet(
        candidates=candidates,
        views=views,
        y=y,
        groups=np.repeat(np.arange(len(docs)), [len(found) for found in candidates]),
        lost_gold=lost_gold,
        entity_labels=frozenset().union(*(found.entity_labels for found in candidates)),
        scheme=scheme,
        skipped=sum((Counter(found.skipped) for found in candidates), Counter()),
    )
    _check_classes(data, len(docs), sum(map(len, gold)))
    return data


def targets(
    scheme: LabelScheme, candidates: Sequence[Candidates], gold: Sequence[Sequence[Record]]
) -> tuple[Bool, Lost]:
    """`LabelScheme.targets` of many Docs, one behind the other."""
    parts, lost_gold = [np.zeros((0, len(scheme.classes)), bool)], Lost()
    for found, records in zip(candidates, gold, strict=True):
        y, lost = scheme.targets(found, records)
        parts.append(y)
        lost_gold += lost
    return np.concatenate(parts), lost_gold


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


def _check_classes(data: TrainingSet, n_docs: int, n_gold: int) -> None:
    n, positive = len(data.y), int(data.y[:, 1:].any(axis=1).sum())
    found = (
        f"{n_docs} training Docs hold {n_gold} gold relations and {n} candidates, "
        f"{positive} of them related (left out: {dict(data.lost)})"
    )
    if not n_gold:
        raise ValueError(
            f"{found}; set doc._.relations on the reference Docs, and store_user_data=True in "
            "DocBin, or the relations are not saved."
        )
    if not positive:
        raise ValueError(
            f"{found}; no candidate stands for a relation: give gold entities, and check "
            "spans_key, entity_pairs or roles, max_tokens, max_sentences of the candidates block."
        )
    if positive == n:
        raise ValueError(
            f"{found}; without unrelated ones nothing can be learned: annotate sentences with "
            "entities that are not related, too."
        )


def fit_classifier(component: RelationExtractor, x: Encoded, y: Bool, scheme: LabelScheme) -> Any:
    """A new classifier, trained; `y` is bool (n, n_classes) with the classes of `scheme`."""
    classifier = component.new_classifier()
    arrange(classifier, scheme)
    if scheme.exclusive:
        return classifier.fit(x, y.argmax(axis=1), y.shape[1])
    return classifier.fit(x, y)


def out_of_fold(component: RelationExtractor, x: Encoded, data: TrainingSet) -> Float32:
    """Probabilities of each candidate by a classifier that saw only other Docs.

    The classifier is refitted on the other Docs of each of 5 folds (as many as there
    are Docs, if fewer); the codes, which know no labels, stay.

    Returns
    -------
    float32 array (n, n_classes)
        0 for the Docs of a fold that leaves one class alone to learn from.
    """
    folds = document_folds(data.groups)
    probabilities = np.zeros(data.y.shape, np.float32)
    for fold in np.unique(folds):
        held_out = folds == fold
        if len(np.unique(data.y[~held_out], axis=0)) > 1:
            model = fit_classifier(component, x[~held_out], data.y[~held_out], data.scheme)
            probabilities[held_out] = model.predict_proba(x[held_out])
    return probabilities


def document_folds(groups: Int64) -> Int64:
    """Fold of each candidate: Docs fall into 5 folds (fewer, if they are) in a fixed random order.

    Parameters
    ----------
    groups : int64 array (n,)
        Number of the Doc that each candidate comes from.
    """
    docs, rows = np.unique(groups, return_inverse=True)
    order = np.random.default_rng(0).permutation(len(docs))
    return (order % min(N_FOLDS, len(docs)))[rows]


def thresholds_for(component: RelationExtractor, examples: Iterable[Example]) -> dict[str, float]:
    """Thresholds of a trained component with the best F1 on annotated Docs."""
    scheme, examples = component.scheme, list(examples)
    references = [example.reference for example in examples]
    gold = [scheme.gold(read_records(doc, component.attr) or []) for doc in references]
    if not any(gold):
        raise ValueError(
            "the Docs hold no gold relations to choose thresholds by; write them with "
            "DocBin(store_user_data=True) or `spacy-klsh convert`."
        )
    candidates, views = judge(component, [example.predicted for example in examples])
    y, lost_gold = targets(scheme, candidates, gold)
    return choose_thresholds(scheme, component.probabilities(views), y, lost_gold)
