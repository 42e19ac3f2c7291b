"""``spacy-klsh convert``: annotated files -> ``.spacy``."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from .models import load, stop


class Format(Enum):
    """Formats that can be read."""

    jsonl = "jsonl"
    interaction_xml = "interaction-xml"


class AlignMode(Enum):
    """What becomes of an entity that begins or ends inside a token."""

    split = "split"
    expand = "expand"
    contract = "contract"
    drop = "drop"


def convert(
    source: Annotated[Format, typer.Argument(metavar="FORMAT", help="jsonl or interaction-xml.")],
    inputs: Annotated[list[Path], typer.Argument(help="Files to read.")],
    output: Annotated[Path, typer.Option("--output", "-o", help=".spacy file to write.")],
    align: Annotated[
        AlignMode, typer.Option(help="Split the token, move the entity's ends, or drop it.")
    ] = AlignMode.split,
    model: Annotated[
        str | None, typer.Option(help="Pipeline whose tokenizer is used; default: --lang's.")
    ] = None,
    lang: Annotated[str, typer.Option(help="Language of the tokenizer.")] = "en",
    entity_label: Annotated[
        str | None, typer.Option(help="One label for all entities (interaction-xml).")
    ] = None,
) -> None:
    """Convert annotated documents to a .spacy file, and say what was read, changed and lost."""
    import spacy
    from spacy.tokens import DocBin

    from ..corpora.interaction_xml import read_interaction_xml
    from ..corpora.jsonl import read_jsonl

    try:
        nlp = load(model) if model else spacy.blank(lang)
        if source is Format.jsonl:
            docs, report = read_jsonl(inputs, nlp, align=align.value)
        else:
            docs, report = read_interaction_xml(
                inputs, nlp, align=align.value, entity_label=entity_label
            )
        output.parent.mkdir(parents=True, exist_ok=True)
        DocBin(docs=docs, store_user_data=True).to_disk(output)
    except (ImportError, OSError, ValueError) as error:
        stop(error)
    typer.echo(f"{report}\nwritten to {output}")
    if not report.ok:
        raise typer.Exit(1)
