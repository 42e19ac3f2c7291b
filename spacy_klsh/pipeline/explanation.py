"""Evidence for predictions: what the candidate and the references have in common."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, pairwise, repeat
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc

from ..classifiers.encoded import Encoded
from ..structures import Float32, Int64, Structures, Views, concat_views, distinct, take
from .candidates import Candidates
from .evidence import EvidenceData
from .relations import Record, Relation, relation_of

if TYPE_CHECKING:
    from ..kernels.subsequence import Matches
    from .component import RelationExtractor


class Compared(NamedTuple):
    """Candidates and what the model finds out about them; equal ones are looked at once.

    Parameters
    ----------
    views : Views
        The distinct candidates.
    places : int64 array (n,)
        Row of each candidate among those.
    gram : float32 array (n_distinct, n_references)
    probabilities : float32 array (n_distinct, n_classes)
    """

    views: Views
    places: Int64
    gram: Float32
    probabilities: Float32

    @property
    def each(self) -> Float32:
        """Probabilities of all candidates, float32 (n, n_classes)."""
        return self.probabilities[self.places]


def compare(component: RelationExtractor, views: Sequence[Views]) -> Compared:
    """All candidates in `views`, compared with the references and classified."""
    views = [view for view in views if len(view["path"])]
    if not views:
        nothing = np.zeros((0, len(component.scheme.classes)), np.float32)
        return Compared({}, np.zeros(0, np.int64), nothing, nothing)
    joined = concat_views(views)
    first, places = distinct(joined)
    unique = take(joined, first)
    gram = component.hashing.similarities(unique)
    encoded = Encoded(component.hashing.encode(gram), None, unique)
    return Compared(unique, places, gram, component.classifier.predict_proba(encoded))


def explain(
    component: RelationExtractor,
    compared: Compared,
    candidates: Sequence[Candidates],
    records: Sequence[Sequence[Record]],
) -> list[list[EvidenceData] | None]:
    """Evidence for the records that were made of each Doc's candidates, as it is stored.

    None for every Doc if ``component.n_evidence`` is 0.

    Parameters
    ----------
    compared : Compared
        The candidates of all Docs, in order.
    candidates, records
        One of each for every Doc.
    """
    if not component.n_evidence:
        return [None] * len(records)
    ends = np.cumsum([len(found) for found in candidates])
    rows, turned, labels = [], [], []
    for found, wanted, end in zip(candidates, records, ends.tolist(), strict=True):
        for record, (row, is_turned) in zip(wanted, found.rows_of(wanted), strict=True):
            rows.append(end - len(found) + row)
            turned.append(is_turned)
            labels.append(record.label)
    if not rows:
        return [[] for _ in records]
    places = compared.places[rows]
    paths = compared.views[component.hashing.kernel.views[0]][places]
    evidence = (
        {"width": paths.nodes.shape[1], "path": path, "vote": vote, "nearest": nearest}
        for path, vote, nearest in zip(
            _paths(paths),
            _votes(component, compared.probabilities[places], turned),
            _nearest(component, compared, places, labels),
            strict=True,
        )
    )
    return [[next(evidence) for _ in wanted] for wanted in records]


def _paths(structures: Structures) -> list[list[str]]:
    width = structures.nodes.shape[1]
    flat = [structures.symbols[symbol] for symbol in structures.nodes.ravel().tolist()]
    return [flat[start:end] for start, end in pairwise((structures.offsets * width).tolist())]


def _votes(
    component: RelationExtractor, probabilities: Float32, turned: Sequence[bool]
) -> Iterator[dict[str, float]]:
    names = {
        order: [
            label if tail_first == order or not label else f"{label} (reversed)"
            for label, tail_first in component.scheme.classes
        ]
        for order in (False, True)
    }
    likeliest = np.argsort(-probabilities, axis=1, kind="stable").tolist()
    for order, ranks, vote in zip(turned, likeliest, probabilities.tolist(), strict=True):
        yield {names[order][k]: vote[k] for k in ranks if vote[k] > 0}


def _nearest(
    component: RelationExtractor, compared: Compared, places: Int64, labels: Sequence[str]
) -> list[list[dict[str, Any]]]:
    hashing, names = component.hashing, component.reference_labels
    gram = compared.gram[places]
    own, references = np.nonzero(_are_shown(gram, names, labels, component.n_evidence))
    order = np.lexsort((-gram[own, references], own))  # stable: equal ones in their order
    own, references = own[order], references[order]
    chosen = take(hashing.reference_, references)
    found = zip(
        own.tolist(),
        references.tolist(),
        gram[own, references].tolist(),
        _paths(chosen[hashing.kernel.views[0]]),
        _matches(hashing.kernel.matches(take(compared.views, places[own]), chosen)),
        strict=True,
    )
    nearest: list[list[dict[str, Any]]] = [[] for _ in labels]
    for i, j, similarity, path, matches in found:
        nearest[i].append(
            {"label": names[j], "similarity": similarity, "path": path, "matches": matches}
        )
    return nearest


def _matches(matches: Matches) -> list[list[Any]]:
    columns = (matches.own.tolist(), matches.other.tolist(), matches.similarity.tolist())
    flat = list(chain.from_iterable(zip(*columns, matches.part, strict=True)))
    return [flat[start:end] for start, end in pairwise((4 * matches.offsets).tolist())]


def _are_shown(
    gram: Float32, names: Sequence[str], labels: Sequence[str], n: int
) -> NDArray[np.bool_]:
    """The `n` most similar of each row, and the most similar one of the row's own label.

    Those without any similarity are never shown.
    """
    every, left, shown = np.arange(len(gram)), gram.copy(), np.zeros(gram.shape, np.bool_)
    for _ in range(min(n, gram.shape[1])):
        nearest = left.argmax(axis=1)
        shown[every, nearest], left[every, nearest] = True, -1.0
    of_label = np.where(np.array(names) == np.array(labels)[:, None], gram, 0.0)
    shown[every, of_label.argmax(axis=1)] |= of_label.max(axis=1) > 0
    return shown & (gram > 0)


class NearMiss(NamedTuple):
    """The best label of a pair that was not attached, and the threshold that it missed."""

    relation: Relation
    threshold: float


def near_misses(component: RelationExtractor, doc: Doc, limit: int = 5) -> list[NearMiss]:
    """The likeliest of what was not attached to `doc`, at most `limit`; writes nothing."""
    candidates = component.candidates_of(doc)
    compared = compare(component, [component.views(doc, candidates)])
    thresholds = component.effective_thresholds
    attached = set(component.scheme.records(candidates, compared.each, thresholds))
    best = component.scheme.records(candidates, compared.each, dict.fromkeys(thresholds, 0.0))
    missed = [record for record in best if record not in attached and record.score > 0]
    missed = sorted(missed, key=lambda record: -record.score)[:limit]
    (evidence,) = explain(component, compared, [candidates], [missed])
    found = map(relation_of, repeat(doc), missed, evidence or repeat(None))
    return [NearMiss(relation, thresholds[relation.label]) for relation in found if relation]
