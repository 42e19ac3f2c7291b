import csv
import io

import pytest

from spacy_klsh.streaming.sources import Reject, Text

TABLE = b"id,text,year\nx,One.,2001\ny,Two.,2002\n"


def test_a_column_and_what_is_passed_through(read):
    assert read(TABLE, "a.csv") == [
        Text("x", "One.", "a.csv:2", {"year": "2001"}),
        Text("y", "Two.", "a.csv:3", {"year": "2002"}),
    ]


def test_columns_of_other_names(read):
    (found, _) = read(TABLE, "a.csv", text_field="year", id_field="text")
    assert found == Text("One.", "2001", "a.csv:2", {"id": "x"})


def test_tables_without_header(read):
    found = read(b"3,Title,Story\n\n4,Other,More\n", "a.csv", text_field="3")
    assert found == [
        Text("a.csv:1", "Story", "a.csv:1", {"column_1": "3", "column_2": "Title"}),
        Text("a.csv:3", "More", "a.csv:3", {"column_1": "4", "column_2": "Other"}),
    ]
    (first, _) = read(b"3,Title,Story\n4,Other,More\n", "a.csv", text_field="3", id_field="1")
    assert first == Text("3", "Story", "a.csv:1", {"column_2": "Title"})


def test_columns_without_a_name_of_their_own(read):
    (found,) = read(b"text,a,a,,column_4\none,1,2,3,4\n", "a.csv")
    assert found.fields == {"a": "1", "a_3": "2", "column_4": "3", "column_4_5": "4"}


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(("name", "delimiter"), [("a.csv", ","), ("a.tsv", "\t")])
def test_what_the_module_writes_is_read(read, end, name, delimiter):
    cells = [
        'a "b" c',
        "line\nline\r\n\nline\rline",
        delimiter,
        "",
        " x ",
        '"',
        "é🧬",
        "\x85\u2028",
    ]
    table = io.StringIO(newline="")
    writer = csv.writer(table, delimiter=delimiter, lineterminator=end)
    writer.writerows([["text", "n"], *([cell, i] for i, cell in enumerate(cells))])
    found = read(b"\xef\xbb\xbf" + table.getvalue().encode(), name)
    assert [item.text for item in found] == cells
    assert [item.fields["n"] for item in found] == [str(i) for i in range(len(cells))]


def test_places_are_those_of_the_first_line_of_a_row(read):
    found = read(b'text\n"a\nb\n"\n\nc\n', "a.csv")
    assert [(item.place, item.text) for item in found] == [("a.csv:2", "a\nb\n"), ("a.csv:6", "c")]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (b"a,b,c", "3 columns; expected 2 as in the first row; correct the row."),
        (b"a", "1 columns; expected 2 as in the first row"),
        (b'"a"b,c', "',' expected after '\"'; expected quotation marks in pairs"),
        (b"\xe9,b", "bytes that are not utf-8; expected UTF-8, or give its --encoding"),
    ],
)
def test_what_is_no_row_is_rejected_alone(read, row, message):
    first, wrong, last = read(b"text,n\na,1\n" + row + b"\nc,3\n", "a.csv")
    assert (first.text, last.text, last.place) == ("a", "c", "a.csv:4")
    assert isinstance(wrong, Reject) and wrong.place == "a.csv:3" and message in wrong.error
    assert wrong.text == row.decode(errors="backslashreplace") + "\n"


def test_a_quotation_mark_without_partner_is_rejected_with_all_it_swallows(read):
    first, wrong = read(b'text\na\n"b\nc\n', "a.csv")
    assert first.text == "a" and wrong.place == "a.csv:3" and wrong.text == '"b\nc\n'
    assert "unexpected end of data" in wrong.error and "--no-quotes" in wrong.error


def test_quotation_marks_may_be_plain_characters(read):
    content = b'text\tn\n"a\t1\nb" c\t2\n'
    found = read(content, "a.tsv", quoted=False)
    assert [(item.text, item.fields["n"]) for item in found] == [('"a', "1"), ('b" c', "2")]
    cut = read(content, "a.tsv", quoted=False, shard_bytes=4)
    assert cut == found


def test_a_missing_column_is_an_error_of_each_row(read):
    found = read(TABLE, "a.csv", text_field="body")
    assert [item.place for item in found] == ["a.csv:2", "a.csv:3"]
    assert "the text field 'body' is not among ['id', 'text', 'year']" in found[0].error


@pytest.mark.parametrize("content", [b"", b"\n\n", b"text,n\n"])
def test_tables_without_rows(read, content):
    assert read(content, "a.csv") == []


def test_cells_may_be_long(read):
    text = "x" * 200_000
    assert [item.text for item in read(f"text\n{text}\n".encode(), "a.csv")] == [text]


def test_a_header_of_wrong_bytes_rejects_the_table(read):
    (wrong,) = read(b"text,\xe9\na,b\n", "a.csv")
    assert wrong.place == "a.csv:1" and "bytes that are not utf-8" in wrong.error


def test_wide_tables(read):
    found = read("id,text\nx,één\n".encode("utf-16"), "a.csv")
    assert found == [Text("x", "één", "a.csv:2")]
