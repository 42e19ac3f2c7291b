"""One source, or a part of it, by its format."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from spacy.language import Language

from .annotated import read_brat_document, read_docbin
from .cuts import Cut
from .json_lines import read_json_lines
from .lines import (
    Broken,
    line_codec,
    narrowed,
    opened,
    read_blocks,
    split_lines,
    without_mark,
)
from .options import TABLES, Format, Options, Per
from .tables import read_table
from .text_files import Lines, read_file, read_lines, read_paragraphs
from .texts import Reject, Text


def read_source(
    source: str, options: Options, cut: Cut | None = None, nlp: Language | None = None
) -> Iterator[Text | Reject]:
    """What is in a source, or in a part of it; the last is a `Reject` where it breaks off.

    Raises
    ------
    ImportError, NotImplementedError
        If smart_open lacks what a URL needs.
    """
    try:
        if options.format_of(source) is Format.brat:
            yield from read_brat_document(Path(source), nlp)
        else:
            yield from _read(source, options, cut)
    except Broken as broken:
        yield Reject(*broken.args)


def _read(source: str, options: Options, cut: Cut | None) -> Iterator[Text | Reject]:
    with opened(source) as file:
        if cut is not None:
            file.seek(cut.start)
        blocks = read_blocks(file, source, cut and cut.stop - cut.start)
        if options.format_of(source) is Format.docbin:
            yield from read_docbin(blocks, source)
            return
        if cut is None:
            blocks = narrowed(blocks, options, source)
        if options.per_of(source) is Per.file:
            yield from read_file(blocks, source, line_codec(options))
            return
        lines = without_mark(split_lines(blocks, cut.first_line if cut else 1))
        head = _head(source) if cut and cut.start else None
        yield from read_numbered(lines, source, options, head=head)


def read_numbered(
    lines: Lines, source: str, options: Options, *, head: Lines | None = None
) -> Iterator[Text | Reject]:
    """The documents in numbered lines of text, JSONL, CSV or TSV.

    `head` has the lines of the source up to the first that is not empty, for tables, if `lines`
    do not begin there.
    """
    codec = line_codec(options)
    format = options.format_of(source)
    if format is Format.jsonl:
        yield from read_json_lines(lines, source, codec, options)
    elif format in TABLES:
        yield from read_table(lines, source, codec, options, head=head)
    elif options.per_of(source) is Per.paragraph:
        yield from read_paragraphs(lines, source, codec)
    else:
        yield from read_lines(lines, source, codec)


def _head(source: str) -> Lines:
    head: list[tuple[int, bytes]] = []
    with opened(source) as file:
        for number, line in without_mark(split_lines(read_blocks(file, source))):
            head.append((number, line))
            if line.strip(b"\r\n"):
                break
    return head
