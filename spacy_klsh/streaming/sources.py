"""Where texts come from: files of UTF-8 text, whole or in lines or paragraphs."""

from __future__ import annotations

import io
import sys
import zlib
from collections.abc import Iterable, Iterator
from enum import Enum
from lzma import LZMAError
from typing import NamedTuple, TextIO

from smart_open import open as smart_open

STDIN = "-"


class Per(str, Enum):
    """What becomes one Doc."""

    line = "line"
    paragraph = "paragraph"
    file = "file"


class Text(NamedTuple):
    """A text with the name that leads back to it: path as given, number of its first line."""

    id: str
    text: str


def read_texts(paths: Iterable[str], per: Per | None = None) -> Iterator[Text]:
    """Texts of all `paths` in order, those of nothing but white space left out.

    Parameters
    ----------
    paths : iterable of str
        Files of UTF-8 text, with or without a byte order mark, also compressed as
        ``smart_open`` knows it; ``-`` is standard input.
    per : Per, optional
        None: a line of standard input, a file as a whole.

    Raises
    ------
    ValueError
        If a file is not UTF-8, or cannot be read to its end.
    """
    for path in paths:
        choice = per or (Per.line if path == STDIN else Per.file)
        with _opened(path) as file:
            yield from _checked(path, _parts(path, file, choice))


def _opened(path: str) -> TextIO:
    if path == STDIN:
        return io.TextIOWrapper(sys.stdin.buffer, encoding="utf-8-sig", newline="")
    opened: TextIO = smart_open(path, encoding="utf-8-sig", newline="")
    return opened


def _checked(path: str, texts: Iterator[Text]) -> Iterator[Text]:
    try:
        yield from texts
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{path} is no UTF-8 ({error.reason} near byte {error.start} of a block); convert "
            "it, for example with `iconv -f latin1 -t utf-8`."
        ) from error
    except (EOFError, LZMAError, OSError, zlib.error) as error:
        raise ValueError(
            f"{path} cannot be read to its end ({error}); if it is compressed, it is damaged or "
            "cut off: copy it again."
        ) from error


def _parts(path: str, file: TextIO, per: Per) -> Iterator[Text]:
    if per is Per.file:
        text = file.read()
        if text.strip():
            yield Text(path, text)
        return
    block: list[str] = []
    first = 0
    for number, line in enumerate(file, start=1):
        if line.strip():
            first = first if block else number
            block.append(line)
        if block and (per is Per.line or not line.strip()):
            yield _joined(path, first, block)
            block = []
    if block:
        yield _joined(path, first, block)


def _joined(path: str, number: int, lines: list[str]) -> Text:
    return Text(f"{path}:{number}", "".join(lines).rstrip("\r\n"))
