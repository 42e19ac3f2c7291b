import pytest
from pipeline import sentences


@pytest.fixture(scope="session")
def trained():
    """A small trained pipeline; do not change it."""
    return sentences.train(sentences.build())
