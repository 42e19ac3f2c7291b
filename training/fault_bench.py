"""Where faults happen: a model, a page of texts, and what comes of them without any fault."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import spacy_klsh
from spacy_klsh.streaming.checkpoint import folder_of
from spacy_klsh.streaming.engine import Settings
from spacy_klsh.streaming.options import Options, Per
from spacy_klsh.streaming.runs import Order

TEXTS = Path(__file__).parent.parent / "assets" / "demo_test.jsonl"
TASK_BYTES = 2000


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

    def order(self, output: Path) -> Order:
        """The same as the command, for this process."""
        return Order(
            *(str(self.model), [str(self.page)], Options(per=Per.line), Settings()),
            output=output,
            resume=True,
            task_bytes=TASK_BYTES,
        )

    def command(self, output: Path, *options: str) -> list[str]:
        """The command line, always ready to go on."""
        return [
            *(sys.executable, "-m", "spacy_klsh", "annotate", str(self.model), str(self.page)),
            *("--per", "line", "--task-bytes", str(TASK_BYTES)),
            *("-o", str(output), "--resume", *options),
        ]


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


def collect(bench: Bench, row: Row, output: Path, code: int) -> None:
    """Count what is in a finished output, and make room for the next."""
    if code != 0 or folder_of(output).exists():
        errors = Path(bench.errors.name).read_text("utf-8")[-2000:]
        raise RuntimeError(
            f"{row.fault}: exit code {code}, expected 0 and nothing unfinished. {errors}"
        )
    row.add(bench.expected, output.read_bytes().splitlines())
    output.unlink()
