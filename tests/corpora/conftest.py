import os
from pathlib import Path

import pytest
import spacy

CORPORA = Path(os.environ.get("KLSH_CORPORA", Path(__file__).parents[2] / "../shared/corpora"))


@pytest.fixture(scope="session")
def nlp():
    return spacy.blank("en")


@pytest.fixture(scope="session")
def find_corpus():
    def find_corpus(name):
        path = CORPORA / name
        if not path.exists():
            pytest.skip(f"no corpora at {path}; set KLSH_CORPORA to their folder")
        return path

    return find_corpus


@pytest.fixture(scope="session")
def ppi(find_corpus):
    return find_corpus("ppi")
