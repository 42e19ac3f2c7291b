"""From training examples to a training set, a classifier, and its out-of-fold answers."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Collection, Sequence
from copy import copy
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from spacy.language import Language
from spacy.training import Example

from ..classifiers.encoded import Encoded
from ..kernels.kernel import learns
from ..structures import Float32, Int64
from ..views import Views, take
from .candidates import Candidates
from .comparison import encode, extract
from .hierarchies import arrange
from .labels import Bool, LabelScheme, Lost
from .optimizing import Optimizing
from .policy import Tallies, automatic, of_kinds, seldom_related, without
from .readers import parsed
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
    scheme : LabelScheme
    """

    candidates: Sequence[Candidates]
    views: Views
    y: Bool
    groups: Int64
    lost_gold: Lost
    scheme: LabelScheme

    @property
    def entity_labels(self) -> frozenset[str]:
        """Labels of the entities of all candidates."""
        return frozenset().union(*(found.entity_labels for found in self.candidates))

    @property
    def skipped(self) -> Counter[str]:
        """Pairs or candidates that were left out, by reason."""
        return sum((Counter(found.skipped) for found in self.candidates), Counter())

    @property
    def lost(self) -> Counter[str]:
        """Everything that was left out, by reason."""
        counts = Counter(self.skipped)
        for (reason, _), n in self.lost_gold.items():
            counts[reason] += n
        return counts

    def of_kinds(self, kinds: Collection[str]) -> Bool:
        """Whether each candidate is of one of these kinds (see `policy`), bool (n,)."""
        return of_kinds(self.candidates, kinds)

    def seldom_related(self) -> frozenset[str]:
        """The kinds of candidates that are related far less often than the others."""
        tallies, labels = Tallies(), [label for label, _ in self.scheme.classes]
        ends = np.cumsum([len(found) for found in self.candidates])
        for found, y in zip(self.candidates, np.split(self.y, ends[:-1]), strict=True):
            tallies.count(found, y, labels)
        return seldom_related(tallies)

    def without(self, kinds: Collection[str]) -> TrainingSet:
        """The same without candidates of these kinds; the gold between them is unreachable."""
        dropped, every = self.of_kinds(kinds), dict.fromkeys(self.scheme.labels, 1.0)
        gold = (self.y & dropped[:, None]).astype(np.float32)
        lost = chain.from_iterable(self.scheme.attached(self.candidates, gold, every))
        return replace(
            self,
            candidates=without(self.candidates, kinds),
            views=take(self.views, ~dropped),
            y=self.y[~dropped],
            groups=self.groups[~dropped],
            lost_gold=self.lost_gold + Lost(("unreachable", r.record.label) for r in lost),
        )


def train(
    component: RelationExtractor,
    examples: Sequence[Example],
    nlp: Language | None,
    optimizing: Optimizing,
) -> None:
    """Fit the hashing, the classifier and the thresholds of `component`."""
    from joblib import parallel_config

    data = collect(component, examples, nlp)
    dropped = automatic(component.candidates, data.seldom_related())
    data = data.without(dropped)
    component.report.update(data.lost)
    component.hashing.kernel = component.kernel
    component.hashing.fit(data.views, data.y)
    with parallel_config("threading", n_jobs=-1):  # the same trees for any number
        component.trace = optimizing(component, data, dropped, nlp)
        encoded = encode(component, component.hashing.transform(data.views), data.views)
        component.classifier = fit_classifier(component, encoded, data.y, data.scheme)
        thresholds = _thresholds(component, encoded, data)
    names = np.array([label for label, _ in data.scheme.classes[1:]], dtype=object)
    component.reference_labels = [
        names[data.y[row, 1:]].tolist() if row >= 0 else None
        for row in component.hashing.reference_rows_
    ]
    component.entity_labels, component.dropped = data.entity_labels, dropped
    component.scheme = data.scheme  # last: before it the component counts as untrained
    component.thresholds = thresholds
    logger.info(
        "%s: %d candidates in %d Docs, %d of them related; dropped %s; thresholds %s; lost: %s",
        component.name,
        len(data.y),
        len(np.unique(data.groups)),
        int((~data.y[:, 0]).sum()),
        sorted(dropped),
        thresholds,
        dict(data.lost),
    )


def _thresholds(component: RelationExtractor, x: Encoded, data: TrainingSet) -> dict[str, float]:
    """Thresholds of the labels, by out-of-fold answers from which calibration learns first."""
    fixed = component.threshold
    member = component.make_classifier(seed=component.seed)
    if fixed is None and component.calibration is None and getattr(member, "learns_later", False):
        fixed = EVEN_CHANCE
    if fixed is None or component.calibration is not None:
        probabilities = out_of_fold(component, x, data)
    if component.calibration is not None:
        answered = probabilities.any(axis=1)
        component.classifier.calibrate(probabilities[answered], data.y[answered])
        probabilities[answered] = component.classifier.calibrated(probabilities[answered])
    if fixed is not None:
        return dict.fromkeys(data.scheme.labels, fixed)
    return choose_thresholds(data.scheme, probabilities, data.y, data.lost_gold)


def collect(
    component: RelationExtractor, examples: Sequence[Example], nlp: Language | None
) -> TrainingSet:
    """Candidates, views and classes of all examples, before training drops any kind."""
    docs = parsed([example.reference for example in examples], component, nlp)
    gold = [component.scheme.gold(read_records(doc, component.attr) or []) for doc in docs]
    labels = sorted({record.label for records in gold for record in records})
    scheme = replace(component.scheme, labels=tuple(labels))
    offered = [component.candidates(doc, ordered=scheme.ordered) for doc in docs]
    candidates, views = extract(component, docs, offered)
    y, lost_gold = targets_of(scheme, candidates, gold)
    data = TrainingSet(
        candidates=candidates,
        views=views,
        y=y,
        groups=np.repeat(np.arange(len(docs)), [len(found) for found in candidates]),
        lost_gold=lost_gold,
        scheme=scheme,
    )
    _check_classes(data, len(docs), sum(map(len, gold)))
    return data


def targets_of(
    scheme: LabelScheme, candidates: Sequence[Candidates], gold: Sequence[Sequence[Record]]
) -> tuple[Bool, Lost]:
    """`LabelScheme.targets` of many Docs, one behind the other."""
    parts, lost_gold = [np.zeros((0, len(scheme.classes)), bool)], Lost()
    for found, records in zip(candidates, gold, strict=True):
        y, lost = scheme.targets(found, records)
        parts.append(y)
        lost_gold += lost
    return np.concatenate(parts), lost_gold


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
    are Docs, if fewer). The codes stay, unless their kernel learns from labels.

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
            seen = _coded_by(component, x, data, ~held_out)
            model = fit_classifier(component, seen[~held_out], data.y[~held_out], data.scheme)
            probabilities[held_out] = model.predict_proba(seen[held_out])
    return probabilities


def _coded_by(component: RelationExtractor, x: Encoded, data: TrainingSet, rows: Bool) -> Encoded:
    """`x` with codes that know no labels but those of `rows`."""
    if not learns(component.hashing.kernel):
        return x
    hashing = copy(component.hashing).fit(take(data.views, rows), data.y[rows])
    return replace(x, codes=hashing.transform(data.views), kernel=hashing.kernel)


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
