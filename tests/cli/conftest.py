from functools import lru_cache

import pytest
import spacy
import tiny
from spacy.tokens import DocBin
from typer.testing import CliRunner

from spacy_klsh.cli.app import app


@pytest.fixture(scope="session")
def model(tmp_path_factory):
    """Path of the trained pipeline."""
    path = tmp_path_factory.mktemp("models") / "tiny"
    tiny.trained().to_disk(path)
    return path


@pytest.fixture(scope="session")
def gold(model, tmp_path_factory):
    """Gold Docs as a .spacy file; one person is in no list of names."""
    nlp = spacy.load(model)
    docs = tiny.gold_docs(nlp)
    text = docs[0].text
    assert text.startswith("Ada Park founded")
    nlp.get_pipe("entity_ruler").add_patterns([{"label": "PERSON", "pattern": "Zoe Hart"}])
    unknown = nlp(text.replace("Ada Park", "Zoe Hart"))
    assert unknown._.relations
    path = tmp_path_factory.mktemp("gold") / "gold.spacy"
    DocBin(docs=[*docs, unknown], store_user_data=True).to_disk(path)
    return path


@pytest.fixture(scope="session")
def load_once():
    return lru_cache(spacy.load)


@pytest.fixture
def run(monkeypatch, load_once):
    """Runs a command; pipelines stay loaded."""
    monkeypatch.setattr(spacy, "load", load_once)
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.delenv("FORCE_COLOR", raising=False)

    def run(*arguments, exit_code=0, **options):
        result = CliRunner().invoke(app, [str(argument) for argument in arguments], **options)
        assert result.exit_code == exit_code, result.output
        assert exit_code or result.exception is None
        return result

    return run


@pytest.fixture
def file(tmp_path):
    """Writes a file and returns its path."""

    def file(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return file


@pytest.fixture
def ada():
    """A line of our own format."""
    return {
        "id": "a",
        "text": "Ada Park founded Lumens.",
        "entities": [
            {"start": 0, "end": 8, "label": "PERSON"},
            {"start": 17, "end": 22, "label": "ORG"},
        ],
        "relations": [{"label": "FOUNDED", "head": 0, "tail": 1}],
    }
