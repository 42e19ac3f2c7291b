"""Texts through a pipeline, in order and in constant memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

from spacy.language import Language
from spacy.tokens import Doc

from ..corpora.jsonl import to_json
from ..pipeline.component import RelationExtractor
from ..pipeline.relations import read_skipped
from .isolation import isolated
from .texts import Reject, Text

ZONE_TEXTS = 1000
ZONE_CHARACTERS = 2_000_000


@dataclass(frozen=True)
class Settings:
    """How texts are processed: part of what an answer depends on."""

    batch_size: int = 128


class Annotated(NamedTuple):
    """A document as it is written, and what is counted of it."""

    record: dict[str, Any]
    words: int
    skipped: Mapping[str, int]


def extractor_of(nlp: Language) -> RelationExtractor:
    """The first klsh_relations component of `nlp`, trained.

    Raises
    ------
    ValueError
        If there is none, or if it is not trained.
    """
    for _, pipe in nlp.pipeline:
        if isinstance(pipe, RelationExtractor):
            return pipe
    raise ValueError(
        f"the pipeline has {nlp.pipe_names} but no klsh_relations; train one with "
        "`python -m spacy train` (see the README)."
    )


def annotate(
    nlp: Language, texts: Iterable[Text | Reject], settings: Settings = Settings()
) -> Iterator[Annotated | Reject]:
    """What becomes of each of `texts`, in their order; nothing is left out.

    Up to 1,000 texts share a memory zone, so that the vocabulary does not grow with the
    stream. A text that the pipeline fails on becomes a `Reject`, those that could not be
    read stay one.

    Raises
    ------
    ValueError
        If `nlp` has no trained klsh_relations.
    """
    component = extractor_of(nlp)
    component.check_trained()
    stream = iter(texts)
    for first in stream:
        with nlp.memory_zone():
            yield from _block(nlp, component, _zone(first, stream), settings)


def _zone(first: Text | Reject, stream: Iterator[Text | Reject]) -> Iterator[Text | Reject]:
    n_characters = 0
    for n_texts, text in enumerate(chain([first], stream), start=1):
        yield text
        n_characters += len(text.text or "")
        if n_texts >= ZONE_TEXTS or n_characters >= ZONE_CHARACTERS:
            return


def _block(
    nlp: Language, component: RelationExtractor, texts: Iterator[Text | Reject], settings: Settings
) -> Iterator[Annotated | Reject]:
    unread: list[Reject] = []
    told = 0
    pairs = (
        (text.doc or text.text, (text, len(unread)))  # those before it
        for text in _readable(texts, unread)
    )
    for doc, (text, n_before) in isolated(nlp, pairs, batch_size=settings.batch_size):
        yield from unread[told:n_before]
        told = n_before
        yield _result(component, doc, text)
    yield from unread[told:]


def _readable(texts: Iterator[Text | Reject], unread: list[Reject]) -> Iterator[Text]:
    for text in texts:
        if isinstance(text, Reject):
            unread.append(text)
        else:
            yield text


def _result(component: RelationExtractor, doc: Doc | Exception, text: Text) -> Annotated | Reject:
    if isinstance(doc, Exception):
        return Reject(text.place, f"{type(doc).__name__}: {doc}", text.text)
    doc.user_data["id"] = text.id
    spans_key = getattr(component.candidates, "spans_key", None)
    record = {**text.fields, **to_json(doc, component.attr, spans_key=spans_key)}
    return Annotated(record, len(doc), read_skipped(doc, component.attr))
