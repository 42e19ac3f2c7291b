import gzip
import json

import pytest

from spacy_klsh.corpora.bioinfer_jsonl import read_bioinfer_jsonl

TEXT = "Loss of zorin and abc levels binds xyz."
ENTITIES = [
    {"id": "e1", "type": "Amount", "path": ["Amount"], "spans": [[8, 13], [22, 28]]}
    | {"text": "zorin levels"},
    {"id": "e2", "type": "Protein", "path": ["P", "Protein"], "spans": [[18, 21]], "text": "abc"},
    {"id": "e3", "type": "Protein", "path": ["P", "Protein"], "spans": [[35, 38]], "text": "xyz"},
]
BIND = {"id": "r1", "type": "BIND", "path": ["Causal", "Physical", "BIND"], "arg1": "e2"}
RELATIONS = [
    {**BIND, "arg2": "e3", "trigger": [[29, 34]]},
    {**BIND, "type": "CAUSE", "path": ["Causal", "CAUSE"], "arg2": "e3"},
    {**BIND, "arg2": "e1", "neg": True},
    {**BIND, "arg2": "e2", "type": "ADD", "path": ["Causal", "Change"], "arg1": "e3"},
]
LINE = {"id": "000007", "text": TEXT, "entities": ENTITIES, "relations": RELATIONS}


def with_entity(**keys):
    return {**LINE, "entities": [*ENTITIES, {**ENTITIES[1], "id": "e9", **keys}]}


def with_relation(**keys):
    return {**LINE, "relations": [{**RELATIONS[0], **keys}]}


@pytest.fixture
def read(nlp, write):
    def read(*lines, **options):
        encoded = [line if isinstance(line, bytes) else json.dumps(line) for line in lines]
        return read_bioinfer_jsonl(write("x.jsonl", *encoded), nlp, **options)

    return read


def found(doc):
    return [(r.label, r.head.id_, r.tail.id_) for r in doc._.relations]


def test_a_line_becomes_a_doc(read):
    (doc,), report = read(LINE)
    assert doc.text == TEXT and doc.user_data["id"] == "000007" and len(list(doc.sents)) == 1
    spans = [(span.id_, span.text, span.label_) for span in doc.spans["entities"]]
    assert spans == [
        ("e1", "zorin and abc levels", "Amount"),
        ("e2", "abc", "Protein"),
        ("e3", "xyz", "Protein"),
    ]
    assert [kept["pieces"] for kept in doc.user_data["pieces"]] == [[[8, 13], [22, 28]]]
    assert found(doc) == [
        ("BIND", "e2", "e3"),
        ("CAUSE", "e2", "e3"),
        ("NOT", "e2", "e1"),
        ("ADD", "e3", "e2"),
    ]
    assert report.ok and report.changes == {
        "negated_relations": 1,
        "left_out_triggers": 1,
        "discontinuous_mentions": 1,
        "nested_mentions": 1,
    }


@pytest.mark.parametrize(
    ("depth", "labels", "n_repeated"),
    [
        (1, ["Causal", "NOT", "Causal"], 1),
        (2, ["Physical", "CAUSE", "NOT", "Change"], 0),
        (9, ["BIND", "CAUSE", "NOT", "Change"], 0),
    ],
)
def test_classes_higher_up(read, depth, labels, n_repeated):
    (doc,), report = read(LINE, depth=depth)
    assert [label for label, *_ in found(doc)] == labels
    assert report.ok and report.changes["repeated_relations"] == n_repeated


def test_depth_zero(read):
    with pytest.raises(ValueError, match="depth is 0; give 1 for the top"):
        read(LINE, depth=0)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({**LINE, "id": 7}, "id is 7; expected a string"),
        ({key: LINE[key] for key in ("id", "text", "relations")}, "entities is missing"),
        (with_entity(id="e1"), "two entities have one id"),
        (with_entity(spans=[]), "entities[3].spans are ''; expected 'abc'"),
        (with_entity(spans=[[18, 22]]), "entities[3].spans are 'abc '; expected 'abc'"),
        (with_entity(spans=[[18, 40]]), "entities[3].spans[0] is [18, 40]; expected [start, end]"),
        (with_entity(spans=[[18, 18]]), "entities[3].spans[0] is [18, 18]; expected [start, end]"),
        (with_entity(spans=[[18]]), "entities[3].spans[0] is [18]; expected [start, end]"),
        (with_entity(spans=[[18, "x"]]), "entities[3].spans[0] is 'x'; expected a whole number"),
        (with_entity(spans=[18, 21]), "entities[3].spans[0] is 18; expected a list"),
        (with_entity(type=""), "entities[3].type is empty"),
        (with_entity(text=None), "entities[3].text is None; expected a string"),
        (with_relation(arg2="e7"), "relations[0].arguments name 'e7'; expected an entity's id"),
        (with_relation(arg1=None), "relations[0].arg1 is None; expected a string"),
        (with_relation(neg="no"), "relations[0].neg is 'no'; expected true or false"),
        (with_relation(type=7), "relations[0].type is 7; expected a string"),
        (b'{"id": "\xe9"}', "byte 0xe9 at position 9"),
    ],
)
def test_a_bad_line_does_not_spoil_the_others(read, line, message):
    docs, report = read(LINE, line, LINE)
    assert [len(found(doc)) for doc in docs] == [4, 4]
    assert report.errors == {"bad_lines": 1}
    (example,) = report.examples["bad_lines"]
    assert "x.jsonl:2: " in example and message in example
    assert report.changes["negated_relations"] == 2  # none of the line that was left out


def test_a_truncated_archive(nlp, tmp_path):
    path = tmp_path / "x.jsonl.gz"
    path.write_bytes(gzip.compress((json.dumps(LINE) + "\n").encode() * 50)[:-12])
    docs, report = read_bioinfer_jsonl(path, nlp)
    assert len(docs) <= 50 and report.errors["broken_files"] == 1


def test_derived_corpus(corpus, nlp):
    path = corpus("bioinfer-typed") / "derived-bioinfer-typed.jsonl.gz"
    docs, report = read_bioinfer_jsonl(path, nlp)
    assert report.ok and len(docs) == report.sentences == 1100
    assert report.mentions.total() == 5800 and report.relations.total() == 2116
    assert sum(len(doc.spans["entities"]) for doc in docs) == 5800
    assert sum(len(doc._.relations) for doc in docs) == 2116
    assert report.relations["NOT"] == report.changes["negated_relations"] == 92
    assert report.changes["discontinuous_mentions"] == 474
    assert report.changes["left_out_triggers"] == 1810
    assert not report.changes["repeated_relations"]
    top, report = read_bioinfer_jsonl(path, nlp, depth=1)
    assert report.ok and set(report.relations) == {
        *("Causal", "PART_OF", "Observation", "IS_A", "RELATE", "HUMANMADE", "COOF-HUMANMADE"),
        "NOT",
    }
    assert sum(len(doc._.relations) for doc in top) == 2116 - report.changes["repeated_relations"]
