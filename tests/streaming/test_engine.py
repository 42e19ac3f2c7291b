import random

import pytest
import spacy
import tiny

from spacy_klsh.corpora.jsonl import to_json
from spacy_klsh.streaming import engine
from spacy_klsh.streaming.engine import Annotated, Settings, annotate
from spacy_klsh.streaming.sources import Reject, Text

ZONE = 20


@pytest.fixture(autouse=True)
def zone_size(monkeypatch):
    monkeypatch.setattr(engine, "ZONE_TEXTS", ZONE)


def numbered(texts):
    return [Text(f"a.txt:{i}", text, f"a.txt:{i}") for i, text in enumerate(texts)]


def random_sentences(n, seed=0):
    """Sentences with words that no vocabulary holds."""
    rng = random.Random(seed)

    def word():
        return "".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=12))

    patterns = list(tiny.SENTENCES)
    return [f"The {word()} {word()} while {tiny.sentence(patterns[i % 6], i)}" for i in range(n)]


def batches(n):
    return Settings(batch_size=n)


@pytest.mark.parametrize("n", [0, 1, ZONE - 1, ZONE, ZONE + 1, 3 * ZONE + 5])
@pytest.mark.parametrize("batch_size", [1, 7, 128])
def test_every_text_once_in_order_with_its_id(nlp, n, batch_size):
    texts = numbered(f"text {i}" for i in range(n))
    found = annotate(nlp, iter(texts), batches(batch_size))
    assert [(r.record["id"], r.record["text"]) for r in found] == [text[:2] for text in texts]


def test_records_are_those_of_the_pipeline(nlp):
    texts = random_sentences(2 * ZONE + 3)
    expected = [to_json(nlp(text)) for text in texts]
    assert sum(len(record["relations"]) for record in expected) > 4
    found = list(annotate(nlp, numbered(texts), batches(8)))
    assert [{**r.record, "id": None} for r in found] == [{"id": None, **r} for r in expected]
    assert [result.words for result in found] == [len(nlp(text)) for text in texts]


def test_what_was_skipped_is_told(nlp):
    (found,) = annotate(nlp, numbered(["Ada Park founded Lumen. Ben Cole ate lunch."]))
    assert found.skipped == {"cross_sentence": 2}


def test_fields_of_the_input_pass_through_but_never_hide_what_is_found(nlp):
    fields = {"year": 1999, "text": "other", "relations": 7}
    (found,) = annotate(nlp, [Text("a", "Ada Park founded Lumen.", "a", fields)])
    assert found.record["year"] == 1999 and found.record["text"] == "Ada Park founded Lumen."
    assert found.record["relations"][0]["label"] == "FOUNDED"


@pytest.fixture
def failing(nlp, monkeypatch):
    """The pipeline with a component that fails on a name."""

    def fails(doc):
        if "Zoe" in doc.text:
            raise ZeroDivisionError("Zoe")
        return doc

    monkeypatch.setattr(nlp, "_components", [("fails", fails), *nlp._components])
    return nlp


def test_a_text_that_fails_or_could_not_be_read_is_rejected_in_its_place(failing):
    unread = Reject("a.txt:9", "no UTF-8", "\\xe9")
    texts = numbered(["Ada Park founded Lumen.", "Zoe slept.", "Ada Park founded Lumen."])
    found = list(annotate(failing, [*texts[:2], unread, texts[2], unread], batches(2)))
    kinds = [type(result) for result in found]
    assert kinds == [Annotated, Reject, Reject, Annotated, Reject]
    assert found[1] == Reject("a.txt:1", "ZeroDivisionError: Zoe", "Zoe slept.")
    assert found[2] == found[4] == unread
    assert found[0].record["relations"] == found[3].record["relations"] != []


def test_entities_of_docs_are_kept(nlp):
    doc = nlp.make_doc("Zoe Hart founded Lumen.")
    doc.ents = [doc.char_span(0, 8, label="PERSON")]
    (found,) = annotate(nlp, [Text("a", doc.text, "a", {}, doc.to_bytes())])
    assert found.record["relations"][0]["label"] == "FOUNDED"


def test_no_more_is_read_ahead_than_a_batch(nlp):
    read = []

    def source():
        for text in numbered(["text"] * 50):
            read.append(text)
            yield text

    found = annotate(nlp, source(), batches(4))
    next(found)
    assert len(read) <= 8
    assert len(list(found)) == 49


def test_a_pipeline_without_the_component_or_untrained_is_refused():
    blank = spacy.blank("en")
    with pytest.raises(ValueError, match="no klsh_relations"):
        next(annotate(blank, numbered(["text"])))
    blank.add_pipe("klsh_relations")
    with pytest.raises(ValueError, match="is not trained"):
        next(annotate(blank, numbered(["text"])))


def test_the_vocabulary_does_not_grow_with_the_stream(nlp):
    strings = nlp.vocab.strings
    before, most = len(strings), 0
    for _ in annotate(nlp, numbered(random_sentences(3 * ZONE, seed=1)), batches(5)):
        most = max(most, len(strings))
    assert most > before + 2 * ZONE
    assert len(strings) == before


def test_without_zones_it_would(nlp):
    strings = nlp.vocab.strings
    before = len(strings)
    list(nlp.pipe(random_sentences(ZONE, seed=2)))
    assert len(strings) >= before + 2 * ZONE


def broken_source(texts):
    yield from numbered(texts)
    raise ValueError("the source broke")


def test_after_an_exception_the_zone_is_over(nlp):
    texts = random_sentences(ZONE // 2, seed=3)
    before = len(nlp.vocab.strings)
    with pytest.raises(ValueError, match="the source broke"):
        list(annotate(nlp, broken_source(texts), batches(2)))
    assert not nlp.vocab.in_memory_zone
    assert len(nlp.vocab.strings) == before
    assert len(list(annotate(nlp, numbered(texts)))) == len(texts)


def test_a_stream_may_be_left_early(nlp):
    docs = annotate(nlp, numbered(random_sentences(ZONE, seed=4)), batches(2))
    next(docs)
    assert nlp.vocab.in_memory_zone
    docs.close()
    assert not nlp.vocab.in_memory_zone
    assert nlp("Ada Park founded Lumen.")._.relations


def test_a_long_text_is_one_record_of_its_pieces(nlp):
    text = " ".join(random_sentences(9, seed=5))
    short = Text("b", "Ada Park founded Lumen.", "b")
    settings = Settings(chunk_chars=200)
    whole, other = annotate(nlp, [Text("a", text, "a"), short], settings)
    assert whole.record["text"] == text and whole.record["id"] == "a"
    assert whole.words == len(nlp(text))
    assert len(whole.record["relations"]) == len(nlp(text)._.relations) > 1
    assert other.record["relations"][0]["label"] == "FOUNDED"


def test_a_text_of_which_a_piece_fails_is_rejected_as_a_whole(failing):
    good = "Ada Park founded Lumen. "
    texts = [Text("a", good * 9 + "Zoe slept. " + good * 9, "a.txt"), Text("b", good * 9, "b.txt")]
    rejected, found = annotate(failing, texts, Settings(chunk_chars=100))
    assert rejected == Reject("a.txt", "ZeroDivisionError: Zoe", texts[0].text)
    assert len(found.record["relations"]) == 9
