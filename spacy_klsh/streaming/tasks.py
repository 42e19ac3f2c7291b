"""Tasks: what a worker does at a time; how the input is cut depends on the input alone."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from spacy.language import Language

from .options import STDIN, Options
from .sources import Shard, plan
from .texts import Reject, Text

TASK_BYTES = 2**18
TASK_TEXTS = 1000


class Readable(Protocol):
    """A piece of the input that a worker process or machine reads by itself."""

    def read(self, nlp: Language | None = None) -> Iterator[Text | Reject]:
        """Its texts, in order."""


@dataclass(frozen=True)
class Given:
    """Texts that come with the task: of a stream that only one process can read."""

    texts: tuple[Text | Reject, ...]

    def read(self, nlp: Language | None = None) -> Iterator[Text | Reject]:
        """The texts."""
        return iter(self.texts)

    @property
    def sha256(self) -> str:
        """What tells whether they are the same when a stream is read again."""
        return hashlib.sha256(repr(self.texts).encode(errors="surrogatepass")).hexdigest()


@dataclass(frozen=True)
class Task:
    """A piece of the input, to be annotated to one part.

    Parameters
    ----------
    number : int
        The first one is 0.
    piece : Readable
    n_bytes : int
        Its length, for the progress.
    place : JSON, optional
        Of an input that has no end, where it goes on; of a stream, the hash of what it gave.
    """

    number: int
    piece: Readable
    n_bytes: int
    place: Any = None


def tasks(inputs: Iterable[str], options: Options, n_bytes: int = TASK_BYTES) -> Iterator[Task]:
    """The tasks of all inputs: pieces of about `n_bytes`, small files together.

    Standard input and large files that cannot be cut, such as compressed ones, are read here,
    and their texts come with the tasks.
    """
    for number, (piece, length) in enumerate(_pieces(inputs, options, n_bytes)):
        yield Task(number, piece, length, piece.sha256 if isinstance(piece, Given) else None)


def _pieces(
    inputs: Iterable[str], options: Options, n_bytes: int
) -> Iterator[tuple[Readable, int]]:
    for shard in plan(inputs, options, shard_bytes=n_bytes):
        length = shard.n_bytes or 0
        if shard.sources == (STDIN,) or (shard.cut is None and length > n_bytes):
            yield from _given(shard, n_bytes)
        else:
            yield shard, length


def _given(shard: Shard, n_bytes: int) -> Iterator[tuple[Readable, int]]:
    block: list[Text | Reject] = []
    size = 0
    for text in shard.read():
        block.append(text)
        size += len(text.text or "")
        if size >= n_bytes or len(block) == TASK_TEXTS:
            yield Given(tuple(block)), size
            block, size = [], 0
    if block:
        yield Given(tuple(block)), size
