import gzip

import pytest

from spacy_klsh.corpora.chemprot import read_chemprot

ABSTRACTS = ['7\tZorin "stops" Abc\tSo β-zorin, a zorin. &#8212; "It']
ENTITIES = [
    "7\tT2\tGENE-Y\t14\t17\tAbc",
    "7\tT1\tCHEMICAL\t0\t5\tZorin",
    "7\tT3\tCHEMICAL\t21\t28\tβ-zorin",
    "7\tT4\tCHEMICAL\t23\t28\tzorin",
    "7\tT5\tGENE-N\t23\t28\tzorin",
]
RELATIONS = [
    "7\tCPR:4\tY \tINHIBITOR\tArg1:T1\tArg2:T2",
    "7\tCPR:3\tY \tACTIVATOR\tArg1:T1\tArg2:T2",
    "7\tCPR:4\tY \tDOWNREGULATOR\tArg1:T1\tArg2:T2",
    "7\tCPR:10\tN \tNOT\tArg1:T4\tArg2:T5",
]


@pytest.fixture
def read(nlp, write, tmp_path):
    def read(abstracts=ABSTRACTS, entities=ENTITIES, relations=RELATIONS, **options):
        for part, lines in (
            ("abstracts", abstracts),
            ("entities", entities),
            ("relations", relations),
        ):
            write(f"corpus/x_{part}.tsv", *lines)
        return read_chemprot(tmp_path / "corpus", nlp, **options)

    return read


def found(doc):
    return [
        (relation.label, relation.head.text, relation.tail.text) for relation in doc._.relations
    ]


def test_an_abstract_becomes_a_doc(read):
    (doc,), report = read()
    assert doc.text == 'Zorin "stops" Abc So β-zorin, a zorin. &#8212; "It'
    assert doc.user_data["id"] == "7" and not doc.has_annotation("SENT_START")
    spans = [(span.id_, span.text, span.label_) for span in doc.spans["entities"]]
    assert spans == [
        ("T2", "Abc", "GENE-Y"),
        ("T1", "Zorin", "CHEMICAL"),
        ("T3", "β-zorin", "CHEMICAL"),
        ("T4", "zorin", "CHEMICAL"),
        ("T5", "zorin", "GENE-N"),
    ]
    assert report.ok and report.mentions == {"CHEMICAL": 3, "GENE-Y": 1, "GENE-N": 1}


@pytest.mark.parametrize(
    ("options", "labels", "changes"),
    [
        ({}, ["CPR:4", "CPR:3"], {"not_evaluated_relations": 1, "repeated_relations": 1}),
        ({"labels": "groups"}, ["CPR:4", "CPR:3", "CPR:10"], {"repeated_relations": 1}),
        ({"labels": "types"}, ["INHIBITOR", "ACTIVATOR", "DOWNREGULATOR", "NOT"], {}),
    ],
)
def test_groups_and_types(read, options, labels, changes):
    (doc,), report = read(**options)
    assert [label for label, *_ in found(doc)] == labels
    assert {(head, tail) for _, head, tail in found(doc)[:2]} == {("Zorin", "Abc")}
    assert {key: n for key, n in report.changes.items() if key.endswith("relations")} == changes
    assert report.ok


def test_equal_mentions_are_told_apart(read):
    (doc,), _ = read(labels="types")
    relation = doc._.relations[-1]
    assert (relation.head.id_, relation.tail.id_) == ("T4", "T5")
    assert (relation.head.label_, relation.tail.label_) == ("CHEMICAL", "GENE-N")


def test_unknown_labels(read):
    with pytest.raises(ValueError, match="labels is 'group'; choose one of evaluated_groups, gr"):
        read(labels="group")


def test_names_of_the_files(nlp, write, tmp_path):
    """DrugProt's spelling and columns, the suffix of the test set, two corpora in a folder."""
    write("d/drugprot_training_abstracs.tsv", *ABSTRACTS)
    write("d/drugprot_training_entities.tsv", *ENTITIES)
    write("d/drugprot_training_relations.tsv", "7\tINHIBITOR\tArg1:T1\tArg2:T2")
    write("d/c_test_abstracts_gs.tsv", *ABSTRACTS)
    write("d/c_test_entities_gs.tsv", *ENTITIES)
    write("d/c_test_gold_standard.tsv", "7\tCPR:4\tArg1:T3\tArg2:T2")
    write("d/c_test_predictions.tsv", "nothing to read")
    write("d/readme.pdf", b"%PDF")
    docs, report = read_chemprot(tmp_path / "d", nlp)
    assert [found(doc) for doc in docs] == [
        [("CPR:4", "β-zorin", "Abc")],
        [("INHIBITOR", "Zorin", "Abc")],
    ]
    assert report.ok and report.changes["ignored_files"] == 1
    paths = sorted(path for path in (tmp_path / "d").iterdir() if "training" in path.name)
    docs, report = read_chemprot(paths, nlp)
    assert len(docs) == 1 and report.ok


def test_relations_come_before_the_gold_standard(read, write):
    write("corpus/x_gold_standard.tsv", "7\tCPR:9\tArg1:T1\tArg2:T2")
    assert read()[1].relations == {"CPR:4": 1, "CPR:3": 1}


def test_compressed_tables(nlp, tmp_path):
    for part, lines in (("abstracts", ABSTRACTS), ("entities", ENTITIES)):
        path = tmp_path / f"x_{part}.tsv.gz"
        path.write_bytes(gzip.compress("\n".join(lines).encode()))
    (doc,), report = read_chemprot(tmp_path, nlp)
    assert len(doc.spans["entities"]) == 5 and found(doc) == []
    assert report.ok and report.changes["missing_relations"] == 1


def test_carriage_returns_and_blank_lines(read):
    (doc,), report = read(
        *([f"{line}\r" for line in lines] + [""] for lines in (ABSTRACTS, ENTITIES, RELATIONS))
    )
    assert report.ok and doc.text.endswith("It") and len(found(doc)) == 2


MORE = [*ABSTRACTS, "8\tA\tB"]


@pytest.mark.parametrize(
    ("tables", "reason", "message"),
    [
        ({"abstracts": [*MORE, "9\tcut"]}, "bad_lines", "abstracts.tsv:3: 2 columns; expected 3"),
        (
            {"abstracts": [*MORE, b"9\tx\xe9\t"]},
            "bad_lines",
            "byte 0xe9 at position 4 is not UTF-8",
        ),
        ({"abstracts": [*MORE, "7\tx\ty"]}, "repeated_ids", "abstracts.tsv:3: 7 is already in "),
        (
            {"entities": [*ENTITIES, "7\tT9\tGENE-Y\t3"]},
            "bad_lines",
            "entities.tsv:6: 4 columns; expected 6: document id, entity id, type, start, end, text",
        ),
        (
            {"entities": [*ENTITIES, "7\tT9\tGENE-Y\t3\tx\tin"]},
            "bad_lines",
            "start is '3' and end 'x'; expected whole numbers",
        ),
        (
            {"entities": [*ENTITIES, "7\tT9\tGENE-Y\t22\t29\tβ-zorin"]},
            "wrong_mentions",
            "entities.tsv:6: T9: 22 to 29 of 7 is '-zorin,'; expected 'β-zorin'; left out",
        ),
        ({"entities": [*ENTITIES, "7\tT9\tGENE-Y\t3\t3\t"]}, "wrong_mentions", "3 to 3 of 7 is ''"),
        (
            {"entities": [*ENTITIES, "7\tT1\tGENE-Y\t14\t17\tAbc"]},
            "repeated_ids",
            "entities.tsv:6: T1: another entity of 7 has this id",
        ),
        (
            {"entities": [*ENTITIES, "6\tT1\tGENE-Y\t14\t17\tAbc"]},
            "unknown_documents",
            "entities.tsv:6: no abstract 6 in ",
        ),
        (
            {"relations": [*RELATIONS, "6\tCPR:3\tY \tACTIVATOR\tArg1:T1\tArg2:T2"]},
            "unknown_documents",
            "relations.tsv:5: no abstract 6 in ",
        ),
        (
            {"relations": [*RELATIONS, "7\tCPR:3\tY \tACTIVATOR\tArg1:T1\tArg2:T8"]},
            "unknown_entities",
            "relations.tsv:5: CPR:3 of T1 and T8: 7 has no entity T8; left out",
        ),
        (
            {"relations": [*RELATIONS, "7\tCPR:3\tY \tACTIVATOR\tArg2:T2\tArg1:T1"]},
            "bad_lines",
            "arguments are 'Arg2:T2' and 'Arg1:T1'; expected Arg1:",
        ),
        (
            {"relations": [*RELATIONS, "7\tCPR:3\tyes\tACTIVATOR\tArg1:T1\tArg2:T2"]},
            "bad_lines",
            "the flag of evaluation is 'yes'; expected Y or N",
        ),
        (
            {"relations": [*RELATIONS, "7\t\tArg1:T1\tArg2:T2"]},
            "bad_lines",
            "the label is empty; expected",
        ),
        ({"relations": [*RELATIONS, "7\tCPR:3\tY"]}, "bad_lines", "3 columns; expected 4: "),
    ],
)
def test_a_bad_row_does_not_spoil_the_others(read, tables, reason, message):
    docs, report = read(**tables)
    assert len(docs) == len(tables.get("abstracts", "x")) - ("abstracts" in tables)
    assert len(found(docs[0])) == 2 and len(docs[0].spans["entities"]) == 5
    assert report.errors == {reason: 1}
    assert message in report.examples[reason][0]


def test_relations_of_wrong_mentions_are_lost(read):
    docs, report = read(entities=[ENTITIES[0], "7\tT1\tCHEMICAL\t0\t5\tZarin", *ENTITIES[2:]])
    assert found(docs[0]) == []
    assert report.errors == {"wrong_mentions": 1} and report.changes["lost_relations"] == 3


@pytest.mark.parametrize(
    ("names", "reason", "message"),
    [
        (["x_abstracts.tsv"], "missing_files", "no x_entities*.tsv; expected it beside x_abstr"),
        (["x_entities.tsv", "x_relations.tsv"], "missing_files", "no x_abstracts*.tsv; expected"),
        (["table.tsv"], "unknown_files", "table.tsv: no table by its name; expected *_abstracts*"),
    ],
)
def test_files_that_do_not_belong_together(nlp, write, names, reason, message):
    good = [
        write("y_abstracts.tsv", *ABSTRACTS),
        write("y_entities.tsv", *ENTITIES),
        write("y_relations.tsv", *RELATIONS),
    ]
    docs, report = read_chemprot([*good, *(write(name, "") for name in names)], nlp)
    assert len(docs) == 1 and report.errors == {reason: 1}
    assert message in report.examples[reason][0]


def test_two_files_for_one_part(read, write):
    write("corpus/x_abstracts_gs.tsv", "8\tA\tB")
    docs, report = read()
    assert len(docs) == 1 and report.errors == {"repeated_files": 1}


def test_a_folder_without_tables_and_files_that_are_not_there(nlp, tmp_path):
    docs, report = read_chemprot(tmp_path, nlp)
    assert docs == [] and report.errors == {"unknown_files": 1}
    missing = [tmp_path / "x_abstracts.tsv", tmp_path / "x_entities.tsv"]
    with pytest.raises(FileNotFoundError):
        read_chemprot(missing, nlp)


GROUPS = [f"CPR:{number}" for number in (3, 4, 5, 6, 9)]


@pytest.mark.parametrize(
    ("part", "n_documents", "entities", "gold", "n_pair_groups", "n_rows"),
    [
        ("training", 1020, (13017, 8348, 4387), (768, 2254, 173, 235, 727), 6416, 6437),
        ("development", 612, (8004, 5151, 2412), (550, 1094, 116, 199, 457), 3546, 3558),
        ("test_gs", 800, (10810, 6658, 3360), (665, 1661, 195, 293, 644), 5730, 5744),
    ],
)
def test_published_corpus(corpus, nlp, part, n_documents, entities, gold, n_pair_groups, n_rows):
    folder = corpus("chemprot") / f"chemprot_{part}"
    docs, report = read_chemprot(folder, nlp)
    assert report.ok and report.documents == len(docs) == n_documents
    labels = ("CHEMICAL", "GENE-Y", "GENE-N")
    assert report.mentions == dict(zip(labels, entities, strict=True))
    assert report.relations == dict(zip(GROUPS, gold, strict=True))
    assert sum(len(doc.spans["entities"]) for doc in docs) == sum(entities)
    assert sum(len(doc._.relations) for doc in docs) == sum(gold)
    assert {r.head.label_ for doc in docs for r in doc._.relations} == {"CHEMICAL"}
    for labels, n in (("groups", n_pair_groups), ("types", n_rows)):
        assert read_chemprot(folder, nlp, labels=labels)[1].relations.total() == n
