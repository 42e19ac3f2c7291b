"""Tasks: what a worker does at a time; how the input is cut depends on the input alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from .options import STDIN, Options
from .sources import Shard, plan
from .texts import Reject, Text

TASK_BYTES = 2**18
TASK_SHARDS = 1000


class Readable(Protocol):
    """A piece of the input that a worker process or machine reads by itself."""

    def read(self) -> Iterator[Text | Reject]:
        """Its texts, in order."""


@dataclass(frozen=True)
class Given:
    """Texts that come with the task: of a stream that only one process can read."""

    texts: tuple[Text | Reject, ...]

    def read(self) -> Iterator[Text | Reject]:
        """The texts."""
        return iter(self.texts)


@dataclass(frozen=True)
class Task:
    """Pieces of the input to be annotated to one part.

    `place` says where the input goes on behind them, if it has no end; `size` is their
    length in bytes of the input, for the progress.
    """

    number: int
    pieces: tuple[Readable, ...]
    size: int
    place: Any = None

    def read(self) -> Iterator[Text | Reject]:
        """The texts of all pieces."""
        for piece in self.pieces:
            yield from piece.read()


def tasks(inputs: Iterable[str], options: Options) -> Iterator[Task]:
    """The tasks of all inputs: pieces of about 256 kB, small files together.

    Standard input and large files that cannot be cut, such as compressed ones, are read here,
    and their texts come with the tasks.
    """
    groups = _grouped(plan(inputs, options, shard_bytes=TASK_BYTES))
    for number, (pieces, size) in enumerate(groups):
        yield Task(number, pieces, size)


def _grouped(shards: Iterable[Shard]) -> Iterator[tuple[tuple[Readable, ...], int]]:
    group: list[Shard] = []
    size = 0
    for shard in shards:
        n_bytes = size_of(shard)
        if shard.source == STDIN or (shard.stop is None and n_bytes > TASK_BYTES):
            if group:
                yield tuple(group), size
            group, size = [], 0
            yield from _given(shard.read())
            continue
        if group and (size + n_bytes > TASK_BYTES or len(group) == TASK_SHARDS):
            yield tuple(group), size
            group, size = [], 0
        group.append(shard)
        size += n_bytes
    if group:
        yield tuple(group), size


def _given(texts: Iterable[Text | Reject]) -> Iterator[tuple[tuple[Readable, ...], int]]:
    block: list[Text | Reject] = []
    size = 0
    for text in texts:
        block.append(text)
        size += len(text.text or "")
        if size >= TASK_BYTES or len(block) == TASK_SHARDS:
            yield (Given(tuple(block)),), size
            block, size = [], 0
    if block:
        yield (Given(tuple(block)),), size


def size_of(shard: Shard) -> int:
    """Bytes of the piece; those of a task where nobody knows, as behind a URL."""
    if shard.stop is not None:
        return shard.stop - shard.start
    path = Path(shard.source)
    return path.stat().st_size if path.is_file() else TASK_BYTES
