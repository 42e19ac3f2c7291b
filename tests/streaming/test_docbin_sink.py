import json

import spacy
from spacy.tokens import DocBin
from streaming import made

from spacy_klsh.streaming.docbin_sink import write_docbin

NLP = spacy.blank("en")


def test_docbin_reads_back(tmp_path):
    write_docbin(made.RECORDS, tmp_path / "a.spacy")
    docs = list(DocBin().from_disk(tmp_path / "a.spacy").get_docs(NLP.vocab))
    assert [doc.text for doc in docs] == [record["text"] for record in made.RECORDS]
    assert [doc.user_data["id"] for doc in docs] == [record["id"] for record in made.RECORDS]
    assert [made.found_in(doc) for doc in docs] == [
        made.expected_of(record) for record in made.RECORDS
    ]
    assert [relation.score for relation in docs[0]._.relations] == [0.8712, 1.0]
    assert json.loads(docs[0].user_data["fields"]) == {"year": 2001, "tags": made.ADA["tags"]}
    assert "fields" not in docs[1].user_data
    assert [ent.id_ for ent in docs[0].ents] == ["", "Q1", ""]


def test_a_docbin_takes_long_texts_and_other_languages(tmp_path):
    record = {**made.EMPTY, "text": "c'est" + " " * 1_000_001}
    write_docbin([record], tmp_path / "a.spacy", lang="fr")
    (doc,) = DocBin().from_disk(tmp_path / "a.spacy").get_docs(NLP.vocab)
    assert doc.text == record["text"] and doc[0].text == "c'"


def test_entities_that_no_doc_can_have_are_reported(tmp_path, caplog):
    entities = [{"start": 0, "end": 1, "label": "X"}, {"start": 1, "end": 2, "label": "Y"}]
    relations = [{"label": "R", "head": 0, "tail": 1, "score": 1.0}]
    record = {"id": "a", "text": "a b", "entities": entities, "relations": relations}
    write_docbin([record], tmp_path / "a.spacy")
    assert "a.spacy: 1 lost mentions" in caplog.text and "1 lost relations" in caplog.text
