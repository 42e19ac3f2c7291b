import os
from pathlib import Path

import pytest
import spacy

CORPORA = Path(os.environ.get("KLSH_CORPORA", Path(__file__).parents[2] / "../shared/corpora"))


@pytest.fixture(scope="session")
def nlp():
    return spacy.blank("en")


@pytest.fixture(scope="session")
def ppi():
    folder = CORPORA / "ppi"
    if not folder.is_dir():
        pytest.skip(f"no corpora at {folder}; set KLSH_CORPORA to their folder")
    return folder
