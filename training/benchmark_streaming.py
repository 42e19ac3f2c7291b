"""How fast texts become relations: beside spaCy's own pipe, with two processes, on Dask."""

from __future__ import annotations

import csv
import gzip
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

import spacy
from spacy.language import Language

import spacy_klsh
from spacy_klsh.streaming.engine import Settings
from spacy_klsh.streaming.jobs import loaded
from spacy_klsh.streaming.options import Options, Per
from spacy_klsh.streaming.progress import Pace
from spacy_klsh.streaming.runs import Order, carry_out

N_SENTENCES, N_PIPED, REPEATS, PIPE_REPEATS = 20_000, 4_000, 1, 3
MIN_CHARACTERS = 20
ENGINES = {
    "one_process": [],
    "two_process": ["--n-process", "2"],
    "dask": ["--engine", "dask", "--n-process", "2"],
}
COUNT = "n = 0\nfor i in range(60_000_000): n += i"


def streaming(corpora: Path) -> dict[str, float]:
    """Throughput of ``annotate`` on sentences of AG News and Wikipedia with the demo model.

    ``vs_bare_pipe`` is a text file to JSONL, with relations, checkpoints and all, against
    ``nlp.pipe`` of the same components but ours, whose Docs are thrown away: documents in a
    second of processor time, medians of turns (``…_wall``: of the clock). Neither knows the
    texts from an earlier turn. The speed-ups are
    those of whole commands by the clock, loading of models included; ``control_speedup`` is
    what two processes that only count gain in the same minutes, before and after. What the
    commands would gain were nobody else at work, and no one ever waited, is
    ``…_processor_speedup``: twice the processor seconds of one process over those of all of two.
    """
    with TemporaryDirectory() as folder:
        page = Path(folder) / "page.txt"
        sentences = list(real_sentences(corpora))[:N_SENTENCES]
        page.write_text("".join(f"{sentence}\n" for sentence in sentences), encoding="utf-8")
        model = Path(folder) / "model"
        spacy_klsh.load_demo().to_disk(model)
        figures = against_pipe(model, sentences[:N_PIPED], Path(folder))
        return {**figures, **speedups(model, page, Path(folder)), "n_sentences": len(sentences)}


def real_sentences(corpora: Path) -> Iterator[str]:
    """Sentences of news and of Wikipedia, cut at full stops, those of a word or two left out."""
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    for doc in nlp.pipe(paragraphs(corpora / "text")):
        for sentence in doc.sents:
            if len(sentence.text) >= MIN_CHARACTERS:
                yield sentence.text.replace("\n", " ").strip()


def paragraphs(folder: Path) -> Iterator[str]:
    """Descriptions of news items, then lines of Wikipedia that are no headings."""
    with gzip.open(folder / "ag-news" / "test.csv.gz", "rt", encoding="utf-8", newline="") as file:
        yield from (row[2] for row in csv.reader(file))
    for name in ("valid", "test"):
        with gzip.open(folder / "wikitext-2" / f"{name}.txt.gz", "rt", encoding="utf-8") as file:
            yield from (line.strip() for line in file if not line.startswith(" ="))


def against_pipe(model: Path, sentences: list[str], folder: Path) -> dict[str, float]:
    """The command's work in this process beside spaCy's pipe, in turns."""
    page = folder / "piped.txt"
    page.write_text("".join(f"{sentence}\n" for sentence in sentences), encoding="utf-8")
    order = Order(
        *(str(model), [str(page)], Options(per=Per.line), Settings()),
        output=folder / "piped.jsonl",
        overwrite=True,
    )

    def ours() -> None:
        carry_out(order, Pace(), stream=BytesIO(), tell=lambda reject: None)

    def bare() -> tuple[float, float]:
        nlp = spacy.load(model)  # whose vocabulary has not seen the sentences
        return timed(lambda: pipe(nlp, sentences))

    ours()  # loads and compiles
    if loaded.cache_info().currsize != 1:
        raise RuntimeError("the model is loaded anew in every run; look at spacy_klsh.streaming.")
    turns = [(*bare(), *timed(ours)) for _ in range(PIPE_REPEATS)]
    bare_cpu, bare_wall, our_cpu, our_wall = map(median, zip(*turns, strict=True))
    return {
        "vs_bare_pipe": bare_cpu / our_cpu,
        "vs_bare_pipe_wall": bare_wall / our_wall,
        "bare_pipe_s": bare_cpu,
        "ours_s": our_cpu,
        "n_piped": len(sentences),
    }


def pipe(nlp: Language, sentences: list[str]) -> None:
    """What spaCy does without us."""
    for _ in nlp.pipe(sentences, disable=["klsh_relations"], batch_size=Settings().batch_size):
        pass


def timed(work: Callable[[], None]) -> tuple[float, float]:
    """Processor and clock seconds."""
    cpu, wall = process_time(), perf_counter()
    work()
    return process_time() - cpu, perf_counter() - wall


def speedups(model: Path, page: Path, folder: Path) -> dict[str, float]:
    """Whole commands by the clock, in turns, between two measurements of the control."""
    rounds = []
    for _ in range(REPEATS):
        before = control()
        turn = {}
        for name, options in ENGINES.items():
            turn[name], turn[f"{name}_cpu"] = command(model, page, folder, *options)
        rounds.append({**turn, "control": (before + control()) / 2})
    times = {name: median(turn[name] for turn in rounds) for name in rounds[0]}
    return {
        "two_process_speedup": times["one_process"] / times["two_process"],
        "dask_speedup": times["one_process"] / times["dask"],
        "control_speedup": times["control"],
        "two_process_processor_speedup": 2 * times["one_process_cpu"] / times["two_process_cpu"],
        "dask_processor_speedup": 2 * times["one_process_cpu"] / times["dask_cpu"],
        **{f"{name}_s": times[name] for name in ENGINES},
    }


def command(model: Path, page: Path, folder: Path, *options: str) -> tuple[float, float]:
    """Clock and processor seconds of the command; all engines must write the same bytes."""
    output, first = folder / "out.jsonl", folder / "first.jsonl"
    arguments = ["annotate", str(model), str(page), "--per", "line", "-o", str(output), *options]
    begin, before = perf_counter(), os.times()
    subprocess.run([sys.executable, "-m", "spacy_klsh", *arguments, "--quiet"], check=True)
    seconds, after = perf_counter() - begin, os.times()
    if first.exists() and first.read_bytes() != output.read_bytes():
        raise RuntimeError(f"{options} wrote other bytes than one process.")
    output.replace(first)
    cpu = after.children_user + after.children_system
    return seconds, cpu - before.children_user - before.children_system


def control() -> float:
    """How much more two processes that only count get done than one."""
    times = []
    for n in (1, 2):
        begin = perf_counter()
        processes = [subprocess.Popen([sys.executable, "-c", COUNT]) for _ in range(n)]
        if any(process.wait() for process in processes):
            raise RuntimeError("the control does not run.")
        times.append(perf_counter() - begin)
    return 2 * times[0] / times[1]
