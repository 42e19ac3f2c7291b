"""Texts of a column of CSV and TSV."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, dropwhile
from typing import NamedTuple

from .json_lines import document
from .options import Format, Options
from .text_files import Lines
from .texts import Reject, Text, shown

LONGEST_CELL = 2**31 - 1  # characters: a long of every C compiler


class Row(NamedTuple):
    """The number of the first line of a row, its bytes, and its cells or why they are none."""

    number: int
    raw: bytes
    cells: list[str]
    error: str = ""


def read_table(
    lines: Lines, source: str, codec: str, options: Options, *, head: Lines | None = None
) -> Iterator[Text | Reject]:
    """The document in each row that is not blank; other columns are passed through.

    Parameters
    ----------
    lines : iterable of (number, bytes)
    source, codec : str
    options : Options
        `text_field` is a whole number if the table has no header.
    head : iterable of (number, bytes), optional
        Those up to the first that is not empty, if `lines` do not begin there.
    """
    rows = _rows(lines, source, codec, options)
    heads = rows if head is None else _rows(head, source, codec, options)
    first = next(heads, None)
    if first is None:
        return
    has_header = not options.text_field.isdecimal()
    if has_header and first.error:
        if head is None or any(row.number == first.number for row in rows):
            yield Reject(f"{source}:{first.number}", first.error, shown(first.raw, codec))
        return
    names = _names(first.cells if has_header else [""] * len(first.cells))
    if has_header:
        rows = dropwhile(lambda row: row.number <= first.number, rows)
    elif head is None:
        rows = chain([first], rows)
    options = replace(
        options,
        text_field=_name(options.text_field),
        id_field=options.id_field and _name(options.id_field),
    )
    for row in rows:
        yield _document(row, names, source, codec, options)


def _document(
    row: Row, names: Sequence[str], source: str, codec: str, options: Options
) -> Text | Reject:
    place = f"{source}:{row.number}"
    try:
        if row.error:
            raise ValueError(row.error)
        if len(row.cells) != len(names):
            raise ValueError(f"{len(row.cells)} columns; expected {len(names)} as in the first row")
        return document(dict(zip(names, row.cells, strict=True)), place, options)
    except ValueError as error:
        return Reject(place, f"{error}; correct the row.", shown(row.raw, codec))


def _names(header: Sequence[str]) -> list[str]:
    """The names of columns, all different: ``column_2`` for none, ``name_3`` for one again."""
    names: list[str] = []
    for number, name in enumerate(header, 1):
        name = name or _name(str(number))
        while name in names:
            name = f"{name}_{number}"
        names.append(name)
    return names


def _name(field: str) -> str:
    return f"column_{field}" if field.isdecimal() else field


def _rows(lines: Lines, source: str, codec: str, options: Options) -> Iterator[Row]:
    raw: list[bytes] = []
    first = 0

    def texts() -> Iterator[str]:
        nonlocal first
        for number, line in lines:
            first = first if raw else number
            raw.append(line)
            yield line.decode(codec, "surrogateescape")

    csv.field_size_limit(LONGEST_CELL)  # the module knows no other way; the default is 131,072
    is_tsv = options.format_of(source) is Format.tsv
    reader = csv.reader(
        texts(),
        delimiter="\t" if is_tsv else ",",
        quoting=csv.QUOTE_MINIMAL if options.quoted else csv.QUOTE_NONE,
        strict=True,
    )
    while True:
        cells, error = list[str](), ""
        try:
            cells = next(reader)
            "".join(cells).encode()
        except StopIteration:
            return
        except csv.Error as wrong:
            error = f"{wrong}; expected quotation marks in pairs around a cell, or --no-quotes"
        except UnicodeEncodeError:
            error = f"bytes that are not {codec}; expected UTF-8, or give its --encoding"
        if cells or error:
            yield Row(first, b"".join(raw), cells, error)
        raw.clear()
