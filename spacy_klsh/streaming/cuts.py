"""Where a file of lines may be cut, so that each piece can be read by itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

WINDOW = 4096  # the last bytes of a piece are looked at first
_LINE_END = rb"(?:\r\n|\n|\r(?!\n))"
AFTER_LINE = re.compile(_LINE_END)
AFTER_BLANK_LINE = re.compile(_LINE_END + rb"[ \t]*" + _LINE_END)


class Cut(NamedTuple):
    """Bytes of a file, the end exclusive, and the number of their first line."""

    start: int
    stop: int
    first_line: int


def cut_file(path: Path, n_bytes: int, place: re.Pattern[bytes]) -> Iterator[Cut]:
    """Pieces of at most `n_bytes`, all but the last one cut behind a match of `place`.

    Where there is none in so many bytes, a piece is longer. One piece at a time is in memory.
    """
    start, line = 0, 1
    with path.open("rb") as file:
        while piece := _read_piece(file, start, n_bytes, place):
            yield Cut(start, start + len(piece), line)
            start += len(piece)
            line += piece.count(b"\n") + piece.count(b"\r") - piece.count(b"\r\n")


def _read_piece(file: BinaryIO, start: int, n_bytes: int, place: re.Pattern[bytes]) -> bytes:
    while True:
        file.seek(start)
        piece = file.read(n_bytes)
        if len(piece) < n_bytes:
            return piece
        while piece.endswith(b"\r") and (more := file.read(1)):  # does a line feed follow?
            piece += more
        for window in (WINDOW, len(piece)):
            ends = [match.end() for match in place.finditer(piece, max(0, len(piece) - window))]
            if ends:
                return piece[: ends[-1]]
        n_bytes *= 2
