"""What faults cost: ``annotate`` is killed, starved and fed with rubbish, and all is counted.

python training/faults.py --json metrics/faults.json
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, BinaryIO

import typer
from rich.console import Console
from rich.table import Table
from spacy.language import Language
from spacy.tokens import Doc

import spacy_klsh
from spacy_klsh.streaming.checkpoint import folder_of, rejects_of
from spacy_klsh.streaming.engine import Settings
from spacy_klsh.streaming.options import Options, Per
from spacy_klsh.streaming.progress import Pace
from spacy_klsh.streaming.runs import Order, carry_out

TEXTS = Path(__file__).parent.parent / "assets" / "demo_test.jsonl"
TASK_BYTES = 2000
MARK = "Unspeakable"


@dataclass
class Row:
    """A fault: how often it was tried, and what it did to the documents of all tries."""

    fault: str
    tried: int = 0
    documents: int = 0
    lost: int = 0
    doubled: int = 0
    different: int = 0

    def add(self, expected: Sequence[bytes], found: Sequence[bytes]) -> None:
        """Compare lines of a finished output with those of a run without faults."""
        wanted, there = Counter(expected), Counter(found)
        self.documents += len(expected)
        self.lost += (wanted - there).total()
        self.doubled += sum(there[line] - n for line, n in wanted.items() if there[line] > n)
        self.different += list(expected) != list(found)


@dataclass(frozen=True)
class Bench:
    """Where it happens: a model, a page of texts, and what comes of them without faults."""

    folder: Path
    model: Path
    page: Path
    expected: tuple[bytes, ...]
    seconds: float
    rng: random.Random
    errors: BinaryIO

    def command(self, output: Path, *options: str) -> list[str]:
        """The command line, always ready to go on."""
        return [
            *(sys.executable, "-m", "spacy_klsh", "annotate", str(self.model), str(self.page)),
            *("--per", "line", "--task-bytes", str(TASK_BYTES)),
            *("-o", str(output), "--resume", *options),
        ]


@Language.component("speechless")
def speechless(doc: Doc) -> Doc:
    """Fails on documents with a word."""
    if MARK in doc.text:
        raise RuntimeError("there is no word for it")
    return doc


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
    yield killed(bench, kills, "--n-process", "2")
    yield worker_killed(bench, tries, "worker process")
    yield worker_killed(bench, tries, "Dask worker", "--engine", "dask")
    yield full_disk(bench, tries)
    yield bad_bytes(bench, tries)
    yield bad_documents(bench, tries)


def prepared(folder: Path, n_documents: int, rng: random.Random) -> Bench:
    """A run without faults, and all that others need."""
    nlp = spacy_klsh.load_demo()
    nlp.to_disk(folder / "model")
    texts = [json.loads(line)["text"] for line in TEXTS.read_text("utf-8").splitlines()]
    lines = [texts[i % len(texts)].replace("\n", " ") for i in range(n_documents)]
    page = folder / "page.txt"
    page.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    errors = (folder / "stderr.txt").open("wb")
    bench = Bench(folder, folder / "model", page, (), 0.0, rng, errors)
    begin = time.monotonic()
    subprocess.run(bench.command(folder / "whole.jsonl"), stderr=errors, check=True)
    seconds = time.monotonic() - begin
    expected = tuple((folder / "whole.jsonl").read_bytes().splitlines())
    if len(expected) != n_documents:
        raise RuntimeError(f"{len(expected)} of {n_documents} documents without any fault.")
    return Bench(folder, folder / "model", page, expected, seconds, rng, errors)


def killed(bench: Bench, n_kills: int, *options: str) -> Row:
    """Kill the command at random moments, and resume it each time."""
    row = Row(" ".join(["kill -9", *options]))
    output = bench.folder / "killed.jsonl"
    while row.tried < n_kills:
        process = subprocess.Popen(bench.command(output, *options), stderr=bench.errors)
        try:
            process.wait(bench.rng.uniform(0, bench.seconds))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            row.tried += 1
        else:
            collect(bench, row, output, process.returncode)
    last = subprocess.run(bench.command(output, *options), stderr=bench.errors)
    collect(bench, row, output, last.returncode)
    return row


def worker_killed(bench: Bench, n_tries: int, name: str, *options: str) -> Row:
    """Kill one of two workers at a random moment; the command must end well by itself."""
    row = Row(f"kill -9 of a {name}")
    output = bench.folder / "worker.jsonl"
    while row.tried < n_tries:
        command = bench.command(output, "--n-process", "2", *options)
        process = subprocess.Popen(command, stderr=bench.errors)
        moment = time.monotonic() + bench.rng.uniform(0, bench.seconds)
        while process.poll() is None and (time.monotonic() < moment or not workers(process.pid)):
            time.sleep(0.02)
        victims = workers(process.pid) if process.poll() is None else []
        if victims:
            os.kill(bench.rng.choice(victims), signal.SIGKILL)
            row.tried += 1
        collect(bench, row, output, process.wait())
    return row


def workers(pid: int) -> list[int]:
    """Process ids of the spawned children of a process (on Linux), none when it has ended."""
    found = []
    try:
        for file in Path(f"/proc/{pid}/task").glob("*/children"):
            for child in file.read_text().split():
                if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes():
                    found.append(int(child))
    except OSError:  # something ended meanwhile
        return []
    return found


def collect(bench: Bench, row: Row, output: Path, code: int) -> None:
    """Count what is in a finished output, and make room for the next."""
    if code != 0 or folder_of(output).exists():
        errors = Path(bench.errors.name).read_text("utf-8")[-2000:]
        raise RuntimeError(
            f"{row.fault}: exit code {code}, expected 0 and nothing unfinished. {errors}"
        )
    row.add(bench.expected, output.read_bytes().splitlines())
    output.unlink()


def full_disk(bench: Bench, n_tries: int) -> Row:
    """Let the disk be too small at a random size, make room, and resume."""
    row = Row("full disk (tmpfs)")
    needed = len(b"\n".join(bench.expected))
    while row.tried < n_tries:
        with disk(bench.folder / "disk", int(bench.rng.uniform(0.05, 0.95) * needed)) as grow:
            output = bench.folder / "disk" / "out.jsonl"
            result = subprocess.run(bench.command(output), stderr=subprocess.PIPE, text=True)
            if result.returncode != 1 or "No space left" not in result.stderr:
                raise RuntimeError(f"exit code {result.returncode} on a full disk: {result.stderr}")
            row.tried += 1
            grow(10 * needed)
            again = subprocess.run(bench.command(output), stderr=bench.errors)
            collect(bench, row, output, again.returncode)
    return row


@contextmanager
def disk(folder: Path, n_bytes: int) -> Iterator[Callable[[int], None]]:
    """A disk of so many bytes, and what makes it grow; only root can do that."""
    folder.mkdir(exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={n_bytes}", "tmpfs", folder], check=True)
    try:
        yield lambda n: subprocess.run(["mount", "-o", f"remount,size={n}", folder], check=True)
    finally:
        subprocess.run(["umount", folder], check=True)


def bad_bytes(bench: Bench, n_tries: int) -> Row:
    """Put bytes that are no UTF-8 into random lines: these are rejected, all others are found.

    They are no byte order mark, with which a file says that it is something else.
    """
    row = Row("bad bytes")
    for _ in range(n_tries):
        compare_spoilt(bench, row, bench.model, b"\x80\xff %s")
        row.tried += 1
    return row


def bad_documents(bench: Bench, n_tries: int) -> Row:
    """Let a component in the middle of the pipeline fail on random documents."""
    row = Row("bad documents")
    nlp = spacy_klsh.load_demo()
    nlp.add_pipe("speechless", before="parser")
    nlp.to_disk(bench.folder / "speechless")
    for _ in range(n_tries):
        compare_spoilt(bench, row, bench.folder / "speechless", f"{MARK} %s".encode())
        row.tried += 1
    return row


def compare_spoilt(bench: Bench, row: Row, model: Path, pattern: bytes) -> None:
    """Spoil random lines: they must be among the rejects, all others as they were."""
    lines = bench.page.read_bytes().splitlines()
    spoilt = sorted(bench.rng.sample(range(len(lines)), bench.rng.randint(1, len(lines) // 4)))
    page = bench.folder / "spoilt" / bench.page.name
    page.parent.mkdir(exist_ok=True)
    changed = [pattern % line if i in spoilt else line for i, line in enumerate(lines)]
    page.write_bytes(b"".join(line + b"\n" for line in changed))
    output = page.with_name("out.jsonl")
    order = Order(
        *(str(model), [str(page)], Options(per=Per.line), Settings()),
        output=output,
        overwrite=True,
        task_bytes=TASK_BYTES,
    )
    carry_out(order, Pace(), stream=sys.stdout.buffer, tell=lambda reject: None)
    rejects = rejects_of(output).read_bytes().splitlines()
    places = [json.loads(line)["place"].rpartition(":")[2].encode() for line in rejects]
    found = [id_of(line) for line in output.read_bytes().splitlines()]
    wanted = [str(i + 1).encode() for i in range(len(lines))]
    row.add(wanted, sorted([*found, *places], key=int))
    good = [line for i, line in enumerate(bench.expected) if i not in spoilt]
    row.different += texts_of(good) != texts_of(output.read_bytes().splitlines())
    row.different += places != [str(i + 1).encode() for i in spoilt]


def id_of(line: bytes) -> bytes:
    """The number of the line that a record is of."""
    return json.loads(line)["id"].rpartition(":")[2].encode()


def texts_of(lines: Sequence[bytes]) -> list[object]:
    """What is found in records, but for their ids."""
    return [{**json.loads(line), "id": None} for line in lines]


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
