"""Batches of Docs through the component: a Doc that fails fails alone."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from spacy.tokens import Doc

from .evidence import EvidenceData
from .relations import Record

if TYPE_CHECKING:
    from .component import RelationExtractor

logger = logging.getLogger(__name__)


class Prediction(NamedTuple):
    """What `RelationExtractor.predict` found in one Doc."""

    records: list[Record]
    skipped: dict[str, int]
    evidence: list[EvidenceData] | None = None


def annotated(component: RelationExtractor, docs: list[Doc]) -> Iterator[Doc]:
    """The Docs with their relations; errors go to the component's error handler."""
    try:
        component.set_annotations(docs, component.predict(docs))
    except Exception as error:
        if len(docs) > 1:
            for doc in docs:
                yield from annotated(component, [doc])
        elif skips(component, docs[0], error):
            yield docs[0]
        else:
            component.get_error_handler()(component.name, component, docs, error)
    else:
        yield from docs


def skips(component: RelationExtractor, doc: Doc, error: Exception) -> bool:
    """Whether `doc` is left without relations; it is counted by the kind of error."""
    if component.on_error == "raise" or not component.labels:
        return False
    reason = type(error).__name__
    if reason not in component.report:
        logger.warning("%s skips Docs with %s: %s", component.name, reason, error)
    component.set_annotations([doc], [Prediction([], {reason: 1})])
    return True
