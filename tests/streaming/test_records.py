import json

import pytest
import spacy
import tiny

from spacy_klsh.corpora.jsonl import read_jsonl
from spacy_klsh.streaming.records import passed_through, to_record
from spacy_klsh.streaming.sources import Text

SENTENCE = tiny.sentence("{} founded {}.")


def text(fields=None):
    return Text("é", SENTENCE, "a.jsonl:1", fields or {})


def test_a_record_is_a_document_in_the_training_format(nlp, tmp_path):
    record = to_record(nlp(SENTENCE), text({"year": 2001, "deep": {"a": [None]}}))
    assert list(record) == ["id", "text", "entities", "relations", "year", "deep"]
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(record), encoding="utf-8")
    (doc,), report = read_jsonl(path, spacy.blank("en"))
    assert report.ok and doc.user_data["id"] == "é"
    assert repr(doc._.relations[0]).startswith("Relation('FOUNDED'")
    assert passed_through(record) == {"year": 2001, "deep": {"a": [None]}}


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"text": 1}, {"input_text": 1}),
        (
            {"relations": 1, "entities": 2, "id": 3},
            {"input_relations": 1, "input_entities": 2} | {"input_id": 3},
        ),
        ({"text": 1, "input_text": 2}, {"input_input_text": 1, "input_text": 2}),
    ],
)
def test_fields_called_like_ours_are_kept_by_another_name(nlp, fields, expected):
    record = to_record(nlp(SENTENCE), text(fields))
    assert passed_through(record) == expected
    assert record["text"] == SENTENCE and record["id"] == "é"


def test_evidence_on_request(nlp):
    doc = nlp(SENTENCE)
    (relation,) = to_record(doc, text(), evidence=True)["relations"]
    evidence, own = relation.pop("evidence"), doc._.relations[0].evidence
    assert str(own).startswith(evidence["path"] + "\n")
    assert evidence["path"].startswith("PERSON <-nsubj- found")
    assert max(evidence["vote"], key=evidence["vote"].get) == "FOUNDED"
    assert [near["label"] for near in evidence["nearest"]] == [near.label for near in own.nearest]
    assert all(0 < near["similarity"] <= 1 and near["path"] for near in evidence["nearest"])
    assert json.loads(json.dumps(evidence)) == evidence
    assert to_record(doc, text())["relations"] == [relation]


def test_relations_without_evidence_have_none(nlp):
    doc = nlp(SENTENCE)
    doc._.relations = doc._.relations  # as gold
    (relation,) = to_record(doc, text(), evidence=True)["relations"]
    assert "evidence" not in relation
