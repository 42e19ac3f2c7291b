"""A file that grows: its whole lines, as they come, become tasks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from time import monotonic, sleep
from typing import BinaryIO, NamedTuple

from .cuts import Cut
from .inputs import is_local
from .options import Options, Per, packing_of
from .sources import Shard
from .tasks import Task

POLL_SECONDS = 0.5


class Place(NamedTuple):
    """Where to read on: the next task, its first byte and the number of its first line."""

    task: int = 0
    start: int = 0
    line: int = 1


def check_follow(source: str, options: Options) -> None:
    """Refuse what cannot be followed.

    Raises
    ------
    ValueError
        If it is no plain local file of which each line is a document.
    """
    lines = options.is_lines(source) and options.per_of(source) in (None, Per.line)
    if not lines or not is_local(source) or packing_of(source):
        raise ValueError(
            f"{source} cannot be followed; give one plain file of lines: --per line, --format "
            "jsonl, or a table with --no-quotes."
        )


def follow(
    source: str, options: Options, n_bytes: int, place: Place, *, idle: float | None = None
) -> Iterator[Task]:
    """Tasks of the whole lines that a file has, and of those that others append to it.

    Parameters
    ----------
    source : str
        A path.
    options : Options
    n_bytes : int
        A task has about so many, if there are.
    place : Place
        Where to begin; each task carries the place behind it.
    idle : float, optional
        Seconds without a new line after which it ends, with what stands in the last line;
        None: it does not end.

    Raises
    ------
    ValueError
        If the file gets shorter than what was read of it.
    """
    waiting_since = monotonic()
    with Path(source).open("rb") as file:
        while True:
            is_last = idle is not None and monotonic() - waiting_since >= idle
            piece = _lines(file, source, place.start, n_bytes, is_last)
            if piece:
                stop = place.start + len(piece)
                cut = Cut(place.start, stop, place.line)
                after = Place(place.task + 1, stop, place.line + piece.count(b"\n"))
                yield Task(
                    place.task, Shard((source,), options, len(piece), cut), len(piece), after
                )
                place, waiting_since = after, monotonic()
            elif is_last:
                return
            else:
                sleep(POLL_SECONDS if idle is None else min(POLL_SECONDS, idle / 4))


def _lines(file: BinaryIO, source: str, start: int, n_bytes: int, is_last: bool) -> bytes:
    """Whole lines from `start` on, of about `n_bytes`; the last one need not be whole."""
    size = file.seek(0, 2)
    if size < start:
        raise ValueError(
            f"{source} has {size} bytes, but {start} were read before; it is another file now: "
            "start anew with --overwrite."
        )
    while True:
        file.seek(start)
        piece = file.read(n_bytes)
        whole = piece[: piece.rfind(b"\n") + 1]
        if whole or len(piece) < n_bytes:
            return whole or (piece if is_last else b"")
        n_bytes *= 2
