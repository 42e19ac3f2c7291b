"""From records to files of other formats: the same records give the same bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TypeAlias

from .brat_sink import write_brat
from .docbin_sink import write_docbin
from .outputs import To
from .parquet_sink import write_parquet
from .records import Record
from .sqlite_sink import write_sqlite
from .tsv_sink import write_tsv

Sink: TypeAlias = Callable[[Iterable[Record], Path], None]

SINKS: dict[To, Sink] = {
    To.tsv: write_tsv,
    To.docbin: write_docbin,
    To.brat: write_brat,
    To.sqlite: write_sqlite,
    To.parquet: write_parquet,
}


def sink_for(to: To, lang: str) -> Sink:
    """The sink of a pipeline of the language `lang`, which a DocBin needs to know.

    There is none of JSONL, which records are anyway.
    """
    return partial(write_docbin, lang=lang) if to is To.docbin else SINKS[to]
