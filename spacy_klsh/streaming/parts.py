"""A part: what became of one task's texts, in a file that is there whole or not at all.

Its lines are the records (documents in the training format), then the rejects, then one line
that says how many bytes each of these have, and the counts.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import Any, BinaryIO
from uuid import uuid4

from .counts import Counts
from .engine import Annotated
from .texts import Reject

SPOOLED_BYTES = 2**20
LAST_LINE_BYTES = 2**16


@dataclass(frozen=True)
class Part:
    """A finished part in the file `path`: bytes of records and of rejects, and counts."""

    path: Path
    records: int
    rejects: int
    counts: Counts

    @classmethod
    def read(cls, path: Path) -> Part:
        """The part in the file `path`.

        Raises
        ------
        ValueError
            If the file is not whole.
        """
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - LAST_LINE_BYTES))
            last = (file.read().splitlines(keepends=True) or [b""])[-1]
        try:
            records, rejects, counts = itemgetter("records", "rejects", "counts")(json.loads(last))
            if size != records + rejects + len(last) or not last.endswith(b"\n"):
                raise ValueError(f"expected {records + rejects + len(last)}")
            return cls(path, records, rejects, Counts.from_json(counts))
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(
                f"{path} with {size} bytes is not whole ({error}); delete it."
            ) from error

    def copy(self, records: BinaryIO, rejects: BinaryIO) -> None:
        """Append its records and rejects to these files."""
        with self.path.open("rb") as file:
            copy_bytes(file, records, self.records)
            copy_bytes(file, rejects, self.rejects)


def write_part(file: BinaryIO, results: Iterable[Annotated | Reject]) -> None:
    """Write a part to `file`, as the results come."""
    counts = Counts()
    n_bytes = 0
    with SpooledTemporaryFile(SPOOLED_BYTES) as rejects:
        for result in results:
            counts.add(result)
            if isinstance(result, Reject):
                rejects.write(to_line(result._asdict()))
            else:
                n_bytes += file.write(to_line(result.record))
        about = {"records": n_bytes, "rejects": rejects.tell(), "counts": counts.to_json()}
        rejects.seek(0)
        shutil.copyfileobj(rejects, file)
    file.write(to_line(about))


def to_line(data: Any) -> bytes:
    """`data` as a line of JSON in UTF-8; lone surrogates, which UTF-8 lacks, are escaped."""
    try:
        return (json.dumps(data, ensure_ascii=False) + "\n").encode()
    except UnicodeEncodeError:
        return (json.dumps(data) + "\n").encode()


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """A file that takes the place of `path` when it is complete and on the disk, never before."""
    beside = path.with_name(f"{path.name}.{uuid4().hex}")
    try:
        with beside.open("xb") as file:
            yield file
            to_disk(file)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def delete_unfinished(folder: Path, name: str = "*.part") -> None:
    """Delete what killed processes left of `name` in `folder` before it was a whole file."""
    for beside in folder.glob(f"{name}.*"):
        beside.unlink()


def to_disk(file: BinaryIO) -> None:
    """Wait until the disk has all of `file`."""
    file.flush()
    os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Wait until the disk knows which files are in `folder`, where systems can do that."""
    if sys.platform == "win32":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def copy_bytes(source: BinaryIO, target: BinaryIO, n_bytes: int) -> None:
    """Copy the next `n_bytes` of `source`."""
    while n_bytes:
        block = source.read(min(n_bytes, SPOOLED_BYTES))
        if not block:
            raise ValueError(f"{source.name} ends {n_bytes} bytes too early; delete it.")
        target.write(block)
        n_bytes -= len(block)
