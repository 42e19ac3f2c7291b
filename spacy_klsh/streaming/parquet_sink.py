"""Parquet: a row a document, its entities and relations in nested columns."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .beside import beside
from .records import Record, passed_through
from .triples import arguments_of

if TYPE_CHECKING:
    import pyarrow

GROUP_ROWS = 10_000
GROUP_CHARACTERS = 2**26


def write_parquet(records: Iterable[Record], output: Path) -> None:
    """Write all records, 10,000 to a row group, fewer of long texts.

    Columns are ``id``, ``text``, ``fields`` (JSON of what was passed through), ``entities``, which
    have start, end, label, text and id, and ``relations``, which have label, score, arguments and
    evidence (JSON). An argument is a role, a row of ``entities``, and the label and text there.
    """
    import pyarrow
    import pyarrow.parquet

    schema = _schema()
    with (
        beside(output) as path,
        pyarrow.parquet.ParquetWriter(path, schema, compression="zstd") as writer,
    ):
        for group in _groups(records):
            writer.write_table(pyarrow.Table.from_pylist(group, schema))


def _groups(records: Iterable[Record]) -> Iterator[list[dict[str, Any]]]:
    group: list[dict[str, Any]] = []
    n_characters = 0
    for record in records:
        group.append(_row(record))
        n_characters += len(record["text"])
        if len(group) == GROUP_ROWS or n_characters >= GROUP_CHARACTERS:
            yield group
            group, n_characters = [], 0
    if group:
        yield group


def _schema() -> pyarrow.Schema:
    from pyarrow import float64, int64, list_, schema, string, struct

    entity = {"start": int64(), "end": int64(), "label": string(), "text": string(), "id": string()}
    argument = {"role": string(), "entity": int64(), "label": string(), "text": string()}
    relation = {
        "label": string(),
        "score": float64(),
        "arguments": list_(struct(argument)),
        "evidence": string(),
    }
    return schema(
        {
            "id": string(),
            "text": string(),
            "fields": string(),
            "entities": list_(struct(entity)),
            "relations": list_(struct(relation)),
        }
    )


def _row(record: Record) -> dict[str, Any]:
    text = record["text"]
    entities = [
        {"id": "", **entity, "text": text[entity["start"] : entity["end"]]}
        for entity in record["entities"]
    ]
    relations = []
    for relation in record["relations"]:
        arguments = [
            {"role": role, "entity": row, **{key: entities[row][key] for key in ("label", "text")}}
            for role, row in arguments_of(relation).items()
        ]
        why = (
            json.dumps(relation["evidence"], ensure_ascii=False) if "evidence" in relation else None
        )
        relations.append({**relation, "arguments": arguments, "evidence": why})
    fields = json.dumps(passed_through(record), ensure_ascii=False)
    return {**record, "fields": fields, "entities": entities, "relations": relations}
