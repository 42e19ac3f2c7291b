"""``spacy-klsh``: one subcommand a file."""

from __future__ import annotations

import typer

from .annotate import annotate
from .check import check
from .convert import convert
from .evaluate import evaluate
from .explain import explain
from .show import show
from .warmup import warmup

app = typer.Typer(
    name="spacy-klsh",
    help="Find relations between entities in text.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_show_locals=False,
)
for command in (annotate, explain, evaluate, convert, check, show, warmup):
    app.command()(command)
