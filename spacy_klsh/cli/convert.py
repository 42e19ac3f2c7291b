"""``spacy-klsh convert``: annotated files -> ``.spacy``."""

from __future__ import annotations

import json
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..corpora.formats import FORMATS, find_format, words
from .models import load, stop, write_text

if TYPE_CHECKING:
    from spacy.tokens import Doc


class AlignMode(Enum):
    """What becomes of an entity that begins or ends inside a token."""

    split = "split"
    expand = "expand"
    contract = "contract"
    drop = "drop"


def list_formats(wanted: bool) -> None:
    """Print all formats with their options, and end."""
    if not wanted:
        return
    for name, format in FORMATS.items():
        typer.echo(f"{name}: {format.about}")
        for option, (kind, default) in format.options.items():
            note = "" if default is None else f" (default: {default})"
            typer.echo(f"    --option {option}={words(kind)}{note}")
    raise typer.Exit()


def convert(
    source: Annotated[str, typer.Argument(metavar="FORMAT", help=f"{', '.join(FORMATS)}.")],
    inputs: Annotated[list[Path], typer.Argument(help="Files (or directories) to read.")],
    output: Annotated[Path, typer.Option("--output", "-o", help=".spacy file to write.")],
    align: Annotated[
        AlignMode, typer.Option(help="Split the token, move the entity's ends, or drop it.")
    ] = AlignMode.split,
    model: Annotated[
        str | None, typer.Option(help="Pipeline whose tokenizer is used; default: --lang's.")
    ] = None,
    lang: Annotated[str, typer.Option(help="Language of the tokenizer.")] = "en",
    options: Annotated[
        list[str] | None,
        typer.Option("--option", metavar="NAME=VALUE", help="Of the format; as often as needed."),
    ] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Also write the report to this file.")
    ] = None,
    lenient: Annotated[
        bool, typer.Option("--lenient", help="Exit code 0 although some of the input was wrong.")
    ] = False,
    formats: Annotated[
        bool,
        typer.Option(
            "--formats", callback=list_formats, is_eager=True, help="List formats and options."
        ),
    ] = False,
) -> None:
    """Convert annotated documents to a .spacy file, and say what was read, changed and lost.

    What is wrong in the input is printed with its place; all other documents are
    converted, and the exit code is 1.
    """
    import spacy

    try:
        format = find_format(source)
        settings = format.parse(options or ())
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    if output.resolve() in {path.resolve() for path in inputs}:
        raise typer.BadParameter(f"{output} is an input, too; name another output.")
    try:
        nlp = load(model) if model else spacy.blank(lang)
        docs, report = format.read(inputs, nlp, align=align.value, **settings)
        if docs:
            _write(docs, output)
    except (ImportError, OSError, ValueError) as error:
        stop(error)
    typer.echo(report)
    typer.echo(f"{len(docs)} documents written to {output}" if docs else "nothing written")
    if json_file is not None:
        write_text(json_file, json.dumps(report.to_dict(), indent=2) + "\n")
    if not (report.ok or lenient):
        raise typer.Exit(1)


def _write(docs: list[Doc], output: Path) -> None:
    """The whole file or nothing of it."""
    from spacy.tokens import DocBin

    output.parent.mkdir(parents=True, exist_ok=True)
    part = output.with_name(f"{output.name}.part")
    DocBin(docs=docs, store_user_data=True).to_disk(part)
    part.replace(output)
