"""One configuration of a search, tried in a process of its own or in this one."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from statistics import mean
from typing import Any

import spacy
from baselines import read
from choose import folds, scores
from settings import overridden
from spacy.language import Language
from spacy.tokens import Doc

from spacy_klsh import register_extensions

NAME = "klsh_relations"
TRAINING = ("optimize", "objective", "unlabelled")  # of [initialize.components.klsh_relations]

Row = dict[str, Any]


@cache
def loaded(base: str, data: str) -> tuple[Language, list[Doc]]:
    """The pipeline and the parsed Docs, once a process."""
    register_extensions()
    nlp = spacy.load(base, exclude=["ner"])
    return nlp, read(nlp, Path(data))


def split(block: Row, training: Row, settings: Row) -> tuple[Row, Row]:
    """Config of the component, and what its `initialize` takes."""
    given = {name: value for name, value in block.items() if name != "factory"}
    own = {name: value for name, value in settings.items() if name not in TRAINING}
    later = {name: value for name, value in settings.items() if name in TRAINING}
    return overridden(given, own), {**training, **later}


def tried(base: str, data: str, block: Row, training: Row, settings: Row, seed: int) -> Row:
    """Micro F1 of one configuration: the mean of five folds, each trained and thresholded anew."""
    nlp, docs = loaded(base, data)
    config, later = split(block, training, settings)
    config["seed"] = seed
    runs = [scores(nlp, docs, fold, config, **later)[0] for fold in folds(len(docs), seed)]
    return {"settings": settings, "f1": mean(runs), "folds": runs}
