"""A text that a pipeline fails on fails alone, and every other keeps its own context."""

import random
from concurrent.futures import ThreadPoolExecutor

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.language import Language
from spacy.tokens import Doc

from spacy_klsh.streaming import isolation
from spacy_klsh.streaming.isolation import isolated


class Batcher:
    """A component that looks at whole batches, and knows no error handler."""

    def __call__(self, doc):
        return next(self.pipe([doc]))

    def pipe(self, stream, batch_size=128):
        for doc in stream:
            if "batch" in doc.text:
                raise KeyError("bad batch")
            yield doc


@Language.component("fails_on_bad")
def fails_on_bad(doc):
    if "bad" in doc.text:
        raise ZeroDivisionError("bad document")
    return doc


Language.factory("batcher", func=lambda nlp, name: Batcher())


@pytest.fixture(scope="module")
def nlp():
    nlp = spacy.blank("en")
    nlp.add_pipe("fails_on_bad")
    nlp.add_pipe("batcher")
    nlp.max_length = 100
    return nlp


TEXTS = st.sampled_from(["good", "bad", "batch", "bad batch", "x" * 101, "", " ", "two words"])


@given(texts=st.lists(TEXTS, max_size=20), batch_size=st.integers(1, 8))
def test_every_context_comes_back_in_order_with_its_own_text_or_error(nlp, texts, batch_size):
    pairs = [(text, (i, text)) for i, text in enumerate(texts)]
    found = list(isolated(nlp, pairs, batch_size=batch_size))
    assert [context for _, context in found] == [context for _, context in pairs]
    for doc, (_, text) in found:
        if len(text) > 100:
            assert isinstance(doc, ValueError) and "E088" in str(doc)
        elif "bad" in text:
            assert isinstance(doc, ZeroDivisionError)
        elif "batch" in text:
            assert isinstance(doc, KeyError)
        else:
            assert doc.text == text


def test_plain_pipe_would_end_at_the_first_bad_text(nlp):
    with pytest.raises(ZeroDivisionError):
        list(nlp.pipe([("good", 1), ("bad", 2), ("good", 3)], as_tuples=True))


def test_bytes_of_docs_are_taken_as_they_are(nlp):
    doc = Doc(nlp.vocab, words=["one", "token-pair"], ents=["B-A", "O"])
    pairs = [(doc.to_bytes(), 1), (b"broken", 2), (doc.to_bytes(), 3)]
    (first, _), (error, context), (last, _) = isolated(nlp, pairs)
    assert [token.text for token in first] == ["one", "token-pair"]
    assert [span.text for span in first.ents] == [span.text for span in last.ents] == ["one"]
    assert isinstance(error, Exception) and context == 2


def test_what_an_error_handler_drops_is_told(nlp):
    handled = spacy.blank("en")
    handled.add_pipe("fails_on_bad")
    handled.set_error_handler(lambda name, proc, docs, error: None)
    good, bad = isolated(handled, [("good", 1), ("bad", 2)])
    assert good[0].text == "good"
    assert "dropped it" in str(bad[0]) and bad[1] == 2


def test_long_texts_come_in_small_batches(nlp, monkeypatch):
    monkeypatch.setattr(isolation, "BATCH_CHARACTERS", 10)
    read = []

    def pairs():
        for i in range(9):
            read.append(i)
            yield "12345", i

    stream = isolated(nlp, pairs())
    next(stream)
    assert len(read) == 2
    assert len(list(stream)) == 8


def test_several_threads_share_a_pipeline(nlp):
    def work(seed):
        rng = random.Random(seed)
        texts = [rng.choice(["good", "bad", f"text {seed}"]) for _ in range(100)]
        found = isolated(nlp, [(text, text) for text in texts], batch_size=7)
        return [isinstance(doc, Exception) or doc.text == text for doc, text in found]

    with ThreadPoolExecutor(4) as pool:
        assert all(all(answers) and len(answers) == 100 for answers in pool.map(work, range(8)))
