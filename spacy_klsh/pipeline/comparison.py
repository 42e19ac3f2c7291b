"""Which candidates are judged, and what the model finds out about them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from spacy.tokens import Doc

from ..classifiers.encoded import Encoded
from ..structures import Float32, Int64, Views, distinct, take
from .candidates import Candidates
from .policy import propose

if TYPE_CHECKING:
    from .component import RelationExtractor


def extract(
    component: RelationExtractor, docs: Sequence[Doc], candidates: Sequence[Candidates]
) -> tuple[list[Candidates], Views]:
    """The candidates of each Doc that the kernel can compare, and the views of all of them.

    A pair without a path, in two sentences, has nothing that tells it from others.
    """
    if not docs:
        return [], {}
    views = component.views(docs, candidates)
    comparable = component.hashing.comparable(views)
    if comparable.all():
        return list(candidates), views
    ends = np.cumsum([len(found) for found in candidates])
    kept = [
        found.where(keep, "no_path")
        for found, keep in zip(candidates, np.split(comparable, ends[:-1]), strict=True)
    ]
    return kept, take(views, comparable)


def judge(component: RelationExtractor, docs: Sequence[Doc]) -> tuple[list[Candidates], Views]:
    """The candidates of each Doc that a trained component judges, and the views of them all."""
    candidates = [propose(component, doc).among(component.entity_labels) for doc in docs]
    return extract(component, docs, candidates)


def reached(component: RelationExtractor, doc: Doc, *, ordered: bool) -> Candidates:
    """What `judge` leaves of the candidates; nothing without a parse."""
    if doc.has_annotation("DEP"):
        return judge(component, [doc])[0][0]
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


def compare(component: RelationExtractor, views: Views) -> Compared:
    """The candidates of `views`, compared with the references and classified."""
    first, places = distinct(views)
    unique = take(views, first)
    gram = component.hashing.similarities(unique)
    encoded = Encoded(component.hashing.encode(gram), None, unique)
    return Compared(unique, places, gram, component.classifier.predict_proba(encoded))
