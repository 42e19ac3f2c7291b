"""Texts of text files: lines, paragraphs, or files as a whole."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator

from .lines import decoded, split_lines
from .texts import Reject, Text

Lines = Iterable[tuple[int, bytes]]


def read_lines(lines: Lines, source: str, codec: str) -> Iterator[Text | Reject]:
    """Each line that is not blank."""
    for number, raw in lines:
        if raw.strip():
            place = f"{source}:{number}"
            line = decoded(raw, codec, place)
            if isinstance(line, Reject):
                yield line
            elif line.strip():
                yield Text(place, line.rstrip("\r\n"), place)


def read_paragraphs(lines: Lines, source: str, codec: str) -> Iterator[Text | Reject]:
    """What stands between blank lines; wrong bytes in it reject all of it."""
    paragraph: list[str] = []
    wrong: Reject | None = None
    place = ""
    for number, raw in lines:
        here = f"{source}:{number}"
        line = decoded(raw, codec, here)
        if isinstance(line, Reject):
            wrong = wrong or line
            line = line.text or ""
        if line.strip():
            place = place if paragraph else here
            paragraph.append(line)
        elif paragraph:
            yield _joined(paragraph, place, wrong)
            paragraph, wrong = [], None
    if paragraph:
        yield _joined(paragraph, place, wrong)


def _joined(paragraph: list[str], place: str, wrong: Reject | None) -> Text | Reject:
    text = "".join(paragraph).rstrip("\r\n")
    return Text(place, text, place) if wrong is None else wrong._replace(text=text)


def read_file(blocks: Iterable[bytes], source: str, codec: str) -> Iterator[Text | Reject]:
    """All of it, unless it is blank; the place of a wrong byte has its line."""
    raw = b"".join(blocks).removeprefix(codecs.BOM_UTF8)
    text = decoded(raw, codec, source)
    if isinstance(text, str):
        if text.strip():
            yield Text(source, text, source)
        return
    lines = (decoded(line, codec, f"{source}:{n}") for n, line in split_lines([raw]))
    yield next(line for line in lines if isinstance(line, Reject))._replace(text=text.text)
