import bz2
import gzip
import io
import lzma
import sys

import pytest

from spacy_klsh.streaming.sources import Per, read_texts

BOM = b"\xef\xbb\xbf"
LOREM = b"".join(b"line %d of a longer file\n" % i for i in range(2000))


@pytest.fixture
def read(tmp_path, monkeypatch):
    """Texts of one file with the given bytes, as (id, text)."""
    monkeypatch.chdir(tmp_path)

    def read(content, per=None, *, name="a.txt"):
        (tmp_path / name).write_bytes(content)
        return [tuple(text) for text in read_texts([name], per)]

    return read


@pytest.fixture
def stdin(monkeypatch):
    def stdin(content):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))

    return stdin


def test_lines(read):
    found = read(b" one \ntwo\n\n  \nfive", Per.line)
    assert found == [("a.txt:1", " one "), ("a.txt:2", "two"), ("a.txt:5", "five")]


def test_paragraphs(read):
    found = read(b"\n\none\n two \n \nsix\n\n\n\nten\n", Per.paragraph)
    assert found == [("a.txt:3", "one\n two "), ("a.txt:6", "six"), ("a.txt:10", "ten")]


def test_a_file_as_a_whole_keeps_every_character(read):
    content = "\n één\r\n\r\ntwo\rthree \u2028 \x85 🧬\n\n"
    assert read(content.encode(), Per.file) == [("a.txt", content)]


@pytest.mark.parametrize("per", Per)
@pytest.mark.parametrize("content", [b"", BOM, b"\n", b" \n\t\r\n\r \xc2\xa0"])
def test_nothing_but_white_space_is_no_text(read, per, content):
    assert read(content, per) == []


@pytest.mark.parametrize("per", Per)
def test_a_byte_order_mark_is_no_part_of_the_text(read, per):
    ((_, text),) = read(BOM + b"one", per)
    assert text == "one"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
def test_line_ends_of_every_system(read, end):
    content = end.join(["one", "two", "", "four"]).encode()
    assert [text for _, text in read(content, Per.line)] == ["one", "two", "four"]
    assert read(content, Per.paragraph) == [("a.txt:1", f"one{end}two"), ("a.txt:4", "four")]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"], ids=["LF", "CRLF", "CR"])
def test_line_numbers_are_right_in_a_long_file(read, end):
    found = read(LOREM.replace(b"\n", end), Per.line)
    assert found == [(f"a.txt:{i + 1}", f"line {i} of a longer file") for i in range(2000)]


@pytest.mark.parametrize("odd", ["\u2028", "\x85", "\x0b", "\x0c", "\x1c", "\u2029"])
def test_only_line_ends_end_lines(read, odd):
    assert read(f"a{odd}b\nc".encode(), Per.line) == [("a.txt:1", f"a{odd}b"), ("a.txt:2", "c")]


@pytest.mark.parametrize("per", Per)
def test_the_last_line_needs_no_end(read, per):
    ((_, with_end),) = read(b"one\n", per)
    ((_, without),) = read(b"one", per)
    assert with_end.rstrip("\n") == without == "one"


def test_files_come_in_order_and_whole_by_default(tmp_path):
    for name in "cab":
        (tmp_path / name).write_text(f"{name}\n{name}\n", encoding="utf-8")
    paths = [str(tmp_path / name) for name in "cab"]
    found = [tuple(text) for text in read_texts(paths)]
    assert found == [(path, f"{name}\n{name}\n") for path, name in zip(paths, "cab", strict=True)]


@pytest.mark.parametrize("per", Per)
def test_files_of_one_name_in_two_folders_are_told_apart(tmp_path, monkeypatch, per):
    monkeypatch.chdir(tmp_path)
    paths = [f"{folder}/a.txt" for folder in ("x", "y")]
    for path in paths:
        (tmp_path / path).parent.mkdir()
        (tmp_path / path).write_bytes(b"one")
    ids = [text.id for text in read_texts(paths, per)]
    assert ids == (paths if per is Per.file else [f"{path}:1" for path in paths])


@pytest.mark.parametrize(
    ("suffix", "compress"), [("gz", gzip.compress), ("bz2", bz2.compress), ("xz", lzma.compress)]
)
def test_compressed_files(read, suffix, compress):
    found = read(compress(BOM + b"one\r\n\r\nthree"), Per.line, name=f"a.txt.{suffix}")
    assert found == [(f"a.txt.{suffix}:1", "one"), (f"a.txt.{suffix}:3", "three")]


@pytest.mark.parametrize("name", ["a.gz", "a.bz2", "a.xz"])
def test_what_only_looks_compressed_is_refused_by_name(read, name):
    with pytest.raises(ValueError, match=rf"{name} cannot be read to its end"):
        read(b"plain text", name=name)


@pytest.mark.parametrize(
    "content",
    [gzip.compress(LOREM, mtime=0)[:100], gzip.compress(LOREM, mtime=0)[:50] + bytes(100)],
    ids=["cut off", "damaged"],
)
def test_damaged_archives_are_refused_by_name(read, content):
    with pytest.raises(ValueError, match=r"a\.gz cannot be read to its end .* copy it again"):
        read(content, Per.line, name="a.gz")


def test_standard_input_comes_line_by_line(stdin):
    stdin(BOM + b"one\r\ntwo\n\nfour")
    found = [tuple(text) for text in read_texts(["-"])]
    assert found == [("-:1", "one"), ("-:2", "two"), ("-:4", "four")]


def test_standard_input_as_a_whole(stdin):
    stdin("één\n\ntwo".encode())
    assert [tuple(text) for text in read_texts(["-"], Per.file)] == [("-", "één\n\ntwo")]


@pytest.mark.parametrize("per", Per)
@pytest.mark.parametrize("encoding", ["latin-1", "utf-16"])
def test_another_encoding_is_refused_by_name(read, per, encoding):
    with pytest.raises(ValueError, match=r"a\.txt is no UTF-8 .*iconv"):
        read("één\n".encode(encoding), per)


def test_lines_before_a_wrong_byte_come_first(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(LOREM + b"\xe9")
    texts = read_texts([str(path)], Per.line)
    assert next(texts).text == "line 0 of a longer file"
    with pytest.raises(ValueError, match=r"a\.txt is no UTF-8"):
        list(texts)


def test_a_file_is_opened_when_its_turn_comes(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"one")
    texts = read_texts([str(path), str(tmp_path / "missing.txt")])
    assert next(texts).text == "one"
    with pytest.raises(FileNotFoundError, match=r"missing\.txt"):
        next(texts)
