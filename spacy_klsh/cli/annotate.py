"""``spacy-klsh annotate``: texts in, relations out."""

from __future__ import annotations

import json
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from ..streaming.options import Format, Options, Per
from .models import load, relation_extractor, stop

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from contextlib import AbstractContextManager

    from spacy.language import Language

    from ..streaming.sources import Reject, Text


def annotate(
    model: Annotated[str, typer.Argument(help="Pipeline with klsh_relations: package or path.")],
    inputs: Annotated[
        list[str],
        typer.Argument(help="Files, directories, globs, URLs; - is standard input."),
    ],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="JSONL file; default standard output.")
    ] = None,
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
    batch_size: Annotated[int, typer.Option(min=1, help="Documents in one batch.")] = 128,
) -> None:
    """Find relations in text files; writes one JSON document a line, in the training format."""
    from ..corpora.jsonl import to_json
    from ..streaming.engine import annotate as annotate_stream
    from ..streaming.inputs import list_sources

    rejects: list[Reject] = []
    n_docs = n_relations = 0
    try:
        options = Options(format, per, text_field, id_field, encoding, quotes)
        list_sources(inputs, options)
        nlp = load(model)
        component = relation_extractor(nlp)
        spans_key = getattr(component.candidates, "spans_key", None)
        with _opened(output) as sink:
            texts = _with_progress(_read(nlp, inputs, options, rejects))
            for doc in annotate_stream(nlp, texts, batch_size=batch_size):
                document = to_json(doc, component.attr, spans_key=spans_key)
                sink.write(json.dumps(document, ensure_ascii=False) + "\n")
                n_docs += 1
                n_relations += len(document["relations"])
    except (ValueError, OSError, ImportError, NotImplementedError) as error:
        stop(error)
    skipped = ", ".join(f"{reason} {n:,}" for reason, n in component.report.items())
    typer.echo(
        f"{n_docs:,} documents, {n_relations:,} relations; skipped: {skipped or 'none'}",
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
