import json
import sqlite3
from contextlib import closing

from hypothesis import given, settings
from hypothesis import strategies as st
from streaming import made

from spacy_klsh.streaming.sqlite_sink import write_sqlite


def query(path, sql):
    with closing(sqlite3.connect(path)) as database:
        return database.execute(sql).fetchall()


def test_sqlite_is_queried_at_once(tmp_path):
    path = tmp_path / "a.sqlite"
    write_sqlite(made.RECORDS, path)
    rows = query(path, "SELECT head, tail, score FROM triples WHERE label = 'FOUNDED'")
    assert rows == [('Ada "Park"', "the firm\nLumen 🧬", 0.8712)]
    assert query(path, "SELECT id, text FROM documents ORDER BY number") == [
        (record["id"], record["text"]) for record in made.RECORDS
    ]
    (((fields,)),) = query(path, "SELECT fields FROM documents WHERE number = 1")
    assert json.loads(fields) == {"year": 2001, "tags": made.ADA["tags"]}
    covered = 'substr(documents.text, "start" + 1, "end" - "start")'
    joined = "entities JOIN documents ON document = documents.number"
    assert query(path, f"SELECT count(*) FROM {joined} WHERE {covered} = entities.text") == [(7,)]
    assert query(path, "SELECT evidence FROM relations WHERE evidence NOT NULL") == []
    assert query(path, "PRAGMA integrity_check") == [("ok",)]
    assert query(path, "PRAGMA foreign_key_check") == []


@settings(max_examples=30, deadline=None)
@given(records=st.lists(made.records(), max_size=3))
def test_sqlite_has_the_triples_of_the_table(tmp_path_factory, records):
    path = tmp_path_factory.mktemp("sqlite") / "a.sqlite"
    write_sqlite(records, path)
    columns = (
        "document, head, label, coalesce(tail, ''), score, head_label, coalesce(tail_label, '')"
    )
    columns += ", head_role, coalesce(tail_role, '')"
    found = query(path, f"SELECT {columns} FROM triples")
    expected = [
        (*row[:4], float(row[4]), *row[5:7], *row[11:13]) for row in made.naive_rows(records)
    ]
    flat = [
        tuple(" ".join(v.split()) if i in (1, 3) else v for i, v in enumerate(r)) for r in found
    ]
    assert sorted(flat) == sorted(expected)


def test_queries_use_the_indexes(tmp_path):
    path = tmp_path / "a.sqlite"
    write_sqlite(made.RECORDS, path)
    plan_of = query(path, "EXPLAIN QUERY PLAN SELECT head, tail FROM triples WHERE label = 'X'")
    steps = " ".join(step[-1] for step in plan_of)
    assert "relations_by_label" in steps and "SCAN" not in steps


def test_evidence_is_kept(tmp_path):
    write_sqlite([made.WITH_EVIDENCE], tmp_path / "a.sqlite")
    (found,), (nothing,) = query(tmp_path / "a.sqlite", "SELECT evidence FROM relations")
    assert json.loads(found) == made.WHY and nothing is None
