import json

import pytest

from spacy_klsh.corpora.prodigy import read_prodigy

TEXT = "Zorin-1 blocks Abc, not Xyz"
WORDS = ["Zorin", "-", "1", "blocks", "Abc", ",", "not", "Xyz"]


def token(row, word):
    start = TEXT.index(word)
    return {"text": word, "start": start, "end": start + len(word), "id": row, "ws": True}


TOKENS = [token(row, word) for row, word in enumerate(WORDS)]


def span(text, first, last):
    start = TEXT.index(text)
    return {
        "text": text,
        "start": start,
        "end": start + len(text),
        "token_start": first,
        "token_end": last,
        "label": "GGP",
    }


SPANS = [span("Zorin-1", 0, 2), span("Abc", 4, 4), span("Xyz", 7, 7)]


def relation(head, child, label):
    head, child = SPANS[head], SPANS[child]
    return {
        "head": head["token_end"],
        "child": child["token_end"],
        "head_span": {**head, "text": None},
        "child_span": child,
        "label": label,
    }


RELATIONS = [relation(0, 1, "Neg-Reg"), relation(2, 0, "No-rel")]
LINE = {
    "text": TEXT,
    "spans": SPANS,
    "tokens": TOKENS,
    "relations": RELATIONS,
    "answer": "accept",
    "meta": {"source": "PMC-1-4.txt"},
}


def changed(**keys):
    return {**LINE, **keys}


def without(*keys):
    return {key: value for key, value in LINE.items() if key not in keys}


@pytest.fixture
def read(nlp, write):
    def read(*lines):
        encoded = [line if isinstance(line, bytes) else json.dumps(line) for line in lines]
        return read_prodigy(write("x.jsonl", *encoded), nlp)

    return read


def found(doc):
    return [(r.label, r.head.text, r.tail.text) for r in doc._.relations]


def test_an_accepted_line_becomes_a_doc(read):
    (doc,), report = read(LINE)
    assert doc.text == TEXT and doc.user_data["id"] == "PMC-1-4.txt"
    spans = [(entity.text, entity.label_) for entity in doc.ents]
    assert spans == [("Zorin-1", "GGP"), ("Abc", "GGP"), ("Xyz", "GGP")]
    assert found(doc) == [("Neg-Reg", "Zorin-1", "Abc"), ("No-rel", "Xyz", "Zorin-1")]
    assert report.ok and report.relations == {"Neg-Reg": 1, "No-rel": 1}
    assert not doc.has_annotation("SENT_START")


def test_other_answers_are_counted(read):
    docs, report = read(changed(answer="reject"), without("answer"), changed(answer="ignore"))
    assert len(docs) == 1 and report.ok
    assert report.changes == {"reject_answers": 1, "ignore_answers": 1}


@pytest.mark.parametrize("meta", [{}, {"meta": None}, {"meta": {"source": 7}}])
def test_only_what_is_needed(read, meta):
    (first, second), report = read(
        {**without("tokens", "meta"), **meta}, {"text": "x", "answer": "accept"}
    )
    assert len(found(first)) == 2 and second.text == "x" and report.ok
    assert first.user_data["id"].endswith("x.jsonl:1")


def test_arguments_by_their_last_token(read):
    link = {"head": 2, "child": 7, "label": "R"}
    (doc,), report = read(changed(relations=[link]))
    assert found(doc) == [("R", "Zorin-1", "Xyz")] and report.ok


def test_offsets_tell_spans_with_one_last_token_apart(read):
    spans = [span("Zorin-1", 0, 2), span("1", 2, 2), SPANS[1]]
    link = {**RELATIONS[0], "head_span": spans[1]}
    (doc,), _ = read(changed(spans=spans, relations=[RELATIONS[0], link]))
    assert [head for _, head, _ in found(doc)] == ["Zorin-1", "1"]


def test_the_first_of_equal_spans_and_offsets_in_part(read):
    spans = [span("1", 2, 2), span("Zorin-1", 0, 2), span("1", 2, 2), SPANS[1]]
    for row, offsets in [(0, {}), (1, {"start": 0}), (0, {"start": 6}), (0, {"end": 7})]:
        link = {"head": 2, "child": 4, "label": "R", "head_span": offsets}
        (doc,), report = read(changed(spans=spans, relations=[link]))
        (relation,) = doc._.relations
        assert relation.head == doc.spans["entities"][row] and report.ok


@pytest.mark.parametrize("last", [None, [2], "2"])
def test_spans_without_a_last_token(read, last):
    spans = [{**SPANS[0], "token_end": last}, *SPANS]
    (doc,), report = read({**without("tokens"), "spans": spans})
    assert len(found(doc)) == 2 and report.ok


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (changed(answer="maybe"), "answer is 'maybe'; expected one of accept, reject, ignore"),
        (changed(answer=None), "answer is None; expected a string"),
        (without("text"), "text is missing"),
        (changed(tokens=None), "tokens is None; expected a list"),
        (changed(tokens=TOKENS[:7]), "spans[2].token_start is 7; expected a row of the 7 tokens"),
        (
            changed(spans=[{**SPANS[0], "token_end": 3}]),
            "token_end 3, from 0 to 14; expected the f",
        ),
        (changed(spans=[{**SPANS[0], "end": 28}]), "spans[0].start is 0 and end 28; expected"),
        (changed(spans=[{**SPANS[0], "end": 6}]), "spans[0].text is 'Zorin-1'; expected 'Zorin-'"),
        (changed(spans=[{**SPANS[0], "label": None}]), "spans[0].label is None; expected a string"),
        (changed(spans=SPANS[:1]), "relations[0].child is 4 from 15 to 18; expected"),
        (
            changed(relations=[{**RELATIONS[0], "head": 0}]),
            "relations[0].head is 0 from 0 to 7; expected",
        ),
        (
            changed(relations=[{"head": 5, "child": 2, "label": "R"}]),
            "relations[0].head is 5; expe",
        ),
        (
            changed(relations=[{**RELATIONS[0], "head_span": SPANS[1]}]),
            "expected the last token (t",
        ),
        (changed(relations=[{**RELATIONS[0], "label": ""}]), "relations[0].label is empty"),
        (changed(relations=[{"child": 2, "label": "R"}]), "relations[0].head is missing"),
        (b'{"text": "x', "at column 10; expected one JSON object a line"),
        (b'{"text": "\xe9"}', "byte 0xe9 at position 11 is not UTF-8"),
    ],
)
def test_a_bad_line_does_not_spoil_the_others(read, line, message):
    docs, report = read(LINE, line, LINE)
    assert [len(found(doc)) for doc in docs] == [2, 2]
    assert report.errors == {"bad_lines": 1}
    (example,) = report.examples["bad_lines"]
    assert "x.jsonl:2: " in example and message in example


def test_published_annotations(corpus, nlp):
    docs, report = read_prodigy(corpus("spacy-rel-component") / "annotations.jsonl", nlp)
    assert report.ok and len(docs) == 149 and report.changes == {"equal_relations": 4}
    assert report.mentions == {"GGP": 466} and sum(len(doc.ents) for doc in docs) == 466
    assert report.relations == {"Pos-Reg": 107, "Reg": 49, "Neg-Reg": 42, "Binds": 35, "No-rel": 34}
    assert sum(len(doc._.relations) for doc in docs) == 267
    assert len({doc.user_data["id"] for doc in docs}) == 72  # articles
