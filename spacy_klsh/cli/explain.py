"""``spacy-klsh explain``: why relations were predicted, and why others were not."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..streaming.sources import STDIN
from .models import load, relation_extractor, stop, write_text

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from ..pipeline.evidence import Evidence, Neighbour
    from ..pipeline.explanation import NearMiss
    from ..pipeline.relations import Relation


def explain(
    model: Annotated[str, typer.Argument(help="Pipeline with klsh_relations: package or path.")],
    text: Annotated[str | None, typer.Argument(help="Text; - is standard input.")] = None,
    file: Annotated[Path | None, typer.Option(help="UTF-8 file with the text.")] = None,
    html: Annotated[Path | None, typer.Option(help="Also write a page to this file.")] = None,
    n_references: Annotated[
        int, typer.Option(min=1, help="References to show with each relation.")
    ] = 3,
    misses: Annotated[
        int, typer.Option(min=0, help="Most candidates below the threshold to show.")
    ] = 5,
) -> None:
    """Show for each relation in a text the vote and the labelled references most like it."""
    from rich.console import Console

    from ..pipeline.explanation import near_misses
    from ..pipeline.page import render
    from ..pipeline.relations import read_relations, read_skipped

    content = _read(text, file)
    nlp = load(model)
    component = relation_extractor(nlp)
    component.n_evidence = n_references
    try:
        doc = nlp(content)
        missed = near_misses(component, doc, misses)
    except (ValueError, ImportError) as error:
        stop(error)
    relations, skipped = read_relations(doc, component.attr), read_skipped(doc, component.attr)
    _print(Console(), relations, missed, skipped)
    if html is not None:
        entities = component.candidates(doc).entities
        write_text(html, render(doc, relations, entities, missed, skipped))
        typer.echo(f"page written to {html}", err=True)


def _read(text: str | None, file: Path | None) -> str:
    if (text is None) == (file is None):
        stop("give one of: a TEXT, - for standard input, or --file PATH.")
    try:
        if file is not None:
            return file.read_text(encoding="utf-8-sig")
        return sys.stdin.read() if text == STDIN else str(text)
    except (OSError, UnicodeDecodeError) as error:
        stop(f"{file or 'standard input'} cannot be read as UTF-8 text: {error}")


def _print(
    console: Console,
    relations: Sequence[Relation],
    misses: Sequence[NearMiss],
    skipped: Mapping[str, int],
) -> None:
    for relation in relations:
        _print_relation(console, relation, f"{relation.score:.2f}")
    if not relations:
        console.print("No relation found.", style="bold")
    if misses:
        console.print("\nBelow the threshold", style="bold")
    for relation, threshold in misses:
        _print_relation(console, relation, f"{relation.score:.2f} < {threshold:.2f}")
    if skipped:
        reasons = ", ".join(f"{reason} {n:,}" for reason, n in skipped.items())
        console.print(f"\nSkipped: {reasons}", markup=False, highlight=False)
    if not (relations or misses or skipped):
        console.print("It holds no pair of entities that may be related.")


def _print_relation(console: Console, relation: Relation, score: str) -> None:
    """A table: the relation, its path and vote, and its nearest references."""
    from rich.table import Table
    from rich.text import Text

    from ..pipeline.evidence import argument_words, label_words, path_words

    texts = {role: " ".join(span.text.split()) for role, span in relation.arguments.items()}
    first, others = argument_words(texts)
    title = Text.assemble(
        (first, "bold"), " — ", (relation.label, "bold cyan"), " → ", (others, "bold")
    )
    title.append(f"  {score}", "dim")
    evidence = relation.evidence
    if evidence is None:
        console.print(title)
        return
    table = Table(title=title, title_justify="left", title_style="", expand=True)
    table.add_column("similarity", justify="right", width=10)
    table.add_column("label", max_width=24, overflow="fold")
    table.add_column("path", ratio=1, overflow="fold")
    table.add_row("", Text("this text"), Text(path_words(evidence.path, evidence.parents)))
    table.add_row("", Text("vote"), Text("  ".join(evidence.vote_words())), end_section=True)
    for near in evidence.nearest:
        words = _marked(near, evidence)
        table.add_row(f"{near.similarity:.2f}", Text(label_words(near.label)), words)
    console.print(table)


def _marked(near: Neighbour, evidence: Evidence) -> Text:
    """The path of a reference, with what it shares with the evidence's own path in bold."""
    from rich.text import Text

    from ..pipeline.evidence import path_steps

    text, best = Text(), near.best_matches
    for i, (arrow, word) in enumerate(path_steps(near.path, near.parents)):
        if i:
            arrow = f" {arrow} " if arrow else " "
            text.append(arrow, "bold" if (i, "edge") in best else "dim")
        text.append(word, "bold" if (i, "node") in best else "dim")
        if alike := evidence.likeness(near, i):
            text.append(f" (~{alike})", "italic")
    return text
