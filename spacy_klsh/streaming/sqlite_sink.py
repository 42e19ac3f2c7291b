"""SQLite: documents, entities and relations to be queried at once."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

from .beside import beside
from .records import Record, passed_through
from .triples import arguments_of

TABLES = """
CREATE TABLE documents (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL, text TEXT NOT NULL,
    fields TEXT NOT NULL -- JSON: what the input says else
);
CREATE TABLE entities (
    number INTEGER PRIMARY KEY, document INTEGER NOT NULL REFERENCES documents,
    "start" INTEGER NOT NULL, "end" INTEGER NOT NULL, -- characters, the end exclusive
    label TEXT NOT NULL, text TEXT NOT NULL, id TEXT NOT NULL
);
CREATE TABLE relations (
    number INTEGER PRIMARY KEY, document INTEGER NOT NULL REFERENCES documents,
    label TEXT NOT NULL, score REAL NOT NULL,
    evidence TEXT -- JSON
);
CREATE TABLE arguments (
    relation INTEGER NOT NULL REFERENCES relations, position INTEGER NOT NULL, -- from 0
    role TEXT NOT NULL, entity INTEGER NOT NULL REFERENCES entities,
    PRIMARY KEY (relation, position)
) WITHOUT ROWID;
"""
INDEXES = """
CREATE INDEX documents_by_id ON documents (id);
CREATE INDEX entities_by_document ON entities (document);
CREATE INDEX entities_by_text ON entities (text, label);
CREATE INDEX relations_by_document ON relations (document);
CREATE INDEX relations_by_label ON relations (label, score);
CREATE INDEX arguments_by_entity ON arguments (entity, relation);
CREATE VIEW triples AS
    SELECT documents.id AS document, heads.text AS head, relations.label AS label,
        tails.text AS tail, relations.score AS score, heads.label AS head_label,
        tails.label AS tail_label, first.role AS head_role, other.role AS tail_role,
        relations.number AS relation
    FROM relations
    JOIN documents ON documents.number = relations.document
    JOIN arguments AS first ON first.relation = relations.number AND first.position = 0
    JOIN entities AS heads ON heads.number = first.entity
    LEFT JOIN arguments AS other ON other.relation = relations.number AND other.position > 0
    LEFT JOIN entities AS tails ON tails.number = other.entity;
"""


def write_sqlite(records: Iterable[Record], output: Path) -> None:
    """Write a database of all records.

    Its tables are ``documents``, ``entities``, ``relations`` and ``arguments``, which joins the
    two; the view ``triples`` has those of a table of TSV, without offsets.
    """
    with beside(output) as path, closing(sqlite3.connect(path, isolation_level=None)) as database:
        # nobody sees the file before it is whole, so a crash may break it
        database.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;")
        database.executescript(TABLES)
        database.execute("BEGIN")
        n_entities = n_relations = 0
        for number, record in enumerate(records, 1):
            _insert(database, record, number, n_entities + 1, n_relations + 1)
            n_entities += len(record["entities"])
            n_relations += len(record["relations"])
        database.execute("COMMIT")
        database.executescript(INDEXES)


def _insert(
    database: sqlite3.Connection, record: Record, number: int, entity: int, relation: int
) -> None:
    """Insert a document; its entities and relations are numbered on from these."""
    text, fields = record["text"], _json(passed_through(record))
    database.execute(
        "INSERT INTO documents VALUES (?, ?, ?, ?)", (number, record["id"], text, fields)
    )
    for row, each in enumerate(record["entities"], entity):
        start, end = each["start"], each["end"]
        values = (row, number, start, end, each["label"], text[start:end], each.get("id", ""))
        database.execute("INSERT INTO entities VALUES (?, ?, ?, ?, ?, ?, ?)", values)
    for row, each in enumerate(record["relations"], relation):
        why = _json(each["evidence"]) if "evidence" in each else None
        scored = (row, number, each["label"], each["score"], why)
        database.execute("INSERT INTO relations VALUES (?, ?, ?, ?, ?)", scored)
        database.executemany(
            "INSERT INTO arguments VALUES (?, ?, ?, ?)",
            (
                (row, position, role, entity + argument)
                for position, (role, argument) in enumerate(arguments_of(each).items())
            ),
        )


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
