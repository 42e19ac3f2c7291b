"""Evidence for predictions: what the candidate and the references have in common."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, pairwise, repeat
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc

from ..structures import Float32, Structures
from ..views import Views, distinct, take
from .candidates import Candidates
from .comparison import Compared, compare, judge
from .evidence import SEPARATOR, EvidenceData
from .labels import Attached
from .relations import Relation, relation_of

if TYPE_CHECKING:
    from ..kernels.nodes import Matches
    from .component import RelationExtractor


def explain(
    component: RelationExtractor,
    compared: Compared,
    candidates: Sequence[Candidates],
    attached: Sequence[Sequence[Attached]],
) -> list[list[EvidenceData] | None]:
    """Evidence for the relations that were made of each Doc's candidates, as it is stored.

    None for every Doc if ``component.n_evidence`` is 0.

    Parameters
    ----------
    compared : Compared
        The candidates of all Docs, in order.
    candidates, attached
        One of each for every Doc.
    """
    if not component.n_evidence:
        return [None] * len(attached)
    starts = np.cumsum([0, *map(len, candidates)]).tolist()
    rows = [
        start + each.row for start, part in zip(starts, attached, strict=False) for each in part
    ]
    if not rows:
        return [[] for _ in attached]
    every = list(chain.from_iterable(attached))
    labels, turned = [each.record.label for each in every], [each.turned for each in every]
    views = take(compared.views, rows)
    paths = views[component.hashing.kernel.views[0]]
    evidence = (
        {"width": paths.nodes.shape[1], **path, "vote": vote, "nearest": nearest}
        for path, vote, nearest in zip(
            _paths(paths),
            _votes(component, compared.probabilities[rows], turned),
            _nearest(component, views, labels),
            strict=True,
        )
    )
    return [[next(evidence) for _ in part] for part in attached]


def _paths(structures: Structures) -> list[dict[str, Any]]:
    """Each path as one string, see `_matches`. Trees: parents too."""
    symbols = [symbol.replace(SEPARATOR, " ") for symbol in structures.symbols]
    flat = [symbols[symbol] for symbol in structures.nodes.ravel().tolist()]
    width, bounds = structures.nodes.shape[1], list(pairwise(structures.offsets.tolist()))
    paths = [{"path": SEPARATOR.join(flat[width * a : width * b])} for a, b in bounds]
    if structures.parents is None:
        return paths
    parents = structures.parents.tolist()
    return [{**path, "parents": parents[a:b]} for path, (a, b) in zip(paths, bounds, strict=True)]


def _votes(
    component: RelationExtractor, probabilities: Float32, turned: Sequence[bool]
) -> Iterator[dict[str, float]]:
    classes = component.scheme.classes
    turning = {label for label, tail_first in classes if tail_first}
    names = {
        order: [
            f"{label} (reversed)" if label in turning and tail_first != order else label
            for label, tail_first in classes
        ]
        for order in (False, True)
    }
    likeliest = np.argsort(-probabilities, axis=1, kind="stable").tolist()
    for order, ranks, vote in zip(turned, likeliest, probabilities.tolist(), strict=True):
        yield {names[order][k]: vote[k] for k in ranks if vote[k] > 0}


def _nearest(
    component: RelationExtractor, views: Views, labels: Sequence[str]
) -> list[list[dict[str, Any]]]:
    """The references to show with each candidate; equal ones of one label share theirs."""
    first, places = distinct(views)
    keys = list(zip(places.tolist(), labels, strict=True))
    each = list(dict.fromkeys(keys))
    rows = first[[place for place, _ in each]]
    found = _distinct_nearest(component, take(views, rows), [label for _, label in each])
    nearest = dict(zip(each, found, strict=True))
    return [nearest[key] for key in keys]


def _distinct_nearest(
    component: RelationExtractor, views: Views, labels: Sequence[str]
) -> list[list[dict[str, Any]]]:
    hashing, names = component.hashing, component.reference_labels
    gram = hashing.similarities(views)
    own, references = np.nonzero(_are_shown(gram, names, labels, component.n_evidence))
    order = np.lexsort((-gram[own, references], own))  # stable: equal ones in their order
    own, references = own[order], references[order]
    matches = hashing.kernel.matches(take(views, own), take(hashing.reference_, references))
    paths = _paths(hashing.reference_[hashing.kernel.views[0]])
    named = [None if each is None else ", ".join(each) for each in names]
    found = zip(
        own.tolist(),
        references.tolist(),
        gram[own, references].tolist(),
        _matches(matches),
        strict=True,
    )
    nearest: list[list[dict[str, Any]]] = [[] for _ in labels]
    for i, j, similarity, parts in found:
        reference = {"label": named[j], "similarity": similarity, **paths[j], "matches": parts}
        nearest[i].append(reference)
    return nearest


def _matches(matches: Matches) -> list[str]:
    """The matches of each pair as one string: the garbage collector does not count strings."""
    flat = [""] * (4 * len(matches.part))
    columns: tuple[NDArray[Any], ...] = (matches.own, matches.other, matches.similarity)
    for place, column in enumerate(columns):
        flat[place::4] = _texts(column)
    flat[3::4] = matches.part
    return [SEPARATOR.join(flat[a:b]) for a, b in pairwise((4 * matches.offsets).tolist())]


def _texts(numbers: NDArray[Any]) -> list[str]:
    """Each number as a string; equal ones, which are many, are one object."""
    values, places = np.unique(numbers, return_inverse=True)
    texts: list[str] = np.array(list(map(repr, values.tolist())), object)[places].tolist()
    return texts


def _are_shown(
    gram: Float32, names: Sequence[Sequence[str] | None], labels: Sequence[str], n: int
) -> NDArray[np.bool_]:
    """The `n` most similar of each row, and the most similar one of the row's own label.

    Those without any similarity are never shown.
    """
    every, left, shown = np.arange(len(gram)), gram.copy(), np.zeros(gram.shape, np.bool_)
    for _ in range(min(n, gram.shape[1])):
        nearest = left.argmax(axis=1)
        shown[every, nearest], left[every, nearest] = True, -1.0
    have = {label: np.array([label in (named or ()) for named in names]) for label in set(labels)}
    of_label = np.where(np.stack([have[label] for label in labels]), gram, np.float32(0.0))
    shown[every, of_label.argmax(axis=1)] |= of_label.max(axis=1) > 0
    return shown & (gram > 0)


class NearMiss(NamedTuple):
    """The best label of a pair that was not attached, and the threshold that it missed."""

    relation: Relation
    threshold: float


def near_misses(component: RelationExtractor, doc: Doc, limit: int = 5) -> list[NearMiss]:
    """The likeliest of what was not attached to `doc`, at most `limit`; writes nothing."""
    candidates, views = judge(component, [doc])
    compared, scheme = compare(component, views), component.scheme
    thresholds = component.effective_thresholds
    (found,) = scheme.attached(candidates, compared.probabilities, thresholds)
    (best,) = scheme.attached(candidates, compared.probabilities, dict.fromkeys(thresholds, 0.0))
    attached = {each.record for each in found}
    missed = [each for each in best if each.record not in attached and each.record.score > 0]
    missed = sorted(missed, key=lambda each: -each.record.score)[:limit]
    (evidence,) = explain(component, compared, candidates, [missed])
    records = [each.record for each in missed]
    relations = map(relation_of, repeat(doc), records, evidence or repeat(None))
    return [NearMiss(relation, thresholds[relation.label]) for relation in relations if relation]
