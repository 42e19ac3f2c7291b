"""A disk that is full, bytes that are no text, and documents that no pipeline takes."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from fault_bench import Bench, Row, collect
from spacy.language import Language
from spacy.tokens import Doc

import spacy_klsh
from spacy_klsh.streaming.checkpoint import rejects_of
from spacy_klsh.streaming.progress import Pace
from spacy_klsh.streaming.runs import carry_out

MARK = "Unspeakable"


@Language.component("speechless")
def speechless(doc: Doc) -> Doc:
    """Fails on documents with a word."""
    if MARK in doc.text:
        raise RuntimeError("there is no word for it")
    return doc


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
    order = replace(
        bench.order(output), model=str(model), inputs=[str(page)], resume=False, overwrite=True
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
