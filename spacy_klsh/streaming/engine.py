"""Texts through a pipeline, in order and in constant memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

from spacy.language import Language
from spacy.pipeline import Lemmatizer
from spacy.tokens import Doc

from ..pipeline.component import RelationExtractor
from ..pipeline.relations import read_skipped
from .chunks import Piece, cut_texts, join
from .isolation import isolated
from .options import PIECE_CHARACTERS
from .records import to_record
from .texts import Reject, Text

ZONE_TEXTS = 1000
ZONE_CHARACTERS = 2_000_000
CACHED_LEMMAS = 5000


@dataclass(frozen=True)
class Settings:
    """How texts are processed: part of what an answer depends on.

    Parameters
    ----------
    batch_size : int
        Texts that the pipeline has at a time.
    evidence : bool
        Write why each relation was predicted.
    chunk_chars : int
        Longer texts are cut into pieces that end with sentences.
    """

    batch_size: int = 128
    evidence: bool = False
    chunk_chars: int = PIECE_CHARACTERS


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
        _forget(nlp)


def _zone(first: Text | Reject, stream: Iterator[Text | Reject]) -> Iterator[Text | Reject]:
    n_characters = 0
    for n_texts, text in enumerate(chain([first], stream), start=1):
        yield text
        n_characters += len(text.text or "")
        if n_texts >= ZONE_TEXTS or n_characters >= ZONE_CHARACTERS:
            return


def _forget(nlp: Language) -> None:
    """Empty spaCy's caches of lemmas, which no memory zone ends, when they are large."""
    for _, pipe in nlp.pipeline:
        if isinstance(pipe, Lemmatizer) and len(pipe.cache) > CACHED_LEMMAS:
            pipe.cache.clear()


def _block(
    nlp: Language, component: RelationExtractor, texts: Iterator[Text | Reject], settings: Settings
) -> Iterator[Annotated | Reject]:
    size = min(nlp.max_length, settings.chunk_chars)
    unread: list[Reject] = []
    told = 0
    pairs = (
        (piece.content, (piece, len(unread)))  # those before it
        for text in _readable(texts, unread)
        for piece in _pieces(nlp, text, size)
    )
    found: list[Annotated | Exception] = []
    for doc, (piece, n_before) in isolated(nlp, pairs, batch_size=settings.batch_size):
        yield from unread[told:n_before]
        told = n_before
        found.append(_annotated(component, doc, piece.text, settings))
        if piece.is_last:
            yield _joined(piece.text, found)
            found = []
    yield from unread[told:]


def _readable(texts: Iterator[Text | Reject], unread: list[Reject]) -> Iterator[Text]:
    for text in texts:
        if isinstance(text, Reject):
            unread.append(text)
        else:
            yield text


def _pieces(nlp: Language, text: Text, size: int) -> list[Piece]:
    try:
        return list(cut_texts([text], size, nlp.tokenizer))
    except Exception:  # of the tokenizer, which will say so again
        return [Piece(text, text.doc or text.text, is_last=True)]


def _annotated(
    component: RelationExtractor, doc: Doc | Exception, text: Text, settings: Settings
) -> Annotated | Exception:
    if isinstance(doc, Exception):
        return doc
    spans_key = getattr(component.candidates, "spans_key", None)
    record = to_record(doc, text, component.attr, spans_key=spans_key, evidence=settings.evidence)
    return Annotated(record, len(doc), read_skipped(doc, component.attr))


def _joined(text: Text, pieces: Sequence[Annotated | Exception]) -> Annotated | Reject:
    """The document of all its pieces; if one of them failed, all of it did."""
    good = []
    for piece in pieces:
        if isinstance(piece, Exception):
            return Reject(text.place, f"{type(piece).__name__}: {piece}", text.text)
        good.append(piece)
    skipped: Counter[str] = Counter()
    for piece in good:
        skipped.update(piece.skipped)
    record = join([piece.record for piece in good])
    return Annotated(record, sum(piece.words for piece in good), skipped)
