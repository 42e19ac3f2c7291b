import json

import pytest

from spacy_klsh.streaming.sources import Reject, Text

PLACE = "a.jsonl:1"


def lines(*items):
    return "".join(
        (item if isinstance(item, str) else json.dumps(item)) + "\n" for item in items
    ).encode()


@pytest.fixture
def read_one(read):
    def read_one(item, **options):
        (found,) = read(lines(item), "a.jsonl", **options)
        return found

    return read_one


def test_text_and_id_and_what_is_passed_through(read):
    first = {"id": "x", "text": "One.", "year": 2001, "tags": ["a", None], "deep": {"é": 1.5}}
    found = read(lines(first, "", {"text": ""}), "a.jsonl")
    rest = {key: first[key] for key in ("year", "tags", "deep")}
    assert found == [Text("x", "One.", PLACE, rest), Text("a.jsonl:3", "", "a.jsonl:3")]


def test_fields_of_other_names(read_one):
    item = {"pmid": 17, "abstract": "One.", "id": 1, "text": "other"}
    found = read_one(item, text_field="abstract", id_field="pmid")
    assert found == Text("17", "One.", PLACE, {"id": 1, "text": "other"})


def test_an_id_of_null_is_none(read_one):
    assert read_one({"id": None, "text": "a"}) == Text(PLACE, "a", PLACE)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"text": "a"', "no JSON (Expecting ',' delimiter, column 13); expected an object"),
        ("text", "no JSON (Expecting value, column 1); expected an object"),
        ('["text"]', "the line is ['text']; expected a JSON object"),
        ('{"id": "x"}', "the text field 'text' is not among ['id']; expected a string, or another"),
        ('{"text": null}', "the text field 'text' is None; expected a string"),
        ('{"text": "a", "id": 1.5}', "the id field 'id' is 1.5; expected a string or a whole numb"),
        ('{"text": "a", "id": true}', "the id field 'id' is True; expected a string or a whole"),
        ('{"text": "\\ud83e"}', "'\\ud83e' is half a surrogate pair; expected whole characters"),
        ('{"text": "a", "\\udc00": 1}', "'\\udc00' is half a surrogate pair"),
        ('{"text": "a", "n": NaN}', "NaN is no JSON; expected a number, or null"),
        ('{"text": "a", "n": [1e999]}', "1e999 is no JSON; expected a number, or null"),
        ('{"text": "a", "n": -1e999}', "-1e999 is no JSON"),
        ('{"text": "a", "n": ' + "9" * 5000 + "}", "Exceeds the limit"),
        ('{"text": "a", "n": ' + "[" * 100_000 + "}", "recursion"),
        ('{"text": "a\tb"}', "no JSON (Invalid control character at, column 12); expected an"),
    ],
)
def test_what_is_no_document_is_rejected_alone(read, line, message):
    first, wrong, last = read(lines({"text": "1"}, line, {"text": "3"}), "a.jsonl")
    assert (first.text, last.text, last.place) == ("1", "3", "a.jsonl:3")
    assert isinstance(wrong, Reject) and wrong.place == "a.jsonl:2" and wrong.text == line
    assert message in wrong.error and wrong.error.endswith("; correct the line.")
    json.dumps(wrong, ensure_ascii=False).encode()


def test_a_missing_id_is_an_error_if_it_was_asked_for(read_one):
    found = read_one({"text": "a"}, id_field="pmid")
    assert "the id field 'pmid' is None; expected a string" in found.error
    assert "--id-field" in found.error


def test_surrogate_pairs_are_characters(read_one):
    assert read_one('{"text": "\\ud83e\\uddec"}').text == "🧬"


def test_byte_order_marks_within_joined_files_are_skipped(read):
    content = "".join(f'\ufeff{{"text": "{i}"}}\r\n' for i in range(3)).encode()
    assert [item.text for item in read(content, "a.jsonl")] == ["0", "1", "2"]


def test_wrong_bytes_reject_their_line_alone(read):
    found = read(b'{"text": "a"}\n{"text": "\xe9"}\n{"text": "c"}', "a.ndjson")
    assert [item.text for item in found] == ["a", '{"text": "\\xe9"}\n', "c"]
    assert found[1].place == "a.ndjson:2" and "byte 0xe9" in found[1].error


def test_characters_that_end_lines_elsewhere(read_one):
    text = "a\u2028b\x85c\x0b\x1c"
    assert read_one('{"text": "' + text.replace("\x0b\x1c", "") + '"}').text == text[:5]
