"""Long texts in pieces that a pipeline takes, and their records joined again."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from spacy.pipeline import Sentencizer
from spacy.tokens import Doc

from .records import Record
from .texts import Text

WINDOW = 10_000  # characters before the longest possible end in which a sentence end is looked for
BEHIND = 100  # characters behind it: a sentence ends where the next one begins
SPACE = re.compile(r"\s")


def cut(text: str, size: int, tokenizer: Callable[[str], Doc]) -> Iterator[str]:
    """Pieces of at most `size` characters, which put together are the text.

    They end where a sentence ends, of the ends within the last 10,000 characters the last one,
    else behind white space, else anywhere.

    Parameters
    ----------
    text : str
    size : int
        At least 1.
    tokenizer : callable of str to Doc
        Of the pipeline; sentences end at its tokens that are full stops and the like.
    """
    start = 0
    while len(text) - start > size:
        end = _sentence_end(text, start, size, tokenizer) or _space(text, start, size)
        yield text[start : start + end]
        start += end
    yield text[start:]


def _sentence_end(text: str, start: int, size: int, tokenizer: Callable[[str], Doc]) -> int:
    """The last end of a sentence in the `size` characters from `start` on, 0 if there is none."""
    skipped = max(0, size - WINDOW)
    doc = Sentencizer()(tokenizer(text[start + skipped : start + size + BEHIND]))
    ends = (skipped + sentence.start_char for sentence in doc.sents if sentence.start)
    return max((end for end in ends if end <= size), default=0)


def _space(text: str, start: int, size: int) -> int:
    """The place behind the last white space, `size` if there is none."""
    skipped = max(0, size - WINDOW)
    found = [match.end() for match in SPACE.finditer(text, start + skipped, start + size)]
    return found[-1] - start if found else size


class Piece(NamedTuple):
    """What a pipeline takes at a time: a part of `text`, or the bytes of its Doc."""

    text: Text
    content: str | bytes
    is_last: bool


def cut_texts(texts: Iterable[Text], size: int, tokenizer: Callable[[str], Doc]) -> Iterator[Piece]:
    """The pieces of all texts, in order. Where there is a Doc it is one piece, however long."""
    for text in texts:
        if text.doc is not None:
            yield Piece(text, text.doc, True)
            continue
        left = len(text.text)
        for content in cut(text.text, size, tokenizer):
            left -= len(content)
            yield Piece(text, content, left == 0)


def join(records: Sequence[Record]) -> dict[str, Any]:
    """The record of a text from those of its pieces, in their order.

    Character offsets and rows of entities are those in the whole; all else is the first one's.
    """
    first, *others = records
    if not others:
        return dict(first)
    texts = [record["text"] for record in records]
    starts = accumulate((len(text) for text in texts[:-1]), initial=0)
    entities: list[dict[str, Any]] = []
    relations: list[dict[str, Any]] = []
    for record, start in zip(records, starts, strict=True):
        relations += [_moved(relation, len(entities)) for relation in record["relations"]]
        entities += [
            {**entity, "start": entity["start"] + start, "end": entity["end"] + start}
            for entity in record["entities"]
        ]
    return {**first, "text": "".join(texts), "entities": entities, "relations": relations}


def _moved(relation: Mapping[str, Any], by: int) -> dict[str, Any]:
    """The relation with rows of entities so many further on."""
    if "arguments" in relation:
        rows = {role: row + by for role, row in relation["arguments"].items()}
        return {**relation, "arguments": rows}
    return {**relation, "head": relation["head"] + by, "tail": relation["tail"] + by}
