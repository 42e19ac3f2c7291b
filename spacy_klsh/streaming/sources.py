"""Where texts come from: shards of the input, each of which can be read by itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from spacy.language import Language

from .cuts import AFTER_BLANK_LINE, AFTER_LINE, Cut, cut_file
from .inputs import Source, is_local, list_sources
from .lines import wide_encoding
from .options import STDIN, Format, Options, Per, packing_of
from .reading import read_source
from .texts import Reject, Text

__all__ = ["STDIN", "Format", "Options", "Per", "Reject", "Shard", "Text", "plan"]

SHARD_BYTES = 2**18
MARK_BYTES = 4  # of the longest mark of an encoding


@dataclass(frozen=True)
class Shard:
    """A piece of the input: some sources as a whole, or a part of one.

    Parameters
    ----------
    sources : tuple of str
    options : Options
    n_bytes : int, optional
        As stored; None where they are not known.
    cut : Cut, optional
        The part of the only source.
    """

    sources: tuple[str, ...]
    options: Options
    n_bytes: int | None = None
    cut: Cut | None = None

    @property
    def source(self) -> str:
        """The first source, for messages, and what else there is."""
        line = f":{self.cut.first_line}" if self.cut else ""
        more = f" and {len(self.sources) - 1} more" if self.sources[1:] else ""
        return f"{self.sources[0]}{line}{more}"

    def read(self, nlp: Language | None = None) -> Iterator[Text | Reject]:
        """All that is in it, in order: texts, and what cannot be read.

        Ids and places do not depend on how the input was cut. The tokenizer of `nlp`, else the
        English one, makes the tokens of documents of brat.

        Raises
        ------
        ImportError, NotImplementedError
            If smart_open lacks what a URL needs.
        """
        for source in self.sources:
            yield from read_source(source, self.options, self.cut, nlp)


def plan(
    inputs: Iterable[str], options: Options | None = None, *, shard_bytes: int = SHARD_BYTES
) -> Iterator[Shard]:
    """Shards of about equal size, which together are the whole input in order.

    Files of lines are cut behind lines (behind blank ones, if paragraphs are wanted) where they
    are plain local files. All others are shards as a whole, small ones several together.

    Raises
    ------
    FileNotFoundError, ImportError, NotImplementedError
        As `list_sources`, before the first shard.
    """
    options = options or Options()
    together: list[Source] = []
    n_bytes = 0
    for source in list_sources(inputs, options):
        size = source.n_bytes
        if together and (size is None or n_bytes + size > shard_bytes):
            yield _whole(together, options)
            together, n_bytes = [], 0
        if size is not None and size <= shard_bytes:
            together.append(source)
            n_bytes += size
        else:
            yield from _shards(source, options, shard_bytes)
    if together:
        yield _whole(together, options)


def _whole(sources: list[Source], options: Options) -> Shard:
    names, sizes = zip(*sources, strict=True)
    return Shard(names, options, None if None in sizes else sum(sizes))


def _shards(source: Source, options: Options, shard_bytes: int) -> Iterator[Shard]:
    if not _can_be_cut(source.name, options):
        yield _whole([source], options)
        return
    is_paragraphs = options.per_of(source.name) is Per.paragraph
    place = AFTER_BLANK_LINE if is_paragraphs else AFTER_LINE
    for cut in cut_file(Path(source.name), shard_bytes, place):
        yield Shard((source.name,), options, cut.stop - cut.start, cut)


def _can_be_cut(name: str, options: Options) -> bool:
    """Whether it is a plain local file of lines that can be read one by one."""
    if not is_local(name) or packing_of(name) or not options.is_lines(name):
        return False
    with Path(name).open("rb") as file:
        return wide_encoding(file.read(MARK_BYTES), options) is None
