"""Public corpora: where their files are, what becomes of them, and how they are usually scored."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import bionlp
import spacy
import typer
from spacy.language import Language
from spacy.tokens import Doc, DocBin

from spacy_klsh import Relation
from spacy_klsh.corpora.chemprot import read_chemprot
from spacy_klsh.corpora.interaction_xml import read_interaction_xml
from spacy_klsh.corpora.prodigy import read_prodigy
from spacy_klsh.corpora.report import Report
from spacy_klsh.corpora.semeval import read_semeval
from spacy_klsh.corpora.spert import read_spert
from spacy_klsh.corpora.standoff import read_bionlp

Reader = Callable[[list[Path], Language], tuple[list[Doc], Report]]
Splits = dict[str, list[Doc]]

TUTORIAL_LABELS = {"Pos-Reg": "Regulates", "Neg-Reg": "Regulates", "Reg": "Regulates"}


@dataclass(frozen=True)
class Corpus:
    """A corpus with its official split.

    Parameters
    ----------
    read : callable
        A reader of `spacy_klsh.corpora` with its options.
    files : mapping of part to list of str
        What is read for ``train`` and ``test``, below the folder of the corpora or, if there
        are any, below the unpacked `archives`.
    settings : mapping
        Of klsh_relations, where they are not the defaults.
    archives : list of str
    prepare : callable
        What is done with the Docs of all parts in the end.
    score : str
        The usual measure: a key of the component's scores.
    """

    read: Reader
    files: Mapping[str, Sequence[str]]
    settings: Mapping[str, Any]
    archives: Sequence[str] = ()
    prepare: Callable[[Splits], Splits] = field(default=lambda splits: splits)
    score: str = "rel_micro_f"

    def splits(self, corpora: Path, nlp: Language) -> tuple[Splits, dict[str, Report]]:
        """Docs of each part, not parsed, and the reports of reading them."""
        with TemporaryDirectory() as folder:
            for archive in self.archives:
                shutil.unpack_archive(corpora / archive, folder)
            root = Path(folder) if self.archives else corpora
            found = {
                part: self.read([root / path for path in paths], nlp)
                for part, paths in self.files.items()
            }
        reports = {part: report for part, (_, report) in found.items()}
        for report in reports.values():
            for places in report.examples.values():  # as they are called in the archive
                places[:] = [place.replace(f"{folder}/", "") for place in places]
        return self.prepare({part: docs for part, (docs, _) in found.items()}), reports


def _pairs(*pairs: tuple[str, str]) -> dict[str, Any]:
    return {
        "@misc": "spacy-klsh.entity_pairs.v1",
        "spans_key": "entities",
        "entity_pairs": [list(pair) for pair in pairs],
    }


def _article_split(splits: Splits) -> Splits:
    """The tutorial's own split, by the last digit of the article: 4 dev, 3 test."""
    (docs,) = splits.values()
    parts: Splits = {"train": [], "dev": [], "test": []}
    for doc in docs:
        doc._.relations = [
            Relation(TUTORIAL_LABELS.get(r.label, r.label), arguments=r.arguments)
            for r in doc._.relations
        ]
        article = doc.user_data["id"].removesuffix(".txt").split("-")[1]  # PMC-1134658-00…
        parts[{"4": "dev", "3": "test"}.get(article[-1], "train")].append(doc)
    return parts


def _interactions(splits: Splits) -> Splits:
    """Each text once and none of the test set in training; events become interactions."""
    seen = set(map(_words, splits["test"]))
    train = [doc for doc in splits["train"] if not (_words(doc) in seen or seen.add(_words(doc)))]
    for doc in (*train, *splits["test"]):
        doc._.relations = bionlp.interactions(doc)
        doc.user_data.pop("relation_ids", None)  # of the events
    return {"train": train, "test": splits["test"]}


def _words(doc: Doc) -> str:
    return " ".join(doc.text.split())  # the years differ in white space at the end


def _data(name: str, parts: Iterable[str]) -> list[str]:
    return [f"{name}/original-data/{part}" for part in parts]


CORPORA = {
    "chemprot": Corpus(
        read=read_chemprot,
        files={
            "train": ["chemprot/chemprot_training", "chemprot/chemprot_development"],
            "test": ["chemprot/chemprot_test_gs"],
        },
        settings={
            "exclusive_classes": False,
            "candidates": _pairs(("CHEMICAL", "GENE-Y"), ("CHEMICAL", "GENE-N")),
        },
    ),
    "semeval": Corpus(
        read=read_semeval,
        files={
            "train": ["semeval2010-task8/SemEval2010_task8_training/TRAIN_FILE.TXT"],
            "test": ["semeval2010-task8/SemEval2010_task8_testing_keys/TEST_FILE_FULL.TXT"],
        },
        settings={"direction": "label", "candidates": _pairs()},
        score="rel_macro_f",  # with direction, over the 9 relations: the official score
    ),
    "conll04": Corpus(
        read=read_spert,
        files={
            "train": ["conll04/spert-json/conll04_train_dev.json"],
            "test": ["conll04/spert-json/conll04_test.json"],
        },
        settings={"candidates": _pairs()},
    ),
    "ddi": Corpus(
        read=partial(read_interaction_xml, default_label="int"),
        archives=["ddi2013/DDICorpus-2013.zip"],
        files={
            "train": ["DDICorpus/Train"],
            "test": ["DDICorpus/Test/Test for DDI Extraction task"],
        },
        settings={"direction": "none", "candidates": _pairs()},
    ),
    "bionlp": Corpus(
        read=read_bionlp,
        archives=[
            "bionlp-ge/bionlp-st-2009.tar.gz",
            "bionlp-ge/bionlp-st-2011-ge.tar.gz",
            "bionlp-ge/bionlp-st-2013-ge.tar.gz",
        ],
        files={
            "train": [
                *_data("bionlp-st-2009", ["train"]),
                *_data("bionlp-st-2011-ge", ["train"]),
                *_data("bionlp-st-2013-ge", ["train"]),
            ],
            "test": _data("bionlp-st-2013-ge", ["devel"]),
        },
        settings={"candidates": bionlp.CANDIDATES},
        prepare=_interactions,
    ),
    "rel_tutorial": Corpus(
        read=read_prodigy,
        files={"all": ["spacy-rel-component/annotations.jsonl"]},
        settings={
            "symmetric_labels": ["Binds"],
            "negative_labels": ["No-rel"],
            "candidates": _pairs(),
        },
        prepare=_article_split,
    ),
}
CORPORA["chemprot_dev"] = replace(  # to compare settings with, not to report
    CORPORA["chemprot"],
    files={
        "train": ["chemprot/chemprot_training"],
        "test": ["chemprot/chemprot_development"],
    },
)


def main(
    name: Annotated[str, typer.Argument(help=f"{', '.join(CORPORA)}.")],
    corpora: Annotated[Path, typer.Argument(help="Folder with chemprot/, ddi2013/ …")],
    output: Annotated[Path, typer.Option("--output", "-o")] = Path("corpus"),
) -> None:
    """Convert a public corpus to OUTPUT/NAME_train.spacy and so on, and say what was read.

    OUTPUT/NAME.cfg holds the component that is trained on it.
    """
    nlp, corpus = spacy.blank("en"), CORPORA[name]
    splits, reports = corpus.splits(corpora, nlp)
    nlp.add_pipe("klsh_relations", config=dict(corpus.settings))
    output.mkdir(parents=True, exist_ok=True)
    nlp.config.to_disk(output / f"{name}.cfg")
    for part, report in reports.items():
        print(f"{name}, {part}: {report}")
    for part, docs in splits.items():
        path = output / f"{name}_{part}.spacy"
        DocBin(docs=docs, store_user_data=True).to_disk(path)
        print(f"{len(docs)} documents written to {path}")


if __name__ == "__main__":
    typer.run(main)
