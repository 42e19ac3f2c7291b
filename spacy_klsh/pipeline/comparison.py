"""Which candidates are judged, and what the model finds out about them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from spacy.tokens import Doc

from ..classifiers.encoded import Encoded
from ..hashing.codes import Codes
from ..structures import Float32
from ..views import Views, take
from .candidates import Candidates, where
from .policy import propose

if TYPE_CHECKING:
    from .component import RelationExtractor


def extract(
    component: RelationExtractor, docs: Sequence[Doc], candidates: Sequence[Candidates]
) -> tuple[list[Candidates], Views]:
    """The candidates of each Doc that the kernel can compare, and the views of all of them.

    A pair whose compared views are empty, without a path for one in two sentences, has no
    code and no evidence.
    """
    if not docs:
        return [], {}
    views = component.views(docs, candidates)
    comparable = component.hashing.comparable(views)
    kept = where(candidates, comparable, "no_path")
    return kept, views if comparable.all() else take(views, comparable)


def judge(component: RelationExtractor, docs: Sequence[Doc]) -> tuple[list[Candidates], Views]:
    """The candidates of each Doc that a trained component judges, and the views of them all."""
    labels = component.entity_labels
    candidates = [found.among(labels) for found in propose(component, docs)]
    return extract(component, docs, candidates)


def reached(component: RelationExtractor, doc: Doc, *, ordered: bool) -> Candidates:
    """What `judge` leaves of the candidates; nothing without a parse."""
    if doc.has_annotation("DEP"):
        return judge(component, [doc])[0][0]
    candidates = component.candidates(doc, ordered=ordered)
    return candidates.where(np.zeros(len(candidates), bool), "no_path")


class Compared(NamedTuple):
    """Candidates and what the model finds out about them.

    Parameters
    ----------
    views : Views
        What the kernel compares of them.
    probabilities : float32 array (n, n_classes)
    """

    views: Views
    probabilities: Float32


def compare(component: RelationExtractor, views: Views) -> Compared:
    """The candidates of `views`, classified."""
    encoded = encode(component, codes_of(component, views), views)
    return Compared(encoded.views, component.classifier.predict_proba(encoded))


def codes_of(component: RelationExtractor, views: Views) -> Codes:
    """Codes of the candidates of `views`; without bits if the classifier looks at none."""
    if not component.classifier.widths_[0]:
        (n, *_) = map(len, views.values())
        return Codes(np.zeros((n, 0), np.uint64), 0)
    codes: Codes = component.hashing.transform(views)
    return codes


def encode(component: RelationExtractor, codes: Codes, views: Views) -> Encoded:
    """What the classifier of `component` sees of the candidates of `views`."""
    kernel, features = component.hashing.kernel, component.features
    used = {name: views[name] for name in kernel.views}
    return Encoded(codes, None if features is None else features(views), used, kernel)
