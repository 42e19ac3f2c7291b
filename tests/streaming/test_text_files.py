import bz2
import gzip
import lzma
import random
import sys
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from spacy_klsh.streaming.sources import Options, Per, Reject, Text, plan

BOM = b"\xef\xbb\xbf"
LOREM = b"".join(b"line %d of a longer file\n" % i for i in range(2000))


def read_all(inputs, **options):
    return [item for shard in plan(inputs, Options(**options)) for item in shard.read()]


def pairs(items):
    return [(item.id, item.text) for item in items]


def test_lines(read_pairs):
    found = read_pairs(b" one \ntwo\n\n  \nfive", per=Per.line)
    assert found == [("a.txt:1", " one "), ("a.txt:2", "two"), ("a.txt:5", "five")]


def test_paragraphs(read_pairs):
    found = read_pairs(b"\n\none\n two \n \nsix\n\n\n\nten\n", per=Per.paragraph)
    assert found == [("a.txt:3", "one\n two "), ("a.txt:6", "six"), ("a.txt:10", "ten")]


def test_a_file_as_a_whole_keeps_every_character(read_pairs):
    content = "\n één\r\n\r\ntwo\rthree \u2028 \x85 🧬\n\n"
    assert read_pairs(content.encode(), per=Per.file) == [("a.txt", content)]


@pytest.mark.parametrize("per", Per)
@pytest.mark.parametrize("content", [b"", BOM, b"\n", b" \n\t\r\n\r \xc2\xa0"])
def test_nothing_but_white_space_is_no_text(read, per, content):
    assert read(content, per=per) == []


@pytest.mark.parametrize("per", Per)
def test_a_byte_order_mark_is_no_part_of_the_text(read, per):
    (text,) = read(BOM + b"one", per=per)
    assert text.text == "one"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
def test_line_ends_of_every_system(read_pairs, end):
    content = end.join(["one", "two", "", "four"]).encode()
    assert [text for _, text in read_pairs(content, per=Per.line)] == ["one", "two", "four"]
    expected = [("a.txt:1", f"one{end}two"), ("a.txt:4", "four")]
    assert read_pairs(content, per=Per.paragraph) == expected


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"], ids=["LF", "CRLF", "CR"])
def test_line_numbers_are_right_in_a_long_file(read_pairs, end):
    found = read_pairs(LOREM.replace(b"\n", end), per=Per.line, shard_bytes=999)
    assert found == [(f"a.txt:{i + 1}", f"line {i} of a longer file") for i in range(2000)]


@pytest.mark.parametrize("odd", ["\u2028", "\x85", "\x0b", "\x0c", "\x1c", "\u2029"])
def test_only_line_ends_end_lines(read_pairs, odd):
    found = read_pairs(f"a{odd}b\nc".encode(), per=Per.line)
    assert found == [("a.txt:1", f"a{odd}b"), ("a.txt:2", "c")]


@pytest.mark.parametrize("per", Per)
def test_the_last_line_needs_no_end(read, per):
    (with_end,) = read(b"one\n", per=per)
    (without,) = read(b"one", per=per)
    assert with_end.text.rstrip("\n") == without.text == "one"


def test_files_come_in_order_and_whole_by_default(tmp_path):
    for name in "cab":
        (tmp_path / name).write_text(f"{name}\n{name}\n", encoding="utf-8")
    paths = [str(tmp_path / name) for name in "cab"]
    expected = [(path, f"{name}\n{name}\n") for path, name in zip(paths, "cab", strict=True)]
    assert pairs(read_all(paths)) == expected


@pytest.mark.parametrize("per", Per)
def test_files_of_one_name_in_two_folders_are_told_apart(tmp_path, monkeypatch, per):
    monkeypatch.chdir(tmp_path)
    paths = [f"{folder}/a.txt" for folder in ("x", "y")]
    for path in paths:
        (tmp_path / path).parent.mkdir()
        (tmp_path / path).write_bytes(b"one")
    ids = [text.id for text in read_all(paths, per=per)]
    assert ids == (paths if per is Per.file else [f"{path}:1" for path in paths])


def zstd_compress(content):
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        zstd = pytest.importorskip("backports.zstd", reason="the extra zst is not installed")
    return zstd.compress(content)


PACKERS = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstd_compress,
}


@pytest.mark.parametrize("suffix", PACKERS)
def test_compressed_files(read_pairs, suffix):
    content = PACKERS[suffix](BOM + b"one\r\n\r\nthree")
    found = read_pairs(content, f"a.txt.{suffix}", per=Per.line)
    assert found == [(f"a.txt.{suffix}:1", "one"), (f"a.txt.{suffix}:3", "three")]


@pytest.mark.parametrize("suffix", PACKERS)
@pytest.mark.parametrize("per", Per)
def test_what_only_looks_compressed_is_rejected_by_name(read, suffix, per):
    PACKERS[suffix](b"")  # or there is a reason to skip
    (reject,) = read(b"plain text", f"a.{suffix}", per=per)
    assert isinstance(reject, Reject) and reject.place == f"a.{suffix}"
    assert "cannot be read to its end" in reject.error and "copy it again" in reject.error


@pytest.mark.parametrize("suffix", ["gz", "xz", "zst"])
def test_lines_before_the_damage_of_an_archive_are_read(read, suffix):
    content = random.Random(0).randbytes(600_000).hex(" ", 20).replace(" ", "\n")
    packed = PACKERS[suffix](content.encode())
    *texts, reject = read(packed[: len(packed) * 2 // 3], f"a.{suffix}", per=Per.line)
    assert len(texts) > 15_000
    assert [text.text for text in texts] == content.splitlines()[: len(texts)]
    assert reject.place == f"a.{suffix}:{len(texts) + 1}"
    assert "cannot be read to its end" in reject.error


def test_standard_input_comes_line_by_line(stdin):
    stdin(BOM + b"one\r\ntwo\n\nfour")
    assert pairs(read_all(["-"])) == [("-:1", "one"), ("-:2", "two"), ("-:4", "four")]


def test_standard_input_as_a_whole(stdin):
    stdin("één\n\ntwo".encode())
    assert pairs(read_all(["-"], per=Per.file)) == [("-", "één\n\ntwo")]


WRONG = Reject(
    "a.txt:2",
    "byte 0xe9 at position 2 is not utf-8; save it as UTF-8, or give its --encoding.",
    "b\\xe9b",
)


def test_wrong_bytes_reject_their_line_alone(read):
    found = read(b"a\nb\xe9b\r\nc\xc3\xa9", per=Per.line)
    a, c = Text("a.txt:1", "a", "a.txt:1"), Text("a.txt:3", "cé", "a.txt:3")
    assert found == [a, WRONG._replace(text="b\\xe9b\r\n"), c]


def test_wrong_bytes_reject_their_paragraph_alone(read):
    wrong, good = read(b"a\nb\xe9b\nc\n\nd\n", per=Per.paragraph)
    assert wrong == WRONG._replace(text="a\nb\\xe9b\nc")
    assert good == Text("a.txt:5", "d", "a.txt:5")


def test_wrong_bytes_reject_their_file_alone(read, tmp_path):
    (tmp_path / "b.txt").write_bytes(b"good")
    (wrong,) = read(b"a\nb\xe9b\nc\n", per=Per.file)
    assert wrong == WRONG._replace(text="a\nb\\xe9b\nc\n")
    assert [type(item) for item in read_all(["a.txt", "b.txt"])] == [Reject, Text]


@pytest.mark.parametrize("per", Per)
@pytest.mark.parametrize(
    "encoding",
    ["latin-1", "cp1252", "utf-8-sig", "shift_jis", "gb18030", "iso2022_jp", "utf-16-le"],
)
def test_other_encodings_if_they_are_named(read, per, encoding):
    text = "日本\r\n日本" if encoding in ("shift_jis", "gb18030", "iso2022_jp") else "één\r\néén"
    found = read(text.encode(encoding), per=per, encoding=encoding)
    expected = text.splitlines() if per is Per.line else [text]
    assert [item.text for item in found] == expected


@pytest.mark.parametrize("per", Per)
@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
@pytest.mark.parametrize("named", [True, False])
def test_encodings_that_a_mark_tells(read, per, encoding, named):
    content = "één\r\nzwei\r\n".encode(encoding)
    options = {"encoding": encoding} if named else {}
    found = read(content, per=per, shard_bytes=7, **options)
    assert "".join(item.text for item in found).split() == (
        ["éénzwei"] if per is Per.line else ["één", "zwei"]
    )


def test_half_a_surrogate_pair_rejects_its_line_alone(read):
    content = "a\n".encode("utf-16") + b"\x00\xd8" + "b\nc\n".encode("utf-16-le")
    a, wrong, c = read(content, per=Per.line)
    assert (a.text, c.text) == ("a", "c")
    assert wrong.place == "a.txt:2" and "0xed" in wrong.error
    wrong.text.encode()


def test_a_wide_file_that_breaks_off(read):
    *texts, wrong = read("one\ntwo\n".encode("utf-16")[:-1], per=Per.line)
    assert [text.text for text in texts] == ["one"]
    assert wrong.place == "a.txt:2" and "is no utf-16 from here on" in wrong.error


def test_an_unknown_encoding_is_an_error():
    with pytest.raises(ValueError, match=r"encoding is 'utf-9'; give one that Python knows"):
        Options(encoding="utf-9")


def test_a_file_that_is_gone_when_its_turn_comes_is_rejected(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"one")
    (shard,) = plan([str(path)])
    path.unlink()
    (reject,) = shard.read()
    assert reject.place == str(path) and "cannot be opened" in reject.error


def test_lines_come_as_soon_as_they_are_there(monkeypatch):
    import io

    from spacy_klsh.streaming.lines import read_blocks, split_lines

    class Slow(io.RawIOBase):
        parts = iter([b"one\ntw", b"o\r", b"\nthr", b"ee"])

        def read1(self, _):
            log.append("read")
            return next(self.parts, b"")

    log = []
    for _, line in split_lines(read_blocks(Slow(), "-")):
        log.append(line)
    assert log == ["read", b"one\n", "read", "read", b"two\r\n", "read", "read", b"three"]


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture
def site(tmp_path):
    """The address of a web server on the files of a folder."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=tmp_path)) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_urls_also_packed_and_with_a_query(site, tmp_path):
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(b"one\ntwo\n"))
    url = f"{site}/a.txt.gz?signature=b.txt"
    assert pairs(read_all([url], per=Per.line)) == [(f"{url}:1", "one"), (f"{url}:2", "two")]
    (reject,) = read_all([f"{site}/missing.txt"])
    assert reject.place == f"{site}/missing.txt" and "404" in reject.error


@pytest.mark.parametrize("name", ["what?.txt", "a#b.txt", "50%20.txt", "a b.txt", "é.txt"])
@pytest.mark.parametrize("per", [Per.line, Per.file])
def test_names_with_odd_characters(read, name, per):
    (text,) = read(b"one", name, per=per)
    assert text.text == "one" and text.id.startswith(name)
