import json

import pytest
from streaming import made

from spacy_klsh.streaming.parquet_sink import write_parquet
from spacy_klsh.streaming.records import OURS
from spacy_klsh.streaming.triples import arguments_of

parquet = pytest.importorskip("pyarrow.parquet", reason="the extra parquet is not installed")


@pytest.mark.parametrize(("rows", "characters"), [(1, 10**6), (3, 10**6), (10_000, 50)])
def test_parquet_reads_back(tmp_path, monkeypatch, rows, characters):
    monkeypatch.setattr("spacy_klsh.streaming.parquet_sink.GROUP_ROWS", rows)
    monkeypatch.setattr("spacy_klsh.streaming.parquet_sink.GROUP_CHARACTERS", characters)
    write_parquet(made.RECORDS, tmp_path / "a.parquet")
    table = parquet.read_table(tmp_path / "a.parquet")
    rows = table.to_pylist()
    for row, record in zip(rows, made.RECORDS, strict=True):
        rest = {key: value for key, value in record.items() if key not in OURS}
        assert (row["id"], row["text"], json.loads(row["fields"])) == (
            record["id"],
            record["text"],
            rest,
        )
        assert [(e["start"], e["end"], e["label"], e["id"]) for e in row["entities"]] == [
            (e["start"], e["end"], e["label"], e.get("id", "")) for e in record["entities"]
        ]
        for found, relation in zip(row["relations"], record["relations"], strict=True):
            assert (found["label"], found["score"]) == (relation["label"], relation["score"])
            assert {a["role"]: a["entity"] for a in found["arguments"]} == arguments_of(relation)
            for argument in found["arguments"]:
                entity = row["entities"][argument["entity"]]
                assert (argument["text"], argument["label"]) == (entity["text"], entity["label"])
                assert entity["text"] == row["text"][entity["start"] : entity["end"]]


def test_evidence_is_kept(tmp_path):
    write_parquet([made.WITH_EVIDENCE], tmp_path / "a.parquet")
    ((found, other),) = parquet.read_table(tmp_path / "a.parquet")["relations"].to_pylist()
    assert json.loads(found["evidence"]) == made.WHY and other["evidence"] is None
