"""``spacy-klsh warmup``: compile once for this machine."""

from __future__ import annotations

from time import perf_counter

import typer


def warmup() -> None:
    """Fill numba's cache, so that the first call of a model takes no longer than later ones."""
    from ..pipeline.warmup import warmup as compile_all

    begin = perf_counter()
    compile_all()
    typer.echo(f"compiled in {perf_counter() - begin:.1f} s")
