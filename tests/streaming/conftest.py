import io
import sys

import pytest
import tiny

from spacy_klsh.streaming.sources import Options, Reject, plan


@pytest.fixture(scope="session")
def nlp():
    return tiny.trained()


@pytest.fixture
def read(tmp_path, monkeypatch):
    """What is read of one file with the given bytes."""
    monkeypatch.chdir(tmp_path)

    def read(content, name="a.txt", *, shard_bytes=2**18, **options):
        (tmp_path / name).write_bytes(content)
        shards = plan([name], Options(**options), shard_bytes=shard_bytes)
        return [item for shard in shards for item in shard.read()]

    return read


@pytest.fixture
def read_pairs(read):
    """Ids and texts of what is read of one file; nothing may be rejected."""

    def read_pairs(*arguments, **options):
        items = read(*arguments, **options)
        assert not [item for item in items if isinstance(item, Reject)]
        assert all(item.id == item.place for item in items)
        return [(item.id, item.text) for item in items]

    return read_pairs


@pytest.fixture
def stdin(monkeypatch):
    def stdin(content):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))

    return stdin
