"""Records: what becomes of a text, one JSON object in the training format."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from spacy.tokens import Doc

from ..corpora.jsonl import to_json
from ..pipeline.relations import DEFAULT_ATTR
from .texts import Text

OURS = ("id", "text", "entities", "relations")
PREFIX = "input_"

Record = Mapping[str, Any]


def to_record(
    doc: Doc,
    text: Text,
    attr: str = DEFAULT_ATTR,
    *,
    spans_key: str | None = None,
    evidence: bool = False,
) -> dict[str, Any]:
    """`doc` as `to_json` writes it, with the id of `text` and what else the input says about it.

    A field of the input that is called like one of ours is called ``input_text``, say.
    """
    doc.user_data["id"] = text.id
    record = to_json(doc, attr, spans_key=spans_key, evidence=evidence)
    passed = {_name(key, text.fields): value for key, value in text.fields.items()}
    return {**record, **passed}


def _name(key: str, fields: Mapping[str, Any]) -> str:
    name = key
    while name in OURS or (name != key and name in fields):
        name = PREFIX + name
    return name


def passed_through(record: Record) -> dict[str, Any]:
    """What is none of ours in `record`."""
    return {key: value for key, value in record.items() if key not in OURS}
