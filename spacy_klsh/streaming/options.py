"""How the input is read: its formats, and what becomes one document."""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from enum import Enum
from pathlib import PurePath

STDIN = "-"
COMPRESSED = (".gz", ".bz2", ".xz", ".zst")
UTF_8 = "utf-8"
PIECE_CHARACTERS = 100_000  # of longer texts; a whole novel has too many pairs for one Doc


class Per(str, Enum):
    """What becomes one document of a text file."""

    line = "line"
    paragraph = "paragraph"
    file = "file"


class Format(str, Enum):
    """What the input is."""

    text = "text"
    jsonl = "jsonl"
    csv = "csv"
    tsv = "tsv"
    docbin = "docbin"
    brat = "brat"


TABLES = (Format.csv, Format.tsv)
SUFFIXES = {
    ".txt": Format.text,
    ".jsonl": Format.jsonl,
    ".ndjson": Format.jsonl,
    ".csv": Format.csv,
    ".tsv": Format.tsv,
    ".spacy": Format.docbin,
    ".ann": Format.brat,
}


@dataclass(frozen=True)
class Options:
    """How sources are read.

    Parameters
    ----------
    format : Format, optional
        None: by the suffix, text if it is none of ours.
    per : Per, optional
        Of text; None: a line of standard input, a file as a whole.
    text_field : str
        Of JSONL, CSV and TSV. In tables a whole number is the number of a column, from 1, of a
        table without a header.
    id_field : str, optional
        As `text_field`. None: ``id`` where there is one, else the place is the id.
    encoding : str, optional
        None: UTF-8, or UTF-16 and UTF-32 where a byte order mark says so.
    quoted : bool
        False: quotation marks of a table are characters like any other, and each line is a row.

    Raises
    ------
    ValueError
        If there is no such encoding.
    """

    format: Format | None = None
    per: Per | None = None
    text_field: str = "text"
    id_field: str | None = None
    encoding: str | None = None
    quoted: bool = True

    def __post_init__(self) -> None:
        if self.encoding is None:
            return
        try:
            bytes(4).decode(self.encoding, "replace")
        except LookupError:
            raise ValueError(
                f"encoding is {self.encoding!r}; give one that Python knows, such as utf-8, "
                "latin-1, cp1252 or utf-16."
            ) from None

    @property
    def codec(self) -> str:
        """The encoding by Python's name for it, marks aside."""
        name = codecs.lookup(self.encoding or UTF_8).name
        return UTF_8 if name == "utf-8-sig" else name

    @property
    def is_wide(self) -> bool:
        """Whether line breaks cannot be seen in the bytes, as in UTF-16."""
        ascii = bytes(range(128))
        return ascii.decode(self.codec, "replace") != ascii.decode("ascii")

    def format_of(self, source: str) -> Format:
        """What `source` is, a path, a URL or ``-``."""
        return self.format or SUFFIXES.get(bare_suffix(source), Format.text)

    def per_of(self, source: str) -> Per | None:
        """What becomes one document of a text; None for other formats."""
        if self.format_of(source) is not Format.text:
            return None
        return self.per or (Per.line if source == STDIN else Per.file)

    def is_lines(self, source: str) -> bool:
        """Whether no document of `source` depends on the lines before it."""
        format = self.format_of(source)
        if format is Format.text:
            return self.per_of(source) is not Per.file
        return format is Format.jsonl or (format in TABLES and not self.quoted)


def packing_of(source: str) -> str:
    """The suffix that tells how `source` is packed, ``""`` if it is not."""
    suffix = _path(source).suffix.lower()
    return suffix if suffix in COMPRESSED else ""


def bare_suffix(source: str) -> str:
    """The suffix that tells the format, that of packing aside: ``.txt`` of ``a.TXT.gz``."""
    path = _path(source)
    return (path.with_suffix("") if packing_of(source) else path).suffix.lower()


def _path(source: str) -> PurePath:
    return PurePath(source.partition("?")[0] if "://" in source else source)
