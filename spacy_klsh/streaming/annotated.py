"""Texts that have tokens and entities already: spaCy's DocBin, and documents of brat."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

import spacy
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from ..corpora.standoff import read_brat
from ..pipeline.readers import give_entities, untouched
from .texts import Reject, Text


def read_docbin(blocks: Iterable[bytes], source: str) -> Iterator[Text | Reject]:
    """Each Doc by its ``user_data["id"]``, else its number; tokens and entities are kept."""
    raw = b"".join(blocks)
    number = 0
    try:
        docs = DocBin().from_bytes(raw).get_docs(Vocab())  # whose strings live as long as they do
        for number, doc in enumerate(docs, 1):
            place = f"{source}:{number}"
            yield _text(doc, str(doc.user_data.get("id", place)), place)
    except Exception as error:  # of msgpack, zlib, spaCy
        place = f"{source}:{number + 1}" if number else source
        yield Reject(
            place, f"is not what DocBin writes ({error!r}); the Docs from here on are lost."
        )


def read_brat_document(path: Path, nlp: Language | None) -> Iterator[Text | Reject]:
    """The document of an ``.ann`` file and its text, and what is wrong in them.

    The tokenizer of `nlp`, else the English one, makes the tokens.
    """
    text_path = str(path.with_suffix(".txt"))
    try:
        docs, report = read_brat(path if path.is_file() else text_path, _unlimited(nlp))
    except OSError as error:
        yield Reject(str(path), f"cannot be opened ({error}); check it.")
        return
    for doc in docs:
        yield _text(doc, text_path, text_path)
    for reason in report.errors:
        for example in report.examples[reason]:
            place, _, wrong = example.partition(": ")
            yield Reject(place, wrong)


@lru_cache(maxsize=1)
def _unlimited(nlp: Language | None) -> Language:
    """The tokenizer of `nlp`, else the English one, for texts of any length."""
    bare = spacy.blank("en")
    bare.max_length = sys.maxsize
    if nlp is not None:
        bare.tokenizer = nlp.tokenizer
    return bare


def _text(reference: Doc, id: str, place: str) -> Text:
    doc = untouched(reference)
    if reference.has_annotation("ENT_IOB"):  # somebody looked for entities, if in vain
        give_entities(doc, reference)
        for key in reference.spans:
            give_entities(doc, reference, key)
    return Text(id, doc.text, place, doc=doc.to_bytes())
