import pytest
import tiny


@pytest.fixture(scope="session")
def nlp():
    return tiny.trained()
