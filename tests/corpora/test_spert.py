import json
from collections import Counter

import pytest
import spacy
from spacy.tokenizer import Tokenizer

from spacy_klsh.corpora.spert import read_spert

TOKENS = ["Ada", "Q.", "Park", "runs", "e.g.Lumen-like", "in", "Bergen", "."]
ENTITIES = [
    {"type": "Peop", "start": 0, "end": 3},
    {"type": "Org", "start": 4, "end": 5},
    {"type": "Loc", "start": 6, "end": 7},
]
TAGS = ["B-Peop", "I-Peop", "L-Peop", "O", "U-Org", "O", "U-Loc", "O"]
RELATIONS = [
    {"type": "Work_For", "head": 0, "tail": 1},
    {"type": "Located_In", "head": 2, "tail": 1},
]
SENTENCE = {"tokens": TOKENS, "entities": ENTITIES, "relations": RELATIONS, "orig_id": 17}


def changed(**keys):
    return {**SENTENCE, **keys}


def tagged(*tags):
    return {"tokens": TOKENS[: len(tags)], "tags": list(tags)}


@pytest.fixture
def read(nlp, write):
    def read(data, **options):
        text = data if isinstance(data, str | bytes) else json.dumps(data)
        return read_spert(write("x.json", text, end=b""), nlp, **options)

    return read


@pytest.mark.parametrize("given", [{}, {"entities": ENTITIES}])
def test_entities_or_tags(read, given):
    (doc,), report = read(
        [{"tokens": TOKENS, "tags": TAGS, "relations": RELATIONS, "orig_id": "s1", **given}]
    )
    assert doc.text == "Ada Q. Park runs e.g.Lumen-like in Bergen ." and len(list(doc.sents)) == 1
    spans = [(span.text, span.label_) for span in doc.ents]
    assert spans == [("Ada Q. Park", "Peop"), ("e.g.Lumen-like", "Org"), ("Bergen", "Loc")]
    assert [(r.label, r.head.text, r.tail.text) for r in doc._.relations] == [
        ("Work_For", "Ada Q. Park", "e.g.Lumen-like"),
        ("Located_In", "Bergen", "e.g.Lumen-like"),
    ]
    assert doc.user_data["id"] == "s1" and report.ok and not report.changes


def test_a_tokenizer_of_spaces_keeps_the_tokens(write):
    nlp = spacy.blank("en")
    path = write("x.json", json.dumps([SENTENCE]))
    (doc,), _ = read_spert(path, nlp)
    assert [token.text for token in doc] != TOKENS
    nlp.tokenizer = Tokenizer(nlp.vocab)
    (doc,), _ = read_spert(path, nlp)
    assert [token.text for token in doc] == TOKENS


def test_ids_and_empty_files(read):
    docs, report = read('\ufeff [\n{"tokens": []},\r\n\n{"tokens": ["x"], "tags": ["O"]}]\n')
    assert report.errors == {"bad_sentences": 1}  # neither entities nor tags
    assert docs[0].user_data["id"].endswith("x.json:4: sentence 2")
    assert read("[ ]\n")[1].errors == {"no_documents": 1}
    docs, report = read('[{"tokens": [], "tags": []}]')
    assert [len(doc) for doc in docs] == [0] and report.ok


@pytest.mark.parametrize(
    ("sentence", "message"),
    [
        (7, "it is 7; expected an object"),
        ({}, "tokens is missing; expected a list"),
        (changed(tokens=["a", 3]), "tokens[1] is 3; expected a string"),
        (changed(tokens=["a", ""]), "tokens[1] is empty; expected a word"),
        ({"tokens": ["a"]}, "tags is missing; expected a list"),
        (
            changed(entities=[{**ENTITIES[0], "end": 9}]),
            "end 9; expected 0 <= start < end <= 8, the",
        ),
        (
            changed(entities=[{**ENTITIES[0], "end": 0}]),
            "entities[0].start is 0 and end 0; expected",
        ),
        (changed(entities=[{**ENTITIES[0], "type": ""}]), "entities[0].type is empty"),
        (
            changed(relations=[{**RELATIONS[0], "tail": 3}]),
            "relations[0].tail is 3; expected a row",
        ),
        (
            changed(relations=[{**RELATIONS[0], "head": -1}]),
            "relations[0].head is -1; expected a row",
        ),
        (changed(relations=[{"head": 0, "tail": 1}]), "relations[0].type is missing"),
        ({"tokens": ["a", "b"], "tags": ["O"]}, "1 tags; expected one for each of the 2 tokens"),
        (tagged("B-X", "O"), "tags[1] is 'O' after ['B-X']; expected BILOU tags"),
        (tagged("B-X", "L-Y"), "tags[1] is 'L-Y'"),
        (tagged("B-X", "I-X"), "tags[2] is 'O' after ['I-X']"),
        (tagged("B-X", "B-X"), "tags[1] is 'B-X'"),
        (tagged("I-X"), "tags[0] is 'I-X' after []"),
        (tagged("O", "L-X"), "tags[1] is 'L-X'"),
        (tagged("U-"), "tags[0] is 'U-'"),
        (tagged("S-X"), "tags[0] is 'S-X'"),
        (tagged(""), "tags[0] is ''"),
    ],
)
def test_a_bad_sentence_does_not_spoil_the_others(read, sentence, message):
    docs, report = read([SENTENCE, sentence, SENTENCE])
    assert [len(doc._.relations) for doc in docs] == [2, 2]
    assert report.errors == {"bad_sentences": 1}
    (example,) = report.examples["bad_sentences"]
    assert "x.json:1: sentence 2: " in example and message in example


def test_undecodable_bytes_spoil_one_sentence(read):
    data = json.dumps([SENTENCE, changed(tokens=["?"] * 8), SENTENCE]).encode()
    docs, report = read(data.replace(b"?", b"\xff", 1))
    assert len(docs) == 2 and report.errors == {"bad_sentences": 1}
    assert "or a byte that is not UTF-8" in str(report)


@pytest.mark.parametrize(("cut", "n_docs"), [(-1, 2), (-9, 1), (5, 0), (1, 0), (0, 0)])
def test_truncated_files(read, cut, n_docs):
    docs, report = read(json.dumps([SENTENCE, SENTENCE])[:cut])
    assert len(docs) == n_docs and report.errors == {"broken_files": 1}


@pytest.mark.parametrize(
    ("text", "n_docs"),
    [
        ('{"tokens": []}', 0),
        ("[" * 100_000, 0),
        ('[{"tokens": [], "tags": []} {"tokens": [], "tags": []}]', 1),
        ('[{"tokens": [], "tags": []}] x', 1),
        ('[{"tokens": [], "tags": []},]', 1),
    ],
)
def test_files_that_are_no_list(read, text, n_docs):
    docs, report = read(text)
    assert len(docs) == n_docs and report.errors == {"broken_files": 1}
    assert "expected one list of objects" in str(report)


def test_a_missing_file(nlp, tmp_path):
    with pytest.raises(FileNotFoundError):
        read_spert(tmp_path / "none.json", nlp)


LABELS = ("Live_In", "OrgBased_In", "Work_For", "Located_In", "Kill")


@pytest.mark.parametrize(
    ("part", "n_docs", "n_entities", "n_relations"),
    [
        ("train", 922, 3377, (330, 271, 256, 247, 179)),
        ("dev", 231, 893, (91, 76, 69, 65, 42)),
        ("test", 288, 1079, (100, 105, 76, 94, 47)),
        ("train_dev", 1153, 4270, (421, 347, 325, 312, 221)),
    ],
)
def test_conll04(corpus, nlp, part, n_docs, n_entities, n_relations):
    path = corpus("conll04") / "spert-json" / f"conll04_{part}.json"
    docs, report = read_spert(path, nlp)
    assert report.ok and len(docs) == report.sentences == n_docs
    assert sum(len(doc.ents) for doc in docs) == report.mentions.total() == n_entities
    assert report.relations == dict(zip(LABELS, n_relations, strict=True))
    assert Counter(r.label for doc in docs for r in doc._.relations) == report.relations
    assert set(report.changes) <= {"split_mentions"}
