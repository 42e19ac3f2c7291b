"""Pipelines and files of the command line, with errors that say what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

import typer

if TYPE_CHECKING:
    from pathlib import Path

    from spacy.language import Language

    from ..pipeline.component import RelationExtractor


def stop(message: object) -> NoReturn:
    """End the command with exit code 1 and `message` on stderr."""
    typer.secho(f"Error: {message}", err=True, fg=typer.colors.RED)
    raise typer.Exit(1)


def load(model: str) -> Language:
    """The pipeline `model` (a package or a directory)."""
    import spacy

    try:
        return spacy.load(model)
    except (OSError, ValueError) as error:
        stop(error)


def relation_extractor(nlp: Language) -> RelationExtractor:
    """The first klsh_relations component of `nlp`."""
    from ..streaming.engine import extractor_of

    try:
        return extractor_of(nlp)
    except ValueError as error:
        stop(error)


def write_text(path: Path, text: str) -> None:
    """Write a file, and the folders it is in."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        stop(error)
