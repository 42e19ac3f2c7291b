import random

import pytest
import spacy
import tiny
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.tokens import Doc, Span
from spacy.util import filter_spans

from spacy_klsh.corpora.jsonl import to_json
from spacy_klsh.streaming import chunks
from spacy_klsh.streaming.chunks import cut, cut_doc, cut_texts, join
from spacy_klsh.streaming.texts import Text

BLANK = spacy.blank("en")
LONG = " ".join(tiny.sentence(pattern, i) for i in range(30) for pattern in tiny.SENTENCES)
TEXTS = st.one_of(
    st.text(max_size=80),
    st.lists(
        st.sampled_from(["Ada. ", "e.g. ", "Lumen", " ", "\n", "\r\n", "!?", "é🧬", "。"])
    ).map("".join),
)


def pieces(text, size):
    return list(cut(text, size, BLANK.tokenizer))


@settings(max_examples=200, deadline=None)
@given(text=TEXTS, size=st.integers(1, 90), window=st.integers(1, 100))
def test_pieces_are_the_text_and_short_enough(text, size, window):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chunks, "WINDOW", window)
        found = pieces(text, size)
    assert "".join(found) == text
    assert all(0 < len(piece) <= size for piece in found) or found == [""]
    assert len(found) == 1 or len(text) > size


@pytest.mark.parametrize(
    ("text", "size", "expected"),
    [
        ("One two. Three four. Five.", 100, ["One two. Three four. Five."]),
        ("One two. Three four. Five.", 23, ["One two. Three four. ", "Five."]),
        ("One two. Three four. Five.", 20, ["One two. ", "Three four. Five."]),
        ("One two. Three four. Five.", 9, ["One two. ", "Three ", "four. ", "Five."]),
        ("Mr. A met Mr. B there. End.", 24, ["Mr. A met Mr. B there. ", "End."]),
        ("Mr. A met Mr. B there. End.", 17, ["Mr. A met Mr. B ", "there. End."]),
        ("one two three", 8, ["one two ", "three"]),
        ("abcdefgh", 3, ["abc", "def", "gh"]),
        ("Was? Ja! Nein。 Gut", 16, ["Was? Ja! Nein。 ", "Gut"]),
    ],
)
def test_the_last_sentence_end_then_white_space_then_anywhere(text, size, expected):
    found = pieces(text, size)
    assert found == expected


def test_a_piece_may_be_as_long_as_allowed():
    assert pieces("One two. Three.", 9) == ["One two. ", "Three."]
    assert [len(piece) for piece in pieces("x" * 30, 10)] == [10, 10, 10]


def test_sentence_ends_are_looked_for_in_a_window_only(monkeypatch):
    monkeypatch.setattr(chunks, "WINDOW", 10)
    assert pieces("One. " + "x" * 20, 24) == ["One. " + "x" * 19, "x"]


def naive_join(nlp, text, size):
    """Entities and relations of all pieces by their characters in the whole."""
    found = []
    start = 0
    for piece in pieces(text, size):
        for relation in nlp(piece)._.relations:
            spans = [
                (start + s.start_char, start + s.end_char) for s in relation.arguments.values()
            ]
            found.append((relation.label, *spans))
        start += len(piece)
    return found


@pytest.mark.parametrize("size", [70, 150, 10_000])
def test_relations_stand_where_they_stand_in_the_whole(nlp, size):
    records = [to_json(nlp(piece)) for piece in cut(LONG, size, nlp.tokenizer)]
    record = join(records)
    assert record["text"] == LONG
    rows = [(entity["start"], entity["end"]) for entity in record["entities"]]
    found = [(r["label"], rows[r["head"]], rows[r["tail"]]) for r in record["relations"]]
    assert found == naive_join(nlp, LONG, size)
    assert len(found) > 60
    assert {LONG[start:end] for start, end in rows} == {*tiny.PEOPLE, *tiny.FIRMS}


def test_a_text_cut_at_sentence_ends_has_the_relations_of_the_whole(nlp):
    whole = to_json(nlp(LONG))
    joined = join([to_json(nlp(piece)) for piece in cut(LONG, 300, nlp.tokenizer)])
    assert joined["entities"] == whole["entities"]
    assert [r["label"] for r in joined["relations"]] == [r["label"] for r in whole["relations"]]


@settings(max_examples=100, deadline=None)
@given(text=TEXTS, size=st.integers(1, 40), seed=st.integers(0, 99))
def test_tokens_entities_and_spans_of_docs_stay_whole(text, size, seed):
    doc, rng = BLANK.make_doc(text), random.Random(seed)
    starts = sorted(rng.sample(range(len(doc)), min(3, len(doc))))
    ends = [min(len(doc), i + rng.randint(1, 4)) for i in starts]
    spans = [Span(doc, *ab, "X", span_id=f"{ab}") for ab in zip(starts, ends, strict=True)]
    doc.spans["all"] = spans
    doc.set_ents(filter_spans(spans), default="blocked")
    found = list(cut_doc(doc, size, BLANK.tokenizer))
    assert "".join(part.text for part in found) == doc.text
    tokens = [token.text for part in found for token in part]
    assert tokens == [token.text for token in doc]
    for of in (lambda part: part.ents, lambda part: part.spans["all"]):
        start, moved = 0, []
        for part in found:
            moved += [(start + s.start_char, start + s.end_char, s.label_, s.id_) for s in of(part)]
            start += len(part.text)
        assert sorted(moved) == sorted((s.start_char, s.end_char, s.label_, s.id_) for s in of(doc))
    longest = max((len(s.text_with_ws) for s in (*doc, *spans)), default=0)
    assert all(len(part.text) <= max(size, 3 * longest) for part in found)


def test_a_long_doc_is_cut_like_its_text(nlp):
    doc = nlp.make_doc(LONG)
    text = Text("a", LONG, "a", doc=doc.to_bytes())
    found = list(cut_texts([text, text._replace(doc=None)], 300, nlp.tokenizer))
    half = len(found) // 2
    parts = [Doc(nlp.vocab).from_bytes(piece.content).text for piece in found[:half]]
    assert parts == [piece.content for piece in found[half:]] and half > 10
    assert [piece.is_last for piece in found] == 2 * [*[False] * (half - 1), True]
    (whole,) = cut_texts([text], len(LONG), nlp.tokenizer)
    assert whole.content is text.doc and whole.is_last


def test_all_else_is_that_of_the_first_piece():
    entity = {"start": 1, "end": 2, "label": "X", "id": "T"}
    one = {"id": "a", "text": "abc", "entities": [entity], "year": 1}
    event = {"label": "R", "arguments": {"trigger": 0, "Theme": 0}, "score": 0.5}
    joined = join([{**one, "relations": []}, {**one, "relations": [event]}])
    assert joined == {
        "id": "a",
        "text": "abcabc",
        "entities": [entity, {**entity, "start": 4, "end": 5}],
        "year": 1,
        "relations": [{"label": "R", "arguments": {"trigger": 1, "Theme": 1}, "score": 0.5}],
    }
    assert join([{**one, "relations": []}]) == {**one, "relations": []}
