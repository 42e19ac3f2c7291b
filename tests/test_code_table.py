"""The table of codes and corpora, on Docs made by hand."""

import json

import code_table
import numpy as np
import pytest
import spacy
import typer
from public import Corpus
from spacy.tokens import DocBin
from test_classifier_table import folder as folder  # a corpus `small`, and two of proteins

FEW = {
    "path": {"kernel": code_table.PATH},
    "shortest path, classes": code_table.CODES["shortest path, classes"],
    "kulis, 40 bits": {"hashing": {"@misc": "spacy-klsh.klsh.v1", "n_bits": 40}},
}


@pytest.fixture
def table(folder, monkeypatch):
    monkeypatch.setattr(code_table, "CORPORA", {"small": Corpus(None, {}, {})})
    monkeypatch.setattr(code_table, "NAMES", ("small", *code_table.PPI))
    monkeypatch.setattr(code_table, "CODES", FEW)
    return folder


def rows_of(path):
    return json.loads(path.read_text("utf-8"))


def test_a_row_for_each_corpus_codes_and_inputs(table, capsys):
    path = table / "deep" / "codes.json"
    code_table.main(table, seeds=2, json_file=path)
    rows = rows_of(path)
    cells = [
        (corpus, name, inputs)
        for corpus in code_table.NAMES
        for name in FEW
        for inputs in code_table.INPUTS
    ]
    assert [code_table.cell(row) for row in rows] == cells
    for row in rows:
        assert row["n_seeds"] == 2 and 0 < row["f1"] <= 1 and 0.4 < row["auc"] <= 1
    alone = {row["codes"]: row["f1"] for row in rows if row["inputs"] == "features"}
    assert alone["path"] == alone["kulis, 40 bits"]  # no codes are looked at
    assert "kulis, 40 bits" in capsys.readouterr().out


def test_other_rows_stay_and_unknown_names_are_refused(table):
    path = table / "codes.json"
    some = {"corpora": ["small"], "codes": ["path"], "seeds": 1, "json_file": path}
    code_table.main(table, inputs=["codes"], **some)
    code_table.main(table, inputs=["both"], **some)
    assert [row["inputs"] for row in rows_of(path)] == ["codes", "both"]
    with pytest.raises(
        typer.BadParameter, match=r"'tree'.* are no codes; choose from path, shortest"
    ):
        code_table.main(table, **{**some, "codes": ["tree"]})


def test_f1_is_that_of_the_component_itself(table):
    """The threshold, the dropped candidates and the relations without one count alike."""
    nlp = spacy.blank("en")
    train, test = (
        list(DocBin().from_disk(table / f"small_{part}.spacy").get_docs(nlp.vocab))
        for part in ("train", "test")
    )
    parts = code_table.Parts.of(nlp, train, test, "small", None, False)
    (row,) = code_table.compared(parts, "path", ["features"], 1)
    component = nlp.create_pipe("klsh_relations", config={"views": code_table.VIEWS, "seed": 0})
    component.initialize(lambda: code_table.as_examples(train))
    docs = list(component.pipe(doc.copy() for doc in test))
    found = component.score([spacy.training.Example(d, g) for d, g in zip(docs, test, strict=True)])
    assert row["f1"] == pytest.approx(found["rel_micro_f"])


def test_the_first_documents_are_taken_until_there_are_enough_candidates(table):
    nlp = spacy.blank("en")
    docs = list(DocBin().from_disk(table / "small_train.spacy").get_docs(nlp.vocab))
    whole, some = (code_table.Parts.of(nlp, docs, docs, "small", most, False) for most in (None, 9))
    assert len(np.unique(whole.train.groups)) == len(docs)
    assert len(some.train.y) == len(whole.train.y[whole.train.groups < 3]) >= 9
