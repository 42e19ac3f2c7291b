import bz2
import gzip
import lzma

import pytest

from spacy_klsh.corpora.lines import columns, parse_each, read_filled_lines, read_lines
from spacy_klsh.corpora.report import Report


def read(path, reader=read_lines):
    report = Report()
    lines = list(reader(path, report))
    return [(where.removeprefix(f"{path}:"), line) for where, line in lines], report


def test_only_line_feeds_end_lines(write):
    path = write(
        "a.txt", b"\xef\xbb\xbfx\r", "y\u2028\x0bz\x85\r\r", b"", b"\xef\xbb\xbf", end=b"\n"
    )
    found, report = read(path)
    assert found == [
        ("1", b"x"),
        ("2", "y\u2028\x0bz\x85\r".encode()),
        ("3", b""),
        ("4", b"\xef\xbb\xbf"),
    ]
    assert report.ok
    assert [where for where, _ in read(path, read_filled_lines)[0]] == ["1", "2", "4"]


def test_the_last_line_may_lack_its_break(write):
    assert read(write("a.txt", b"x\ny", end=b""))[0] == [("1", b"x"), ("2", b"y")]


COMPRESSED = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}


@pytest.mark.parametrize("end", ["gz", "bz2"])
def test_compressed_files(tmp_path, end):
    path = tmp_path / f"a.txt.{end}"
    path.write_bytes(COMPRESSED[end](b"x\ny\n"))
    found, report = read(path)
    assert found == [("1", b"x"), ("2", b"y")] and report.ok


@pytest.mark.parametrize("end", ["gz", "bz2"])
@pytest.mark.parametrize("damage", [lambda data: data[:-9], lambda data: b"no" + data[2:]])
def test_a_broken_file_is_an_error(tmp_path, end, damage):
    path = tmp_path / f"a.txt.{end}"
    path.write_bytes(damage(COMPRESSED[end](b"line\n" * 10_000)))
    found, report = read(path)
    assert len(found) < 10_001 and report.errors == {"broken_files": 1}
    assert report.examples["broken_files"][0].startswith(f"{path}:{len(found) + 1}: ")


def test_a_missing_file_raises(tmp_path):
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "none.txt")


def test_columns():
    assert columns(b'a\t"b \t', {3}, "3: x") == ["a", '"b ', ""]
    with pytest.raises(ValueError, match="2 columns; expected 3: x, y, z, separated by tabs"):
        columns(b"a\tb", {3}, "3: x, y, z")
    with pytest.raises(
        ValueError, match="byte 0xe9 at position 2 is not UTF-8; expected UTF-8, con"
    ):
        columns(b"a\xe9\tb", {2}, "2")


def test_parse_each_goes_on_after_errors():
    report = Report()
    found = list(
        parse_each([("f:1", "3"), ("f:2", "x"), ("f:3", "4")], lambda s, _: int(s), report)
    )
    assert found == [3, 4]
    assert report.errors == {"bad_lines": 1}
    assert report.examples["bad_lines"][0].startswith("f:2: invalid literal")


def test_errors_of_the_caller_are_not_ours():
    with pytest.raises(ValueError, match="mine"):
        for _ in parse_each([("f:1", 1)], lambda item, _: item, Report()):
            raise ValueError("mine")
