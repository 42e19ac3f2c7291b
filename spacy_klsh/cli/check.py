"""``spacy-klsh check``: what training would make of gold Docs, and what is wrong with them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .models import load, relation_extractor, stop, write_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import Console
    from rich.table import Table
    from spacy.language import Language

    from ..checking.counts import Counts
    from ..checking.finding import Finding

COLOURS = {"error": "bold red", "warning": "yellow", "info": "cyan"}


def check(
    data: Annotated[
        list[Path], typer.Argument(help=".spacy files; the first is what is trained on.")
    ],
    config: Annotated[
        str | None,
        typer.Option(help="Config, or pipeline, whose klsh_relations counts; default: defaults."),
    ] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Also write all counts to this file.")
    ] = None,
) -> None:
    """Count what is in gold Docs, and say what is wrong with them before anything is trained.

    The exit code is 1 if there are errors; warnings and hints may be all right.
    """
    from rich.console import Console

    from ..checking.counts import count
    from ..checking.finding import Finding
    from ..checking.findings import find
    from ..pipeline.readers import read_docs

    if len({path.resolve() for path in data}) < len(data):
        raise typer.BadParameter("a file is named twice; what is trained on cannot test.")
    nlp = _pipeline(config)
    component = relation_extractor(nlp)
    parts: dict[str, Counts] = {}
    unreadable: list[Finding] = []
    for path in data:
        try:
            parts[str(path)] = count(read_docs(path, nlp.vocab), component, nlp.tokenizer)
        except (OSError, ValueError) as error:
            unreadable.append(Finding("error", "unreadable", str(error), str(path)))
    findings = unreadable + find(parts, component)
    _print(Console(), parts, findings)
    failed = any(finding.level == "error" for finding in findings)
    if json_file is not None:
        written = {
            "ok": not failed,
            "data": {name: counts.to_dict() for name, counts in parts.items()},
            "findings": [finding._asdict() for finding in findings],
        }
        write_text(json_file, json.dumps(written, indent=2) + "\n")
    if failed:
        raise typer.Exit(1)


def _pipeline(config: str | None) -> Language:
    """A pipeline with the klsh_relations of `config`, trained or not."""
    import spacy

    if config is None:
        nlp = spacy.blank("en")
        nlp.add_pipe("klsh_relations")
        return nlp
    if Path(config).suffix != ".cfg":
        return load(config)
    try:
        settings = spacy.util.load_config(config, interpolate=True)
        nlp = spacy.blank(settings["nlp"]["lang"])
        for name, block in settings["components"].items():
            if block.get("factory") == "klsh_relations":
                own = {key: value for key, value in block.items() if key != "factory"}
                nlp.add_pipe("klsh_relations", name, config=own)
    except (ImportError, OSError, ValueError, KeyError) as error:
        stop(f"{config} cannot be used as a config of training: {error!r}")
    return nlp


def _print(console: Console, parts: Mapping[str, Counts], findings: Sequence[Finding]) -> None:
    from rich.text import Text

    if parts:
        console.print(_summary(parts))
    for name, counts in parts.items():
        if counts.relations:
            console.print(_labels(name, counts))
    for level, code, message, name in findings:
        words = Text(f"{level} ", COLOURS[level])
        words.append(f"{code.replace('_', ' ')}: ", "bold")
        words.append(f"{name}: {message}" if name else message)
        console.print(words, soft_wrap=True)
    totals = ", ".join(f"{sum(f.level == level for f in findings)} {level}s" for level in COLOURS)
    console.print(totals.replace("infos", "hints"), highlight=False)


def _summary(parts: Mapping[str, Counts]) -> Table:
    """What all files hold, a column each."""
    from rich.markup import escape
    from rich.table import Table

    table = Table(title="Data")
    table.add_column("", overflow="fold")
    for name in parts:
        table.add_column(escape(name), justify="right", overflow="fold")
    every = list(parts.values())
    spread = [counts.to_dict()["per_document"] for counts in every]
    rows: list[tuple[str, Sequence[int | str]]] = [
        ("documents", [counts.documents for counts in every]),
        ("  never annotated", [counts.unannotated for counts in every]),
        ("  of equal text", [counts.repeated_texts for counts in every]),
        ("sentences", [counts.sentences for counts in every]),
        ("tokens", [counts.tokens for counts in every]),
        ("entities", [counts.entities.total() for counts in every]),
    ]
    for label in sorted({label for counts in every for label in counts.entities}):
        rows.append((f"  {label}", [counts.entities[label] for counts in every]))
    rows += [
        ("relations", [counts.gold.total() for counts in every]),
        ("  without candidate", [counts.n_lost for counts in every]),
        (
            "  a document: least, median, most",
            [f"{s['min']}, {s['median']}, {s['max']}" for s in spread],
        ),
        ("candidates", [counts.candidates for counts in every]),
        ("  related", [counts.related for counts in every]),
        ("  unrelated", [counts.candidates - counts.related for counts in every]),
        ("left out", [counts.skipped.total() for counts in every]),
    ]
    for reason in sorted({reason for counts in every for reason in counts.skipped}):
        rows.append((f"  {reason}", [counts.skipped[reason] for counts in every]))
    for title, values in rows:
        table.add_row(escape(title), *(v if isinstance(v, str) else f"{v:,}" for v in values))
    return table


def _labels(name: str, counts: Counts) -> Table:
    """The relations of one file, a row a label."""
    from rich.markup import escape
    from rich.table import Table

    from ..checking.finding import listed

    table = Table(title=f"Relations in {escape(name)}")
    for column in ("label", "relations", "related candidates", "both ways"):
        table.add_column(column, justify="left" if column == "label" else "right", overflow="fold")
    table.add_column("order in the text", overflow="fold")
    table.add_column("without candidate", overflow="fold")
    for label, n in counts.relations.most_common():
        orders = counts.orders[label].most_common(3)
        words = "; ".join(f"{roles} {share / n:.0%}" for roles, share in orders)
        numbers = [n, counts.positives[label], counts.both_ways[label]]
        lost = listed(counts.lost.get(label, {}))
        table.add_row(escape(label), *(f"{v:,}" for v in numbers), escape(words), escape(lost))
    return table
