"""Long texts in pieces that a pipeline takes, and their records joined again."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain
from typing import Any, NamedTuple

from spacy.pipeline import Sentencizer
from spacy.tokens import Doc, Span
from spacy.vocab import Vocab

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
        end = _end(text, start, size, tokenizer)
        yield text[start:end]
        start = end
    yield text[start:]


def cut_doc(doc: Doc, size: int, tokenizer: Callable[[str], Doc]) -> Iterator[Doc]:
    """The same of a Doc: tokens, entities and spans stay whole, longer than `size` if need be."""
    starts = [token.idx for token in doc]
    inside = {i for span in _spans(doc) for i in range(span.start + 1, span.end)}
    text, first = doc.text, 0
    while first < len(doc) and len(text) - starts[first] > size:
        last = bisect_right(starts, _end(text, starts[first], size, tokenizer)) - 1
        before = (i for i in range(last, first, -1) if i not in inside)
        behind = (i for i in range(last + 1, len(doc)) if i not in inside)
        end = next(chain(before, behind), len(doc))
        yield _part(doc, first, end)
        first = end
    if first < len(doc) or not len(doc):
        yield _part(doc, first, len(doc))


def _spans(doc: Doc) -> Iterator[Span]:
    return chain(doc.ents, *doc.spans.values())


def _part(doc: Doc, start: int, end: int) -> Doc:
    part = doc[start:end].as_doc()
    for key, group in doc.spans.items():
        part.spans[key] = [
            Span(part, span.start - start, span.end - start, span.label_, span_id=span.id_)
            for span in group
            if start <= span.start and span.end <= end
        ]
    return part


def _end(text: str, start: int, size: int, tokenizer: Callable[[str], Doc]) -> int:
    """Where the piece that begins at `start` should end."""
    return start + (_sentence_end(text, start, size, tokenizer) or _space(text, start, size))


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
    """The pieces of all texts, in order."""
    for text in texts:
        contents: Sequence[str | bytes]
        if text.doc is None:
            contents = list(cut(text.text, size, tokenizer))
        elif len(text.text) <= size:
            contents = [text.doc]
        else:
            doc = Doc(Vocab()).from_bytes(text.doc)
            contents = [part.to_bytes() for part in cut_doc(doc, size, tokenizer)]
        for number, content in enumerate(contents, 1):
            yield Piece(text, content, number == len(contents))


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
