"""Where texts come from (for the time being: plain text by line)."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from .options import STDIN, Format, Options, Per
from .texts import Reject, Text

__all__ = ["STDIN", "Format", "Options", "Per", "Reject", "Shard", "Text", "plan"]
SHARD_BYTES = 2**18


@dataclass(frozen=True)
class Shard:
    """A piece of the input."""

    source: str
    options: Options
    start: int = 0
    stop: int | None = None
    line: int = 1

    def read(self) -> Iterator[Text | Reject]:
        """Its texts."""
        if self.source == STDIN:
            for number, line in enumerate(sys.stdin.buffer, 1):
                yield from self._text(number, line)
            return
        if self.options.per_of(self.source) is Per.file:
            yield Text(self.source, Path(self.source).read_text("utf-8"), self.source)
            return
        with open(self.source, "rb") as file:
            file.seek(self.start)
            number = self.line
            while self.stop is None or file.tell() < self.stop:
                line = file.readline()
                if not line:
                    break
                yield from self._text(number, line)
                number += 1

    def _text(self, number: int, line: bytes) -> Iterator[Text | Reject]:
        place = f"{self.source}:{number}"
        try:
            text = line.decode().rstrip("\r\n")
        except UnicodeDecodeError as error:
            yield Reject(place, str(error), line.decode(errors="backslashreplace"))
            return
        if text.strip():
            yield Text(place, text, place)


def plan(
    inputs: Iterable[str], options: Options, *, shard_bytes: int = SHARD_BYTES
) -> Iterator[Shard]:
    """Shards of all inputs."""
    for source in inputs:
        if source == STDIN or options.per_of(source) is Per.file:
            yield Shard(source, options)
            continue
        with open(source, "rb") as file:
            start, number = 0, 1
            while block := file.readlines(shard_bytes):
                yield Shard(source, options, start, file.tell(), number)
                start, number = file.tell(), number + len(block)
