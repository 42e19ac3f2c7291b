"""spaCy's DocBin: Docs with entities and relations, to train and evaluate with."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterable
from pathlib import Path

import spacy
from spacy.tokens import DocBin

from ..corpora.documents import to_doc
from ..corpora.fields import Fields
from ..corpora.jsonl import to_document
from ..corpora.report import Report
from .beside import beside
from .records import OURS, Record, passed_through

logger = logging.getLogger(__name__)


def write_docbin(records: Iterable[Record], output: Path, *, lang: str = "en") -> None:
    """Write all records as Docs of the tokenizer of `lang`, split where entities begin or end.

    ``doc.user_data["fields"]`` is JSON of what was passed through, if there is any. The Docs are
    in memory until the last one. Entities of white space alone are lost, and that is logged.
    """
    nlp = spacy.blank(lang)
    nlp.max_length = sys.maxsize
    report = Report()
    docs = DocBin(store_user_data=True)
    for record in records:
        ours = Fields({key: record[key] for key in OURS})
        document = to_document(ours, record["id"], report)
        if fields := passed_through(record):
            extras = {"fields": json.dumps(fields, ensure_ascii=False)}
            document = document._replace(extras=extras)
        docs.add(to_doc(document, nlp, report=report))
    for reason, n in report.changes.items():
        if reason.startswith("lost_"):
            logger.warning("%s: %d %s", output, n, reason.replace("_", " "))
    with beside(output) as path:
        docs.to_disk(path)
