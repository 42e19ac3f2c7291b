"""``spacy-klsh show``: annotated JSONL as a table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from .models import stop


def show(
    path: Annotated[Path, typer.Argument(help="JSONL file that annotate wrote.")],
    limit: Annotated[int, typer.Option(min=1, help="Most relations to print.")] = 50,
) -> None:
    """Print annotated relations as a table: head, label, tail, score, and where they stand."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    try:
        with path.open(encoding="utf-8-sig") as lines:
            rows = [row for line in lines if line.strip() for row in _rows(json.loads(line))]
    except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
        stop(f"{path} cannot be shown ({error!r}); give a file that `spacy-klsh annotate` wrote.")
    table = Table(title=f"{len(rows):,} relations in {escape(path.name)}")
    for column in ("document", "head", "relation", "tail", "score"):
        table.add_column(column, overflow="fold", justify="right" if column == "score" else "left")
    for row in rows[:limit]:
        table.add_row(*map(escape, row))
    if len(rows) > limit:
        table.caption = f"the first {limit}; --limit shows more"
    Console().print(table)


def _rows(document: dict[str, Any]) -> list[tuple[str, str, str, str, str]]:
    from ..pipeline.evidence import argument_words

    texts = [document["text"][e["start"] : e["end"]] for e in document["entities"]]
    rows = []
    for relation in document["relations"]:
        roles = relation.get("arguments") or {k: relation[k] for k in ("head", "tail")}
        named = argument_words({role: " ".join(texts[i].split()) for role, i in roles.items()})
        score = f"{relation.get('score', 1.0):.2f}"
        rows.append((str(document["id"]), named[0], relation["label"], named[1], score))
    return rows
