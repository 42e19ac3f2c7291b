import random

import pytest
import spacy
import tiny

from spacy_klsh.streaming import engine
from spacy_klsh.streaming.engine import annotate
from spacy_klsh.streaming.sources import Text

ZONE = 20


@pytest.fixture(autouse=True)
def zone_size(monkeypatch):
    monkeypatch.setattr(engine, "ZONE_SIZE", ZONE)


@pytest.fixture
def blank():
    return spacy.blank("en")


def numbered(texts):
    return [Text(f"a.txt:{i}", text, f"a.txt:{i}") for i, text in enumerate(texts)]


def random_sentences(n, seed=0):
    """Sentences with words that no vocabulary holds."""
    rng = random.Random(seed)

    def word():
        return "".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=12))

    patterns = list(tiny.SENTENCES)
    return [f"The {word()} {word()} while {tiny.sentence(patterns[i % 6], i)}" for i in range(n)]


@pytest.mark.parametrize("n", [0, 1, ZONE - 1, ZONE, ZONE + 1, 3 * ZONE + 5])
@pytest.mark.parametrize("batch_size", [1, 7, 128])
def test_every_text_once_in_order_with_its_id(blank, n, batch_size):
    texts = numbered(f"text {i}" for i in range(n))
    found = annotate(blank, iter(texts), batch_size=batch_size)
    assert [(doc.user_data["id"], doc.text) for doc in found] == [text[:2] for text in texts]


def test_relations_are_those_of_the_pipeline(nlp):
    texts = random_sentences(2 * ZONE + 3)
    expected = [repr(nlp(text)._.relations) for text in texts]
    assert len(set(expected)) > 4
    found = annotate(nlp, numbered(texts), batch_size=8)
    assert [repr(doc._.relations) for doc in found] == expected


def test_no_more_is_read_ahead_than_a_batch(blank):
    read = []

    def source():
        for text in numbered(["text"] * 50):
            read.append(text)
            yield text

    docs = annotate(blank, source(), batch_size=4)
    next(docs)
    assert len(read) <= 8
    assert len(list(docs)) == 49


def test_the_vocabulary_does_not_grow_with_the_stream(nlp):
    strings = nlp.vocab.strings
    before, most = len(strings), 0
    for _ in annotate(nlp, numbered(random_sentences(3 * ZONE, seed=1)), batch_size=5):
        most = max(most, len(strings))
    assert most > before + 2 * ZONE
    assert len(strings) == before


def test_without_zones_it_would(nlp):
    strings = nlp.vocab.strings
    before = len(strings)
    list(nlp.pipe(random_sentences(ZONE, seed=2)))
    assert len(strings) >= before + 2 * ZONE


def test_too_long_a_text_is_refused_by_name(blank):
    blank.max_length = 10
    docs = annotate(blank, numbered(["short", "x" * 11]), batch_size=1)
    assert next(docs).text == "short"
    with pytest.raises(ValueError, match=r"a\.txt:1 has 11 characters, .*nlp\.max_length = 10; .*"):
        next(docs)


def broken_source(texts):
    yield from numbered(texts)
    raise ValueError("the source broke")


def test_after_an_exception_the_zone_is_over(nlp):
    texts = random_sentences(ZONE // 2, seed=3)
    before = len(nlp.vocab.strings)
    with pytest.raises(ValueError, match="the source broke"):
        list(annotate(nlp, broken_source(texts), batch_size=2))
    assert not nlp.vocab.in_memory_zone
    assert len(nlp.vocab.strings) == before
    assert len(list(annotate(nlp, numbered(texts)))) == len(texts)


def test_a_stream_may_be_left_early(nlp):
    docs = annotate(nlp, numbered(random_sentences(ZONE, seed=4)), batch_size=2)
    next(docs)
    assert nlp.vocab.in_memory_zone
    docs.close()
    assert not nlp.vocab.in_memory_zone
    assert nlp("Ada Park founded Lumen.")._.relations
