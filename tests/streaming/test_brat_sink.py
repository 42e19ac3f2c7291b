import json

import spacy
from hypothesis import given, settings
from hypothesis import strategies as st
from streaming import made

from spacy_klsh.corpora.standoff import read_brat
from spacy_klsh.streaming.brat_sink import write_brat
from spacy_klsh.streaming.sources import plan
from spacy_klsh.streaming.triples import arguments_of

NLP = spacy.blank("en")


def as_brat_knows_it(record):
    """Labels without white space; one argument alone is a trigger."""
    relations = []
    for relation in record["relations"]:
        rows = arguments_of(relation)
        if len(rows) == 1:
            rows = dict.fromkeys(["trigger"], *rows.values())
        relations.append({"label": relation["label"].replace(" ", "_"), "arguments": rows})
    entities = [{**e, "label": e["label"].replace(" ", "_")} for e in record["entities"]]
    return {**record, "entities": entities, "relations": relations}


@settings(max_examples=30, deadline=None)
@given(records=st.lists(made.records(), max_size=3))
def test_brat_reads_back(tmp_path_factory, records):
    path = tmp_path_factory.mktemp("brat") / "a"
    write_brat(records, path)
    docs, report = read_brat(path, NLP, align="split")
    assert not report.errors or list(report.errors) == ["no_documents"]
    assert [doc.text for doc in docs] == [record["text"] for record in records]
    if not any(report.changes[reason] for reason in ("moved_mentions", "lost_mentions")):
        expected = [made.expected_of(as_brat_knows_it(record)) for record in records]
        assert [made.found_in(doc) for doc in docs] == expected


def test_brat_files(tmp_path):
    write_brat(made.RECORDS, tmp_path / "a")
    names = ["00000001-x_a.txt_1", "00000002-b", "00000003-c", "00000004-x_a.txt_1"]
    files = sorted(path.name for path in (tmp_path / "a").iterdir())
    assert files == [
        *(f"{name}{end}" for name in names for end in (".ann", ".txt")),
        "documents.json",
    ]
    text = (tmp_path / "a" / f"{names[0]}.txt").read_bytes().decode()
    assert text == made.ADA["text"]
    assert (tmp_path / "a" / f"{names[0]}.ann").read_text(encoding="utf-8").split("\n") == [
        'T1\tPERSON 0 10\tAda "Park"',
        "T2\tORG 15 31\tthe firm Lumen 🧬",
        "T3\tPERSON 33 35\tCy",
        "R1\tFOUNDED Arg1:T1 Arg2:T2",
        "#1\tAnnotatorNotes R1\tscore 0.8712",
        "R2\tKNOWS Arg1:T3 Arg2:T1",
        "#2\tAnnotatorNotes R2\tscore 1.0",
        "",
    ]
    index = json.loads((tmp_path / "a" / "documents.json").read_text(encoding="utf-8"))
    assert [index[name]["id"] for name in names] == [record["id"] for record in made.RECORDS]
    assert index[names[0]]["fields"] == {"year": 2001, "tags": made.ADA["tags"]}


def test_the_folder_can_be_annotated_again(tmp_path, caplog):
    write_brat(made.RECORDS, tmp_path / "a")
    texts = [text for shard in plan([str(tmp_path / "a")]) for text in shard.read(NLP)]
    assert [text.text for text in texts] == [record["text"] for record in made.RECORDS]
    assert "1 files end in none of" in caplog.text and "documents.json" in caplog.text


def test_no_documents_are_an_index_of_none(tmp_path):
    write_brat([], tmp_path / "a")
    assert json.loads((tmp_path / "a" / "documents.json").read_text(encoding="utf-8")) == {}


def test_events_in_brat(tmp_path):
    write_brat([made.EVENT], tmp_path / "a")
    lines = (tmp_path / "a" / "00000001-b.ann").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if line[0] in "ER"] == [
        "E1\tBinding:T1 Theme:T2 Theme2:T3",
        "E2\tGrowth:T1",
        "R3\tGroup one:T2 two:T3 three:T4",
    ]
    (doc,), _ = read_brat(tmp_path / "a", NLP)
    assert made.found_in(doc) == made.expected_of(made.EVENT)
