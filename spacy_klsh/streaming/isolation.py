"""Batches of texts through a pipeline: a text that fails fails alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

from spacy.language import Language
from spacy.tokens import Doc

BATCH_CHARACTERS = 200_000  # of one batch: the pipeline holds all its arrays at once

Context = TypeVar("Context")
Input = str | bytes


def isolated(
    nlp: Language, pairs: Iterable[tuple[Input, Context]], *, batch_size: int = 128
) -> Iterator[tuple[Doc | Exception, Context]]:
    """Each text's Doc, or what went wrong with it, beside the text's own context, in order.

    Like ``nlp.pipe(pairs, as_tuples=True)``, but for a text that any component, the
    tokenizer included, fails on: its batch is processed again one by one, and the
    exception stands in place of its Doc. The pipeline itself is not changed, so that
    several threads may do this with the same one.

    Parameters
    ----------
    nlp : Language
    pairs : iterable of (str or bytes, context)
        A text, or what ``Doc.to_bytes`` gave of a Doc.
    batch_size : int
        Most texts in a batch; less are taken if they are long.
    """
    for batch in _batches(pairs, batch_size):
        yield from _processed(nlp, batch)


def _batches(
    pairs: Iterable[tuple[Input, Context]], batch_size: int
) -> Iterator[list[tuple[Input, Context]]]:
    batch: list[tuple[Input, Context]] = []
    length = 0
    for pair in pairs:
        batch.append(pair)
        length += len(pair[0])
        if len(batch) == batch_size or length >= BATCH_CHARACTERS:
            yield batch
            batch, length = [], 0
    if batch:
        yield batch


def _processed(
    nlp: Language, batch: list[tuple[Input, Context]]
) -> Iterator[tuple[Doc | Exception, Context]]:
    rows = ((_readable(nlp, text), row) for row, (text, _) in enumerate(batch))
    docs: dict[int, Doc | Exception] = {}
    try:
        docs = {row: doc for doc, row in nlp.pipe(rows, as_tuples=True, batch_size=len(batch))}
    except Exception as error:
        if len(batch) == 1:
            docs = {0: error}
    for row, (text, context) in enumerate(batch):
        yield docs.pop(row) if row in docs else _alone(nlp, text), context


def _readable(nlp: Language, text: Input) -> str | Doc:
    return text if isinstance(text, str) else Doc(nlp.vocab).from_bytes(text)


def _alone(nlp: Language, text: Input) -> Doc | Exception:
    try:
        docs = list(nlp.pipe([_readable(nlp, text)]))
    except Exception as error:
        return error
    return docs[0] if docs else ValueError("an error handler of the pipeline dropped it")
