"""How far a run is: for people at a terminal, or for programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from time import monotonic
from typing import Any, Protocol

from .counts import Counts

JSON_SECONDS = 5.0


class Show(str, Enum):
    """How progress is shown on standard error."""

    auto = "auto"
    json = "json"
    none = "none"


class Display(Protocol):
    """What is told of the progress."""

    def __call__(self, figures: dict[str, Any]) -> None:
        """Show the figures of `Pace.figures`."""


def _nothing(figures: dict[str, Any]) -> None:
    """Show nothing."""


class Pace:
    """Figures of a run: how much is done, how fast, how long yet.

    Attributes
    ----------
    display : Display
        Is shown all figures when they change.
    total : int, optional
        Bytes of all inputs; None if nobody knows.
    """

    def __init__(self) -> None:
        self.begin = monotonic()
        self.before = Counts()
        self.bytes_before = 0
        self.counts = Counts()
        self.n_bytes = 0
        self.display: Display = _nothing
        self.total: int | None = None

    def skip(self, counts: Counts, n_bytes: int = 0) -> None:
        """Take `n_bytes` of the input, and all of `counts`, for the work of an earlier run."""
        self.before = self.counts = counts
        self.bytes_before += n_bytes
        self.n_bytes += n_bytes

    def __call__(self, counts: Counts, n_bytes: int) -> None:
        """`n_bytes` more of the input are done; `counts` of all that is."""
        self.counts = counts
        self.n_bytes += n_bytes
        self.display(self.figures())

    @property
    def seconds(self) -> float:
        """Since the run began."""
        return monotonic() - self.begin

    def per_second(self, name: str) -> float:
        """How many of `documents`, `relations` or `words` this run did in a second."""
        done: int = getattr(self.counts, name) - getattr(self.before, name)
        return done / max(self.seconds, 1e-9)

    def figures(self) -> dict[str, Any]:
        """All figures; `eta_seconds` is None where it cannot be known."""
        done, eta = self.n_bytes - self.bytes_before, None
        if self.total is not None and done:
            eta = round(max(0, self.total - self.n_bytes) / done * self.seconds, 1)
        return {
            "documents": self.counts.documents,
            "rejected": self.counts.rejected,
            "relations": self.counts.relations,
            "words": self.counts.words,
            "bytes": self.n_bytes,
            "total_bytes": self.total,
            "seconds": round(self.seconds, 1),
            "relations_per_second": round(self.per_second("relations"), 1),
            "eta_seconds": eta,
        }


@contextmanager
def displayed(show: Show) -> Iterator[Display]:
    """Progress on standard error: a line that changes at a terminal, lines of JSON, or nothing."""
    if show is Show.json:
        yield _json_lines()
    elif show is Show.auto:
        with _line() as display:
            yield display
    else:
        yield _nothing


def _json_lines() -> Display:
    shown = -JSON_SECONDS

    def display(figures: dict[str, Any]) -> None:
        nonlocal shown
        if figures["seconds"] >= shown + JSON_SECONDS:
            shown = figures["seconds"]
            sys.stderr.write(json.dumps(figures) + "\n")
            sys.stderr.flush()

    return display


@contextmanager
def _line() -> Iterator[Display]:
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        line = progress.add_task("loading the model")
        yield lambda figures: progress.update(line, description=described(figures))


def described(figures: dict[str, Any]) -> str:
    """The figures in a line."""
    shown = f"{figures['documents']:,} documents, {figures['bytes'] / 1e6:,.1f}"
    if figures["total_bytes"] is not None:
        shown += f" of {figures['total_bytes'] / 1e6:,.1f}"
    shown += f" MB, {figures['relations_per_second']:,.0f} relations/s"
    if figures["rejected"]:
        shown += f", {figures['rejected']:,} rejected"
    if figures["eta_seconds"] is not None:
        minutes, seconds = divmod(round(figures["eta_seconds"]), 60)
        shown += f", {minutes // 60}:{minutes % 60:02d}:{seconds:02d} left"
    return shown
