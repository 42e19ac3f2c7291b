"""The component in spaCy's own commands."""

import importlib
import json
import shutil
import sys

import pytest
import spacy
from pipeline import sentences
from pipeline.sentences import answers, bare, corpus
from spacy.cli._util import app
from spacy.tokens import DocBin
from typer.testing import CliRunner

BASE = """
[nlp]
lang = "xx"
pipeline = ["klsh_relations"]
[components]
[components.klsh_relations]
factory = "klsh_relations"
threshold = 0.25
[components.klsh_relations.hashing]
@misc = "spacy-klsh.klsh.v1"
n_bits = 64
"""


def run(*arguments):
    """Run a command as ``python -m spacy`` does."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def model(trained, tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "trained"
    trained.to_disk(path)
    return path


@pytest.fixture
def texts(trained, tmp_path):
    """A file of parsed Docs with entities, and the answers to them."""
    docs = [bare(doc) for doc in corpus(trained.vocab, 9)]
    path = tmp_path / "docs.spacy"
    DocBin(docs=docs).to_disk(path)
    expected = answers(map(trained, docs))
    assert any(relations for relations, _ in expected)
    return path, expected


def test_fill_config_adds_every_setting_and_keeps_what_was_given(tmp_path):
    base, filled = tmp_path / "base.cfg", tmp_path / "filled.cfg"
    base.write_text(BASE)
    assert run("init", "fill-config", base, filled).exit_code == 0
    block = spacy.util.load_config(filled)["components"]["klsh_relations"]
    expected = dict(sentences.build().config["components"]["klsh_relations"])
    expected["hashing"] = {**expected["hashing"], "n_references": 100, "n_bits": 64}
    assert block == {**expected, "threshold": 0.25, "classifier": block["classifier"]}
    assert block["classifier"]["C"] == 10.0
    nlp = spacy.util.load_model_from_config(spacy.util.load_config(filled))
    assert nlp.get_pipe("klsh_relations").threshold == 0.25
    again = tmp_path / "again.cfg"
    assert run("init", "fill-config", filled, again).exit_code == 0
    assert again.read_text() == filled.read_text()


def test_assemble_takes_over_a_trained_component(model, texts, tmp_path):
    config, output = tmp_path / "assemble.cfg", tmp_path / "assembled"
    config.write_text(
        '[nlp]\nlang = "xx"\npipeline = ["klsh_relations"]\n[components]\n'
        f'[components.klsh_relations]\nsource = "{model}"\n'
    )
    result = run("assemble", config, output)
    assert result.exit_code == 0, result.output
    nlp = spacy.load(output)
    path, expected = texts
    assert answers(nlp.pipe(DocBin().from_disk(path).get_docs(nlp.vocab))) == expected


def test_assemble_cannot_make_up_what_was_not_learned(tmp_path):
    config = tmp_path / "assemble.cfg"
    config.write_text(BASE)
    result = run("assemble", config, tmp_path / "assembled")
    assert isinstance(result.exception, ValueError)
    assert "1 training Docs hold 0 gold relations" in str(result.exception)


def test_apply_writes_relations_into_the_docs(model, texts, tmp_path):
    path, expected = texts
    output = tmp_path / "applied.spacy"
    result = run("apply", model, path, output, "--batch-size", "4")
    assert result.exit_code == 0, result.output
    assert answers(DocBin().from_disk(output).get_docs(spacy.blank("xx").vocab)) == expected


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # spaCy's open files
def test_a_package_loads_as_a_module(model, texts, tmp_path, monkeypatch):
    result = run("package", model, tmp_path, "--name", "relations_packed", "--build", "none")
    assert result.exit_code == 0, result.output
    (folder,) = tmp_path.glob("xx_relations_packed-*")
    meta = json.loads((folder / "meta.json").read_text())
    assert any(name.startswith("spacy-klsh") for name in meta["requirements"])
    shutil.copy(folder / "meta.json", folder / "xx_relations_packed")  # as its setup.py does
    monkeypatch.syspath_prepend(folder)
    nlp = importlib.import_module("xx_relations_packed").load()
    monkeypatch.delitem(sys.modules, "xx_relations_packed")
    path, expected = texts
    assert answers(nlp.pipe(DocBin().from_disk(path).get_docs(nlp.vocab))) == expected
