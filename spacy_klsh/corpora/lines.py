"""Text files of corpora line by line, and what every line must be checked for."""

from __future__ import annotations

import codecs
import re
import zlib
from collections.abc import Callable, Container, Iterable, Iterator
from lzma import LZMAError
from pathlib import Path
from typing import TypeVar

from smart_open import open as smart_open

from .report import Report

S = TypeVar("S")
T = TypeVar("T")


def read_lines(path: Path, report: Report) -> Iterator[tuple[str, bytes]]:
    """Place (``path:number``) and bytes of each line, without line break and byte order mark.

    Compressed files are unpacked by the end of their name; one that is damaged or breaks off
    is an error in the report, and the lines before are read. Only a line feed, alone or after
    a carriage return, ends a line.

    Raises
    ------
    OSError
        If the file cannot be opened.
    """
    number = 0
    with smart_open(path, "rb") as lines:
        try:
            for number, line in enumerate(lines, 1):
                line = line.removeprefix(codecs.BOM_UTF8) if number == 1 else line
                yield f"{path}:{number}", line.removesuffix(b"\n").removesuffix(b"\r")
        except (EOFError, LZMAError, OSError, zlib.error) as error:
            report.error(
                "broken_files",
                f"{path}:{number + 1}: {error}; expected more to read; the lines before were read, "
                "copy the file again.",
            )


def read_filled_lines(path: Path, report: Report) -> Iterator[tuple[str, bytes]]:
    """`read_lines` without lines of white space alone."""
    return ((where, line) for where, line in read_lines(path, report) if line.strip())


def read_blocks(
    path: Path, report: Report, first: re.Pattern[bytes] | None = None
) -> Iterator[tuple[str, list[bytes]]]:
    """Place and lines of each block; blank lines end it and lines that begin with `first`."""
    place, block = "", list[bytes]()
    for where, line in read_lines(path, report):
        ends = not line.strip() or (first is not None and first.match(line))
        if ends and block:
            yield place, block
            block = []
        if line.strip():
            place = place if block else where
            block.append(line)
    if block:
        yield place, block


def decode(line: bytes) -> str:
    """The line as text.

    Raises
    ------
    ValueError
        If it is not UTF-8.
    """
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        raise ValueError(
            f"byte {line[error.start]:#04x} at position {error.start + 1} is not UTF-8; expected "
            "UTF-8, convert the file"
        ) from None


def columns(line: bytes, numbers: Container[int], names: str) -> list[str]:
    """Columns of a line of tab-separated values, without quoting.

    Raises
    ------
    ValueError
        If the line is not UTF-8 or the number of columns is none of `numbers`; `names` says
        what was expected.
    """
    found = decode(line).split("\t")
    if len(found) not in numbers:
        raise ValueError(f"{len(found)} columns; expected {names}, separated by tabs")
    return found


def parse_each(
    items: Iterable[tuple[str, S]],
    parse: Callable[[S, str], T],
    report: Report,
    *,
    reason: str = "bad_lines",
) -> Iterator[T]:
    """What `parse` makes of each item and its place; its ValueErrors become errors."""
    for where, item in items:
        try:
            parsed = parse(item, where)
        except (ValueError, RecursionError) as error:
            report.error(reason, f"{where}: {error}; left out, correct it.")
        else:
            yield parsed
