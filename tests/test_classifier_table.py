"""The table of classifiers and corpora, on Docs made by hand."""

import json
from dataclasses import replace

import baselines
import classifier_table
import pytest
import spacy
import typer
from pipeline import sentences
from public import Corpus
from spacy.tokens import DocBin

from spacy_klsh import Relation

HASHING = {"hashing": sentences.SMALL["hashing"]}
FEW = {
    "linear": classifier_table.CLASSIFIERS["linear"],
    "subspace": sentences.SMALL["classifier"],
}


def stored(folder, name, docs):
    DocBin(docs=docs, store_user_data=True).to_disk(folder / f"{name}.spacy")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A corpus `small` with its split, and two of protein interactions."""
    nlp = spacy.blank("en")
    docs = sentences.corpus(nlp.vocab)
    stored(tmp_path, "small_train", docs[:10])
    stored(tmp_path, "small_test", docs[10:])
    for doc in docs:
        doc._.relations = [Relation("PPI", head=r.head, tail=r.tail) for r in doc._.relations]
        doc.spans["entities"] = doc.ents
    stored(tmp_path, "aimed", docs[:8])
    stored(tmp_path, "bioinfer", docs[6:])
    monkeypatch.setattr(classifier_table, "CORPORA", {"small": Corpus(None, {}, HASHING)})
    monkeypatch.setattr(classifier_table, "SETTINGS", {**classifier_table.SETTINGS, **HASHING})
    monkeypatch.setattr(classifier_table, "NAMES", ("small", *classifier_table.PPI))
    monkeypatch.setattr(classifier_table, "CLASSIFIERS", FEW)
    monkeypatch.setattr(classifier_table, "warmup", lambda blocks: None)
    monkeypatch.setattr(classifier_table.spacy, "load", lambda *_, **__: spacy.blank("en"))
    return tmp_path


def test_each_classifier_is_measured_on_each_corpus(folder, capsys):
    path = folder / "deep" / "table.json"
    classifier_table.main(folder, seeds=2, json_file=path)
    rows = json.loads(path.read_text("utf-8"))
    cells = [(corpus, name) for corpus in classifier_table.NAMES for name in FEW]
    assert [classifier_table.cell(row) for row in rows] == cells
    for row in rows:
        assert row["n_seeds"] == 2 and 0.3 < row["f1"] <= 1 and row["f1_sd"] >= 0
        assert row["train_s"] > 0 and 0 < row["classifier_us"] < row["candidate_us"]
    sizes = {row["classifier"]: row["n_bytes"] for row in rows if row["corpus"] == "small"}
    assert len(set(sizes.values())) == 2 and min(sizes.values()) > 1000
    shown = capsys.readouterr().out
    assert all(name in shown for name in (*classifier_table.NAMES, *FEW))


def test_docs_are_read_once_and_a_stopped_run_keeps_what_it_has(folder, monkeypatch):
    read, path, names = classifier_table.read, folder / "table.json", []

    def noted(nlp, file):
        names.append(file.stem)
        if file.stem == "bioinfer":
            raise KeyboardInterrupt
        return read(nlp, file)

    monkeypatch.setattr(classifier_table, "read", noted)
    with pytest.raises(KeyboardInterrupt):
        classifier_table.main(folder, seeds=1, json_file=path)
    assert names == ["small_train", "small_test", "aimed", "bioinfer"]
    assert len(json.loads(path.read_text("utf-8"))) == len(FEW)


def test_rows_of_an_earlier_run_stay_unless_they_are_measured_again(folder):
    path = folder / "table.json"
    old = {"f1": 9.0, "f1_sd": 0.0, "train_s": 1, "classifier_us": 1, "candidate_us": 1}
    old |= {"n_bytes": 1, "n_seeds": 5}
    kept = {"corpus": "semeval", "classifier": "linear", **old}
    again = {"corpus": "small", "classifier": "subspace", **old}
    path.write_text(json.dumps([kept, again]), "utf-8")
    classifier_table.main(
        folder, corpora=["small"], classifiers=["subspace"], seeds=1, json_file=path
    )
    first, second = json.loads(path.read_text("utf-8"))
    assert first == kept
    assert classifier_table.cell(second) == ("small", "subspace") and second["f1"] <= 1


def test_unknown_names_are_refused(folder):
    for settings in ({"corpora": ["small", "tiny"]}, {"classifiers": ["tiny"]}):
        with pytest.raises(typer.BadParameter, match=r"\['tiny'\] are no "):
            classifier_table.main(folder, **settings)


def test_f1_is_the_usual_measure_of_a_corpus(folder, monkeypatch):
    run = {"rel_micro_f": 0.1, "rel_macro_f": 0.2}
    monkeypatch.setattr(classifier_table, "ours", lambda *_: run)
    small = classifier_table.CORPORA["small"]
    found = []
    for score in run:
        monkeypatch.setitem(classifier_table.CORPORA, "small", replace(small, score=score))
        found.append(classifier_table.within(None, lambda name: [], "small", {}, 0)["f1"])
    assert found == [0.1, 0.2]


def test_parsed_docs_are_not_parsed_again(folder, monkeypatch):
    nlp = spacy.blank("en")
    monkeypatch.setattr(baselines, "parsed", lambda nlp, docs: "parsed")
    assert len(baselines.read(nlp, folder / "small_train.spacy")) == 10
    stored(folder, "bare", [nlp.make_doc("No parse yet")])
    assert baselines.read(nlp, folder / "bare.spacy") == "parsed"


@pytest.mark.parametrize(
    "block", classifier_table.CLASSIFIERS.values(), ids=classifier_table.CLASSIFIERS
)
def test_every_classifier_can_be_configured(block):
    component = spacy.blank("xx").create_pipe("klsh_relations", config={"classifier": block})
    assert hasattr(component.new_classifier(), "fit")
