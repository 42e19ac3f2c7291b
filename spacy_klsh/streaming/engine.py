"""Texts through a pipeline, in order and in constant memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc

ZONE_SIZE = 1000


def annotate(
    nlp: Language, texts: Iterable[str | bytes], *, batch_size: int = 128
) -> Iterator[Doc]:
    """Processed Docs in the order of `texts`, or of the bytes of Docs.

    Every 1,000 texts share a memory zone, so that the vocabulary does not grow with
    the stream: a Doc is dead once the next one is asked for; write it out before.
    """
    stream: Iterator[Any] = iter(texts)
    for first in stream:
        block = chain([first], islice(stream, ZONE_SIZE - 1))
        with nlp.memory_zone():
            yield from nlp.pipe(block, batch_size=batch_size)
