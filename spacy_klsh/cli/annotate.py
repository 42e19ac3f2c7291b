"""``spacy-klsh annotate``: texts in, relations out."""

from __future__ import annotations

import json
import sys
from collections import Counter, deque
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from ..streaming.options import PIECE_CHARACTERS, Format, Options, Per
from ..streaming.outputs import To, find_output
from .models import load, relation_extractor, stop

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from contextlib import AbstractContextManager

    from spacy.language import Language

    from ..pipeline.component import RelationExtractor
    from ..streaming.chunks import Piece
    from ..streaming.records import Record
    from ..streaming.sources import Reject, Text


def annotate(
    model: Annotated[str, typer.Argument(help="Pipeline with klsh_relations: package or path.")],
    inputs: Annotated[
        list[str],
        typer.Argument(help="Files, directories, globs, URLs; - is standard input."),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="File (of brat: folder) to write; default: JSONL to standard output.",
        ),
    ] = None,
    to: Annotated[
        To | None, typer.Option(help="What the output is; default: by its suffix.")
    ] = None,
    evidence: Annotated[
        bool, typer.Option("--evidence", help="Write why each relation was predicted.")
    ] = False,
    format: Annotated[
        Format | None, typer.Option(help="What the inputs are; default: by the suffix, else text.")
    ] = None,
    per: Annotated[
        Per | None, typer.Option(help="What is one document; default: line for -, else file.")
    ] = None,
    text_field: Annotated[
        str,
        typer.Option(help="Field or column of the text; a number: column of a table, no header."),
    ] = "text",
    id_field: Annotated[
        str | None, typer.Option(help="Field or column of the id; default: id, else path and line.")
    ] = None,
    encoding: Annotated[
        str | None, typer.Option(help="Of the inputs; default: UTF-8, or what a mark tells.")
    ] = None,
    quotes: Annotated[
        bool, typer.Option(help="Quotation marks enclose cells of CSV and TSV, or mean nothing.")
    ] = True,
    chunk_chars: Annotated[
        int, typer.Option(min=1, help="Longer texts are cut into pieces that end with sentences.")
    ] = PIECE_CHARACTERS,
    batch_size: Annotated[int, typer.Option(min=1, help="Documents in one batch.")] = 128,
) -> None:
    """Find relations in texts; writes the training format, or tables, DocBin, brat, SQLite.

    What cannot be read is named, the rest is written, and the exit code is 1.
    """
    from ..streaming.chunks import cut_texts
    from ..streaming.inputs import list_sources
    from ..streaming.sinks import sink_for

    counts: Counter[str] = Counter()
    rejects: list[Reject] = []
    try:
        options = Options(format, per, text_field, id_field, encoding, quotes)
        kind = find_output(output, to)
        list_sources(inputs, options)
        nlp = load(model)
        component = relation_extractor(nlp)
        size = min(nlp.max_length, chunk_chars)
        texts = _with_progress(_read(nlp, inputs, options, rejects))
        pieces = cut_texts(texts, size, nlp.tokenizer)
        records = _records(nlp, component, pieces, evidence, batch_size, counts)
        if output is None or kind is To.jsonl:
            _write_lines(records, output)
        else:
            sink_for(kind, nlp.lang or "xx")(records, output)
    except (ValueError, OSError, ImportError, NotImplementedError) as error:
        stop(error)
    skipped = ", ".join(f"{reason} {n:,}" for reason, n in component.report.items())
    typer.echo(
        f"{counts['documents']:,} documents, {counts['relations']:,} relations; skipped: "
        f"{skipped or 'none'}",
        err=True,
    )
    if rejects:
        places = "\n".join(f"{reject.place}: {reject.error}" for reject in rejects)
        stop(f"{len(rejects):,} documents could not be read:\n{places}")


def _read(
    nlp: Language, inputs: list[str], options: Options, rejects: list[Reject]
) -> Iterator[Text]:
    from ..streaming.sources import Text, plan

    for shard in plan(inputs, options):
        for item in shard.read(nlp):
            if isinstance(item, Text):
                yield item
            else:
                rejects.append(item)


def _records(
    nlp: Language,
    component: RelationExtractor,
    pieces: Iterable[Piece],
    evidence: bool,
    batch_size: int,
    counts: Counter[str],
) -> Iterator[Record]:
    from ..streaming.chunks import join
    from ..streaming.engine import annotate as annotate_stream
    from ..streaming.records import to_record

    waiting: deque[Piece] = deque()
    spans_key = getattr(component.candidates, "spans_key", None)

    def contents() -> Iterator[str | bytes]:
        for piece in pieces:
            waiting.append(piece)
            yield piece.content

    parts: list[Record] = []
    for doc in annotate_stream(nlp, contents(), batch_size=batch_size):
        piece = waiting.popleft()
        part = to_record(doc, piece.text, component.attr, spans_key=spans_key, evidence=evidence)
        parts.append(part)
        if piece.is_last:
            record = join(parts)
            counts.update(documents=1, relations=len(record["relations"]))
            yield record
            parts = []


def _write_lines(records: Iterable[Record], output: Path | None) -> None:
    with _opened(output) as sink:
        for record in records:
            sink.write(json.dumps(record, ensure_ascii=False) + "\n")


def _opened(output: Path | None) -> AbstractContextManager[TextIO]:
    if output is None:
        return nullcontext(sys.stdout)
    output.parent.mkdir(parents=True, exist_ok=True)
    return output.open("w", encoding="utf-8")


def _with_progress(texts: Iterable[Text]) -> Iterator[Text]:
    """Count texts on stderr, if somebody looks."""
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (
        SpinnerColumn(),
        TextColumn("{task.completed:,} documents read"),
        TimeElapsedColumn(),
    )
    console = Console(stderr=True)
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        yield from progress.track(texts)
