"""Which candidates are judged, and what the model finds out about them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from spacy.tokens import Doc

from ..classifiers.encoded import Encoded
from ..structures import Float32, Int64, Views, concat_views, distinct, take
from .candidates import Candidates

if TYPE_CHECKING:
    from .component import RelationExtractor


def extract(
    component: RelationExtractor, doc: Doc, candidates: Candidates
) -> tuple[Candidates, Views]:
    """The candidates that the kernel can compare, with their views.

    A pair without a path, in two sentences, has nothing that tells it from others.
    """
    views = component.views(doc, candidates)
    comparable = component.hashing.comparable(views)
    if comparable.all():
        return candidates, views
    return candidates.where(comparable, "no_path"), take(views, comparable)


def judge(component: RelationExtractor, doc: Doc) -> tuple[Candidates, Views]:
    """The candidates of `doc` that a trained component judges, with their views."""
    candidates = component.candidates(doc, ordered=component.scheme.ordered)
    return extract(component, doc, candidates.among(component.entity_labels))


def reached(component: RelationExtractor, doc: Doc, *, ordered: bool) -> Candidates:
    """What `judge` leaves of the candidates; nothing without a parse."""
    if doc.has_annotation("DEP"):
        return judge(component, doc)[0]
    candidates = component.candidates(doc, ordered=ordered)
    return candidates.where(np.zeros(len(candidates), bool), "no_path")


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
    views = [view for view in views if len(next(iter(view.values())))]
    if not views:
        nothing = np.zeros((0, len(component.scheme.classes)), np.float32)
        return Compared({}, np.zeros(0, np.int64), nothing, nothing)
    joined = concat_views(views)
    first, places = distinct(joined)
    unique = take(joined, first)
    gram = component.hashing.similarities(unique)
    encoded = Encoded(component.hashing.encode(gram), None, unique)
    return Compared(unique, places, gram, component.classifier.predict_proba(encoded))
