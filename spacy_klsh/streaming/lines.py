"""Bytes of a source, and the numbered lines in them."""

from __future__ import annotations

import codecs
import sys
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from itertools import chain
from typing import BinaryIO

from smart_open import open as smart_open

from .options import STDIN, UTF_8, Options, packing_of
from .texts import Reject, shown

BLOCK = 2**16  # what is lost, at most, before the place where an archive is damaged
WIDE_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16's, which it begins with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


class Broken(Exception):
    """A source cannot be read from here on; its arguments are those of a `Reject`."""


def opened(source: str) -> AbstractContextManager[BinaryIO]:
    """The unpacked bytes of a path, a URL or standard input.

    Raises
    ------
    ImportError, NotImplementedError
        If smart_open lacks what the source needs.
    Broken
        If the source cannot be opened.
    """
    if source == STDIN:
        return nullcontext(sys.stdin.buffer)
    try:
        file: BinaryIO = smart_open(source, "rb", compression=packing_of(source) or "disable")
    except (ImportError, NotImplementedError):
        raise
    except Exception as error:  # every transport has exceptions of its own
        raise Broken(source, f"cannot be opened ({error}); check it.") from error
    return file


def read_blocks(file: BinaryIO, source: str, n_bytes: int | None = None) -> Iterator[bytes]:
    """The bytes of an open file, as soon as they are there; `n_bytes` of them, or all.

    Raises
    ------
    Broken
        If they cannot be read to their end.
    """
    read = getattr(file, "read1", file.read)
    left = n_bytes
    while left is None or left > 0:
        try:
            block = read(BLOCK if left is None else min(BLOCK, left))
        except Exception as error:  # every transport and packer has exceptions of its own
            raise Broken(
                source,
                f"cannot be read to its end ({error}); if it is compressed, it is damaged or cut "
                "off: copy it again.",
            ) from error
        if not block:
            return
        if left is not None:
            left -= len(block)
        yield block


def narrowed(blocks: Iterable[bytes], options: Options, source: str) -> Iterator[bytes]:
    """The blocks as they are, or in UTF-8 if line breaks cannot be seen in their encoding.

    What is half a surrogate pair stays one, and is no UTF-8 then.
    """
    stream = iter(blocks)
    start = b""
    for block in stream:
        start += block
        if len(start) >= 4:
            break
    encoding = wide_encoding(start, options)
    stream = chain([start], stream)
    return stream if encoding is None else _transcoded(stream, encoding, source)


def wide_encoding(start: bytes, options: Options) -> str | None:
    """The encoding of a file that begins with `start`, if it must be transcoded."""
    if options.encoding is None:
        return next((name for mark, name in WIDE_MARKS if start.startswith(mark)), None)
    return options.codec if options.is_wide else None


def line_codec(options: Options) -> str:
    """The encoding of `narrowed` blocks."""
    return UTF_8 if options.is_wide else options.codec


def _transcoded(blocks: Iterable[bytes], encoding: str, source: str) -> Iterator[bytes]:
    errors = "surrogatepass" if encoding.startswith(("utf-16", "utf-32")) else "strict"
    decoder = codecs.getincrementaldecoder(encoding)(errors)
    try:
        for block in blocks:
            yield decoder.decode(block).encode(UTF_8, "surrogatepass")
        yield decoder.decode(b"", final=True).encode(UTF_8, "surrogatepass")
    except UnicodeDecodeError as error:
        raise Broken(
            source, f"is no {encoding} from here on ({error.reason}); give another --encoding."
        ) from None


def split_lines(blocks: Iterable[bytes], first: int = 1) -> Iterator[tuple[int, bytes]]:
    """Number and bytes of each line, its line break (LF, CRLF, CR) with it, as soon as it is whole.

    Raises
    ------
    Broken
        If the blocks end so; its place has the number of the line that is not whole.
    """
    number, parts = first, list[bytes]()
    try:
        for block in blocks:
            parts.append(block)
            if b"\n" not in block and b"\r" not in block and not parts[0].endswith(b"\r"):
                continue
            lines = b"".join(parts).splitlines(keepends=True)
            parts = [] if lines[-1].endswith(b"\n") else [lines.pop()]  # CR: LF may follow
            for line in lines:
                yield number, line
                number += 1
    except Broken as broken:
        source, error = broken.args
        raise Broken(f"{source}:{number}", error) from broken
    if rest := b"".join(parts):
        yield number, rest


def without_mark(lines: Iterable[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
    """The lines without the byte order mark of the first line of a file."""
    for number, line in lines:
        yield number, line.removeprefix(codecs.BOM_UTF8) if number == 1 else line


def decoded(raw: bytes, codec: str, place: str) -> str | Reject:
    """The bytes as text, or the reason why they are none."""
    try:
        return raw.decode(codec)
    except UnicodeDecodeError as error:
        return Reject(
            place,
            f"byte {raw[error.start]:#04x} at position {error.start + 1} is not {codec}; save it "
            "as UTF-8, or give its --encoding.",
            shown(raw, codec),
        )
