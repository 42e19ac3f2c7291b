"""One pipeline in several threads and in memory zones: always the same answers."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from pipeline import sentences
from pipeline.sentences import PATTERNS, answers, bare, corpus, parsed, places
from spacy.tokens import Doc, Span

FOUNDED = PATTERNS[0][0]
N_THREADS = 4
N_CALLS = 10_000


def shared(nlp):
    """Parsed Docs, several of a kind, and what one thread says of each."""
    docs = [bare(doc) for doc in corpus(nlp.vocab)]
    return docs, answers([nlp(bare(doc)) for doc in docs])


def in_threads(work):
    """Results of ``work(thread)`` in threads that start together."""
    start = Barrier(N_THREADS)

    def run(thread):
        start.wait()
        return work(thread)

    with ThreadPoolExecutor(N_THREADS) as pool:
        return list(pool.map(run, range(N_THREADS)))


def test_ten_thousand_calls_from_four_threads_give_the_same_answers(component, trained):
    docs, _ = shared(trained)
    expected = component.predict(docs)
    assert any(prediction.records for prediction in expected)

    def work(thread):
        rows = [(thread + i) % len(docs) for i in range(N_CALLS // N_THREADS)]
        return sum(component.predict([docs[row]]) != [expected[row]] for row in rows)

    assert in_threads(work) == [0] * N_THREADS


@pytest.mark.parametrize("with_vectors", [False, True])
def test_the_first_calls_of_a_pipeline_may_come_from_several_threads(with_vectors):
    nlp = sentences.build()
    if with_vectors:
        sentences.with_vectors(nlp)
    sentences.train(nlp)
    docs, expected = shared(nlp)
    fresh = sentences.build()
    if with_vectors:
        sentences.with_vectors(fresh)
    fresh.get_pipe("klsh_relations").from_bytes(nlp.get_pipe("klsh_relations").to_bytes())
    copies = [[parsed_again(fresh, doc) for doc in docs] for _ in range(N_THREADS)]
    found = in_threads(lambda thread: answers(fresh.pipe(copies[thread], batch_size=3)))
    assert found == [expected] * N_THREADS


def parsed_again(nlp, doc):
    """The same Doc with the vocab of another pipeline."""
    return Doc(nlp.vocab).from_bytes(doc.to_bytes())


def unusual(nlp, verb):
    return parsed(nlp.vocab, FOUNDED.replace("founded", verb), person="Xylo", firm="Qwop")


@pytest.fixture
def expected(trained):
    return places(trained(parsed(trained.vocab, FOUNDED))._.relations)


def answer(nlp):
    return places(nlp(parsed(nlp.vocab, FOUNDED))._.relations)


def test_an_error_inside_a_memory_zone_changes_no_answer(copied, expected):
    with pytest.raises(KeyError, match="inside"), copied.memory_zone():
        copied(unusual(copied, "brozzled"))
        raise KeyError("inside")
    assert answer(copied) == expected
    with copied.memory_zone():
        assert answer(copied) == expected


def test_a_doc_that_fails_inside_a_memory_zone_changes_no_answer(copied, expected):
    with pytest.raises(ValueError, match="no dependency parse"), copied.memory_zone():
        doc = Doc(copied.vocab, words=["Xylo", "brozzled", "Qwop"])
        doc.ents = [Span(doc, 0, 1, label="PERSON"), Span(doc, 2, 3, label="ORG")]
        copied(doc)
    assert answer(copied) == expected


@pytest.mark.parametrize("with_vectors", [False, True])
def test_the_first_call_may_come_inside_a_zone_and_the_second_outside(with_vectors):
    nlp = sentences.build()
    if with_vectors:
        sentences.with_vectors(nlp)
    sentences.train(nlp)
    content = nlp.to_bytes()
    wanted = [places(nlp(unusual(nlp, verb))._.relations) for verb in ("founded", "zorkified")]
    fresh = sentences.build().from_bytes(content)
    with fresh.memory_zone():
        inside = [places(fresh(unusual(fresh, v))._.relations) for v in ("founded", "zorkified")]
    outside = [places(fresh(unusual(fresh, v))._.relations) for v in ("zorkified", "founded")]
    assert inside == wanted == outside[::-1]
