import csv
import json
import sqlite3
from contextlib import closing

import pytest
import spacy
import tiny
from spacy.tokens import DocBin

from spacy_klsh.corpora.standoff import read_brat

FOUNDED = tiny.sentence("{} founded {}.")
WORKS = tiny.sentence("{} works for {}.", 1)


@pytest.fixture
def jsonl(file):
    lines = [
        {"pmid": 7, "body": FOUNDED, "year": 2001},
        {"pmid": 8, "body": WORKS, "text": "other"},
    ]
    return file("a.jsonl", "".join(json.dumps(line) + "\n" for line in lines))


FIELDS = ("--text-field", "body", "--id-field", "pmid")


def triples_of(result):
    found = []
    for line in result.stdout.splitlines():
        document = json.loads(line)
        texts = [document["text"][e["start"] : e["end"]] for e in document["entities"]]
        for relation in document["relations"]:
            head, tail = texts[relation["head"]], texts[relation["tail"]]
            found.append((document["id"], head, relation["label"], tail, relation["score"]))
    return found


def test_fields_of_jsonl_are_chosen_and_passed_through(run, model, jsonl):
    first, second = map(json.loads, run("annotate", model, jsonl, *FIELDS).stdout.splitlines())
    assert (first["id"], first["text"], first["year"]) == ("7", FOUNDED, 2001)
    assert (second["text"], second["input_text"]) == (WORKS, "other")


def test_every_output_has_the_same_triples(run, model, jsonl, tmp_path):
    expected = triples_of(run("annotate", model, jsonl, *FIELDS))
    assert [row[:4] for row in expected] == [
        ("7", "Ada Park", "FOUNDED", "Lumen"),
        ("8", "Ben Cole", "WORKS_FOR", "Orbis"),
    ]
    outputs = [tmp_path / f"out{end}" for end in (".tsv", ".spacy", ".sqlite")]
    for output in outputs:
        result = run("annotate", model, jsonl, *FIELDS, "-o", output)
        assert "2 documents, 2 relations" in result.stderr and not result.stdout
    run("annotate", model, jsonl, *FIELDS, "--to", "brat", "-o", tmp_path / "brat")
    with outputs[0].open(encoding="utf-8", newline="") as table:
        rows = list(csv.reader(table, delimiter="\t"))[1:]
    assert [(*row[:4], float(row[4])) for row in rows] == expected
    nlp = spacy.blank("en")
    docs = list(DocBin().from_disk(outputs[1]).get_docs(nlp.vocab))
    found = [
        (doc.user_data["id"], r.head.text, r.label, r.tail.text, r.score)
        for doc in docs
        for r in doc._.relations
    ]
    assert found == expected
    with closing(sqlite3.connect(outputs[2])) as database:
        query = "SELECT document, head, label, tail, score FROM triples ORDER BY document"
        assert database.execute(query).fetchall() == expected
    docs, report = read_brat(tmp_path / "brat", nlp)
    assert report.ok and [doc.text for doc in docs] == [FOUNDED, WORKS]
    found = [(r.head.text, r.label, r.tail.text) for doc in docs for r in doc._.relations]
    assert found == [row[1:4] for row in expected]


def test_parquet(run, model, jsonl, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet", reason="the extra parquet is not installed")
    run("annotate", model, jsonl, *FIELDS, "-o", tmp_path / "a.parquet")
    rows = parquet.read_table(tmp_path / "a.parquet").to_pylist()
    assert [row["relations"][0]["label"] for row in rows] == ["FOUNDED", "WORKS_FOR"]


def test_evidence_on_request(run, model, file):
    page = file("a.txt", FOUNDED)
    plain, with_evidence = (
        json.loads(run("annotate", model, page, *options).stdout)["relations"]
        for options in ([], ["--evidence"])
    )
    assert "evidence" not in plain[0]
    assert with_evidence[0].pop("evidence")["path"].startswith("PERSON <-nsubj-")
    assert plain == with_evidence


def test_entities_of_docs_and_of_brat_are_kept(run, model, file, tmp_path):
    text = "Zoe Hart founded Xylo."
    file("a.txt", text)
    file("a.ann", "T1\tPERSON 0 8\tZoe Hart\nT2\tORG 17 21\tXylo\n")
    from_brat = triples_of(run("annotate", model, tmp_path))
    doc = spacy.blank("en")(text)
    doc.ents = [doc.char_span(0, 8, "PERSON"), doc.char_span(17, 21, "ORG")]
    DocBin(docs=[doc]).to_disk(tmp_path / "a.spacy")
    from_docs = triples_of(run("annotate", model, tmp_path / "a.spacy"))
    assert [row[1:] for row in from_brat] == [row[1:] for row in from_docs]
    assert from_brat[0][:4] == (str(tmp_path / "a.txt"), "Zoe Hart", "FOUNDED", "Xylo")
    assert from_docs[0][0] == f"{tmp_path / 'a.spacy'}:1"


def test_tables(run, model, file):
    table = file("a.csv", f'id,text\nx,"{FOUNDED}"\n')
    assert triples_of(run("annotate", model, table))[0][:2] == ("x", "Ada Park")
    table = file("b.tsv", f'1\t"{FOUNDED}\n')
    rows = triples_of(run("annotate", model, table, "--text-field", "2", "--no-quotes"))
    assert rows[0][:2] == (f"{table}:1", "Ada Park")


def test_other_encodings(run, model, file):
    page = file("a.txt", f"é {FOUNDED}".encode("cp1252"))
    assert triples_of(run("annotate", model, page, "--encoding", "cp1252"))
    result = run("annotate", model, page, "--encoding", "utf-9", exit_code=1)
    assert "encoding is 'utf-9'" in result.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-o", "a.out"], "a.out ends in none of .jsonl"),
        (["--to", "tsv"], "tsv cannot go to standard output"),
    ],
)
def test_outputs_that_cannot_be_are_an_error_at_once(run, page, options, message):
    result = run("annotate", "no/such/model", page, *options, exit_code=1)
    assert message in result.stderr


@pytest.fixture
def page(file):
    return file("page.txt", FOUNDED)
