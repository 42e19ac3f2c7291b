"""Texts through a pipeline, in order and in constant memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc

from .sources import Text

ZONE_SIZE = 1000


def annotate(nlp: Language, texts: Iterable[Text], *, batch_size: int = 128) -> Iterator[Doc]:
    """Processed Docs in the order of `texts`, each with its ``user_data["id"]``.

    Every 1,000 texts share a memory zone, so that the vocabulary does not grow with
    the stream: a Doc is dead once the next one is asked for; write it out before.

    Raises
    ------
    ValueError
        If a text is longer than ``nlp.max_length`` characters.
    """
    stream = iter(texts)
    for first in stream:
        block = chain([first], islice(stream, ZONE_SIZE - 1))
        with nlp.memory_zone():
            pairs = ((_checked(nlp, text), text.id) for text in block)
            for doc, name in nlp.pipe(pairs, as_tuples=True, batch_size=batch_size):
                doc.user_data["id"] = name
                yield doc


def _checked(nlp: Language, text: Text) -> Any:
    """What `nlp` takes: the text, or the bytes of its Doc."""
    if text.doc is None and len(text.text) > nlp.max_length:
        raise ValueError(
            f"{text.id} has {len(text.text):,} characters, more than nlp.max_length = "
            f"{nlp.max_length:,}; read it with --per paragraph or --per line."
        )
    return text.doc or text.text
