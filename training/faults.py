"""What faults cost: ``annotate`` is killed, starved and fed with rubbish, and all is counted.

python training/faults.py --json metrics/faults.json
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer
from fault_bench import Bench, Row, prepared
from fault_inputs import bad_bytes, bad_documents, full_disk
from fault_kills import command_killed, killed, worker_killed
from rich.console import Console
from rich.table import Table


def main(
    n_documents: Annotated[int, typer.Option(min=1, help="Documents of one run.")] = 200,
    kills: Annotated[int, typer.Option(min=1, help="Moments of kill -9.")] = 50,
    tries: Annotated[int, typer.Option(min=1, help="Of every other fault.")] = 10,
    seed: Annotated[int, typer.Option(help="Of the moments and places.")] = 0,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the table here.")] = None,
) -> None:
    """Try all faults, print what they cost."""
    with TemporaryDirectory() as folder:
        bench = prepared(Path(folder), n_documents, random.Random(seed))
        rows = []
        for row in faults(bench, kills, tries):
            rows.append(row)
            typer.echo(asdict(row), err=True)
            if json_file is not None:
                json_file.parent.mkdir(parents=True, exist_ok=True)
                json_file.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n")
        bench.errors.close()
    show(rows, n_documents)
    if any(row.lost or row.doubled or row.different for row in rows):
        raise typer.Exit(1)


def faults(bench: Bench, kills: int, tries: int) -> Iterator[Row]:
    """What each fault costs, one after the other."""
    yield killed(bench, kills)
    yield command_killed(bench, tries, "--n-process", "2")
    yield worker_killed(bench, tries, "worker process")
    yield worker_killed(bench, tries, "Dask worker", "--engine", "dask")
    yield full_disk(bench, tries)
    yield bad_bytes(bench, tries)
    yield bad_documents(bench, tries)


def show(rows: Sequence[Row], n_documents: int) -> None:
    """Print the table."""
    table = Table(title=f"Faults, {n_documents} documents a run")
    for name in ("fault", "tried", "documents", "lost", "doubled", "files that differ"):
        table.add_column(name, justify="left" if name == "fault" else "right")
    for row in rows:
        numbers = (row.tried, row.documents, row.lost, row.doubled, row.different)
        table.add_row(row.fault, *(f"{number:,}" for number in numbers))
    Console().print(table)


if __name__ == "__main__":
    typer.run(main)
