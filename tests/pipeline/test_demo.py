"""The model that comes with the package."""

import numpy as np
import pytest
import spacy

import spacy_klsh
from spacy_klsh.corpora.jsonl import read_jsonl
from spacy_klsh.pipeline import demo
from spacy_klsh.pipeline.readers import give_entities

ASSETS = demo.DEMO.parents[1] / "assets"


@pytest.fixture(scope="module")
def nlp(english):
    return spacy_klsh.load_demo()


def test_it_finds_the_relations_of_a_sentence(nlp):
    doc = nlp("Nora Field, who founded Halden Bank in Bristol, was born in Leeds.")
    found = {(r.head.text, r.label, r.tail.text) for r in doc._.relations}
    assert found >= {
        ("Nora Field", "FOUNDED", "Halden Bank"),
        ("Nora Field", "BORN_IN", "Leeds"),
    }


@pytest.mark.skipif(not ASSETS.is_dir(), reason="assets/ is part of a checkout alone")
def test_it_does_on_held_out_documents_what_the_readme_says(nlp):
    gold, _ = read_jsonl([ASSETS / "demo_test.jsonl"], nlp, align="split")
    docs = []
    for doc in gold:
        bare = nlp.make_doc(doc.text)
        give_entities(bare, doc)
        docs.append(bare)
    examples = [
        spacy.training.Example(found, doc) for found, doc in zip(nlp.pipe(docs), gold, strict=True)
    ]
    assert nlp.get_pipe("klsh_relations").score(examples)["rel_micro_f"] > 0.7


def test_it_is_small_and_its_file_names_are_those_of_a_component():
    files = {file.name: file.stat().st_size for file in demo.DEMO.iterdir()}
    assert set(files) == {"config.json", "meta.json", "arrays.npz", "symbols.json"}
    assert sum(files.values()) < 2_000_000


def test_shipping_what_was_loaded_gives_the_same_files(nlp, tmp_path):
    demo.ship(nlp, tmp_path)
    for file in demo.DEMO.iterdir():
        assert (tmp_path / file.name).read_bytes() == file.read_bytes()


def test_without_an_english_model_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr(demo, "is_package", lambda name: False)
    with pytest.raises(OSError, match=r"spacy download en_core_web_sm.*pip install"):
        spacy_klsh.load_demo()


def test_word_vectors_that_it_was_not_trained_with_are_refused(english, tmp_path):
    english.to_disk(tmp_path / "vectors")
    nlp = spacy.load(tmp_path / "vectors")
    nlp.vocab.set_vector("founded", np.ones(2, np.float32))
    nlp.to_disk(tmp_path / "vectors")
    with pytest.raises(ValueError, match="other word vectors"):
        spacy_klsh.load_demo(str(tmp_path / "vectors"))
