import os
import zipfile
from pathlib import Path

import pytest
import spacy

CORPORA = Path(os.environ.get("KLSH_CORPORA", Path(__file__).parents[2] / "../shared/corpora"))


@pytest.fixture(scope="session")
def nlp():
    return spacy.blank("en")


@pytest.fixture(scope="session")
def corpus():
    """Folder of a corpus, or a file in it, by its name; skips the test if it is absent."""

    def corpus(name):
        folder = CORPORA / name
        if not folder.exists():
            pytest.skip(f"no corpora at {folder}; set KLSH_CORPORA to their folder")
        return folder

    return corpus


@pytest.fixture(scope="session")
def ppi(corpus):
    return corpus("ppi")


@pytest.fixture(scope="session")
def ddi(corpus, tmp_path_factory):
    folder = tmp_path_factory.mktemp("ddi")
    with zipfile.ZipFile(corpus("ddi2013/DDICorpus-2013.zip")) as archive:
        archive.extractall(folder)
    return folder / "DDICorpus"


@pytest.fixture
def write(tmp_path):
    """Path of a new file of this name; lines are text or bytes."""

    def write(name, *lines, end=b"\n"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        encoded = [line if isinstance(line, bytes) else line.encode() for line in lines]
        path.write_bytes(b"".join(line + end for line in encoded))
        return path

    return write
