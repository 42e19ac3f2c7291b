"""How long it takes to read all of ChemProt, beside parsing it."""

from __future__ import annotations

from pathlib import Path
from time import process_time

import spacy
from benchmark_kernel import BASE
from public import CORPORA


def convert(corpora: Path) -> dict[str, float]:
    """Processor seconds for the documents of all parts.

    ``convert_s`` is reading them to Docs with entities and relations, tokens split where
    entities begin or end, ``parse_s`` the whole base pipeline on the same texts.
    """
    nlp = spacy.load(BASE)
    begin = process_time()
    splits, _ = CORPORA["chemprot"].splits(corpora, nlp)
    converted = process_time()
    texts = [doc.text for docs in splits.values() for doc in docs]
    for _ in nlp.pipe(texts):
        pass
    parsed = process_time()
    return {
        "convert_s": converted - begin,
        "parse_s": parsed - converted,
        "share": (converted - begin) / (parsed - converted),
        "n_documents": len(texts),
    }
