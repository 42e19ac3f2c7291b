"""``spacy-klsh annotate``: texts in, relations out."""

from __future__ import annotations

import json
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from ..streaming.sources import STDIN, Per, Text, read_texts
from .models import load, relation_extractor, stop

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from contextlib import AbstractContextManager


def annotate(
    model: Annotated[str, typer.Argument(help="Pipeline with klsh_relations: package or path.")],
    inputs: Annotated[list[str], typer.Argument(help="UTF-8 text files; - is standard input.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="JSONL file; default standard output.")
    ] = None,
    per: Annotated[
        Per | None, typer.Option(help="What is one document; default: line for -, else file.")
    ] = None,
    batch_size: Annotated[int, typer.Option(min=1, help="Documents in one batch.")] = 128,
) -> None:
    """Find relations in text files; writes one JSON document a line, in the training format."""
    from ..corpora.jsonl import to_json
    from ..streaming.engine import annotate as annotate_stream

    local = [path for path in inputs if path != STDIN and "://" not in path]
    missing = [path for path in local if not Path(path).is_file()]
    if missing:
        stop(f"no such file: {', '.join(missing)}")
    nlp = load(model)
    component = relation_extractor(nlp)
    spans_key = getattr(component.candidates, "spans_key", None)
    n_docs = n_relations = 0
    try:
        with _opened(output) as sink:
            texts = _with_progress(read_texts(inputs, per))
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
