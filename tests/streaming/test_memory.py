"""A million documents of words that nobody has seen: the process hardly grows."""

import os
import random
from pathlib import Path

import pytest
import tiny

from spacy_klsh.streaming import engine
from spacy_klsh.streaming.engine import Settings, annotate
from spacy_klsh.streaming.jobs import Job, hash_of
from spacy_klsh.streaming.sources import Text

N_DOCUMENTS = int(os.environ.get("KLSH_MEMORY_DOCUMENTS", 0))
WARM_UP = 40_000  # until all bounded caches are full
MOST_BYTES = 50e6


def random_texts(n, seed=0):
    rng = random.Random(seed)

    def word():
        return "".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=10))

    for i in range(n):
        yield Text(str(i), f"{word()} {word()} met Ada Park of Lumen.", str(i))


def resident():
    """Bytes of this process in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(
    not N_DOCUMENTS, reason="takes long: KLSH_MEMORY_DOCUMENTS=1000000 says with how many"
)
def test_the_process_does_not_grow_with_the_stream(tmp_path):
    tiny.trained().to_disk(tmp_path)
    job = Job(str(tmp_path), hash_of(str(tmp_path)), Settings())
    before, most = None, 0
    for i, _ in enumerate(job.annotate(random_texts(N_DOCUMENTS))):
        if i % 1000 == 0:
            most = max(most, resident())
            if i <= min(WARM_UP, N_DOCUMENTS // 2):
                before = most
    assert most - before < MOST_BYTES, f"{(most - before) / 1e6:.1f} MB"


def test_the_cache_of_lemmas_is_bounded(monkeypatch):
    nlp = tiny.trained()
    monkeypatch.setattr(engine, "CACHED_LEMMAS", 20)
    monkeypatch.setattr(engine, "ZONE_TEXTS", 10)
    lemmatizer = nlp.get_pipe("lemmatizer")
    sizes = [len(lemmatizer.cache) for _ in annotate(nlp, random_texts(60, seed=1))]
    assert len(lemmatizer.cache) <= 20 < max(sizes)
