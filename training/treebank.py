"""CRAFT's trees as .spacy files, from which the tagger and parser of a pipeline learn.

CRAFT (Verspoor et al. 2012) labels dependencies as spaCy's English models do.
"""

from __future__ import annotations

import logging
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from spacy.tokens import Doc, DocBin
from spacy.training.converters import conllu_to_docs

PARTS = ("train", "dev")
N_SENTENCES = 10  # in a Doc: the parser learns where sentences begin


def main(
    corpora: Annotated[Path, typer.Argument(help="Folder with treebanks/craft/.")],
    output: Annotated[Path, typer.Option(help="Where craft_train.spacy and so on go.")],
) -> None:
    """Convert the articles of each part."""
    folder = corpora / "treebanks" / "craft"
    articles = read(folder / "craft-conllu.tar.gz")
    output.mkdir(parents=True, exist_ok=True)
    for part in PARTS:
        numbers = sorted((folder / f"craft-ids-{part}.txt").read_text("utf-8").split())
        docs = [doc for number in numbers for doc in converted(articles[number])]
        DocBin(docs=docs).to_disk(output / f"craft_{part}.spacy")
        logging.info("%s: %d articles in %d Docs", part, len(numbers), len(docs))


def read(path: Path) -> dict[str, str]:
    """The CoNLL-U of each article of the archive, by its number."""
    with tarfile.open(path) as archive:
        files = [member for member in archive.getmembers() if member.name.endswith(".conllu")]
        return {
            Path(member.name).stem: archive.extractfile(member).read().decode("utf-8")
            for member in files
        }


def converted(conllu: str) -> Iterator[Doc]:
    """Docs of `N_SENTENCES` sentences each."""
    return conllu_to_docs(conllu, n_sents=N_SENTENCES, no_print=True)


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    typer.run(main)
