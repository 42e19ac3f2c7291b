"""The patterns for services in the README: every context keeps its own document."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
import tiny

from spacy_klsh.streaming.isolation import isolated

N_THREADS = 4
GOOD = [tiny.sentence(pattern, i) for i in range(4) for pattern in tiny.SENTENCES]
BAD = "Zoe slept."


@pytest.fixture
def failing(nlp, monkeypatch):
    """The pipeline with a component that fails on a name, behind the parser."""

    def fails(doc):
        if "Zoe" in doc.text:
            raise ZeroDivisionError("Zoe")
        return doc

    *before, last = nlp._components
    monkeypatch.setattr(nlp, "_components", [*before, ("fails", fails), last])
    return nlp


def answers(nlp, requests):
    """What each request gets: its relations, or the error."""
    found = {}
    for doc, request in isolated(nlp, requests, batch_size=8):
        if isinstance(doc, Exception):
            found[request] = repr(doc)
        else:
            found[request] = [doc.text, [(r.label, r.head.text) for r in doc._.relations]]
    return found


def test_threads_share_a_pipeline_and_a_bad_document_hurts_no_other(failing):
    expected = {
        text: [text, [(r.label, r.head.text) for r in failing(text)._.relations]] for text in GOOD
    }
    assert sum(len(relations) for _, relations in expected.values()) > 8
    start = Barrier(N_THREADS)

    def client(number):
        texts = [*GOOD[number:], BAD, *GOOD[:number]]
        start.wait()
        return [answers(failing, [(text, (number, i)) for i, text in enumerate(texts)]), texts]

    with ThreadPoolExecutor(N_THREADS) as pool:
        results = list(pool.map(client, range(N_THREADS)))
    for number, (found, texts) in enumerate(results):
        assert list(found) == [(number, i) for i in range(len(texts))]
        for (_, i), answer in found.items():
            assert answer == expected.get(texts[i], "ZeroDivisionError('Zoe')")


def test_as_tuples_keeps_contexts_when_an_error_handler_drops_documents(failing, monkeypatch):
    dropped = []

    def drop(name, proc, docs, error):
        dropped.extend(docs)

    monkeypatch.setattr(failing, "default_error_handler", drop)
    pairs = [(text, text) for text in [*GOOD[:5], BAD, *GOOD[5:]]]
    found = list(failing.pipe(pairs, as_tuples=True, batch_size=4))
    assert [doc.text for doc in dropped] == [BAD]
    assert [context for _, context in found] == GOOD
    assert all(doc.text == context for doc, context in found)


def test_as_tuples_keeps_contexts_when_ours_skips_a_document(nlp, monkeypatch):
    component = nlp.get_pipe("klsh_relations")
    monkeypatch.setattr(component, "on_error", "skip")
    pairs = [(text, text) for text in GOOD]
    docs = [(nlp.make_doc(text), text) for text in GOOD]
    docs[3][0].ents = [docs[3][0].char_span(0, 8, "PERSON"), docs[3][0][-2:-1]]
    found = list(nlp.pipe(docs, as_tuples=True, disable=["parser"], batch_size=5))
    assert [context for _, context in found] == [text for _, text in pairs]
    assert all(doc.text == context for doc, context in found)
    assert sum(component.report.values()) > 0
