import json
import pickle
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_klsh.streaming.sources import Format, Options, Per, Reject, Text, plan

LINES = st.lists(
    st.tuples(
        st.sampled_from(
            [
                *(b"", b" ", b"\t", b"a", "é b".encode(), b"\xe9", b'{"text": "x"}', b"1\t2"),
                *(b"\xff\xfe", b"\xef\xbb\xbf"),
            ]
        ),
        st.sampled_from([b"\n", b"\n", b"\r\n", b"\r", b"\n\n"]),
    ),
    max_size=20,
).map(lambda pairs: b"".join(line + end for line, end in pairs))
OPTIONS = [
    Options(per=Per.line),
    Options(per=Per.paragraph),
    Options(format=Format.jsonl),
    Options(format=Format.tsv, quoted=False),
    Options(format=Format.tsv, quoted=False, text_field="1"),
    Options(format=Format.csv),
    Options(),
]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("cut") / "a.txt"


def items(shards):
    return [item for shard in shards for item in shard.read()]


@pytest.mark.parametrize("options", OPTIONS)
@settings(max_examples=60, deadline=None)
@given(content=LINES, n_bytes=st.integers(1, 60), last=st.sampled_from([b"", b"end", b"\r"]))
def test_how_the_input_is_cut_changes_nothing(path, options, content, n_bytes, last):
    path.write_bytes(content + last)
    shards = list(plan([str(path)], options, shard_bytes=n_bytes))
    assert items(shards) == items(plan([str(path)], options))
    assert sum(shard.n_bytes for shard in shards) == len(content + last)
    assert pickle.loads(pickle.dumps(shards)) == shards


def naive_texts(content, per):
    """Place and text of lines or paragraphs: regular expressions on the whole text."""
    line = re.compile(r"[^\r\n]*(?:\r\n|\n|\r|$)")
    lines = [found for found in line.findall(content) if found]
    if per is Per.line:
        numbered = [(i, line) for i, line in enumerate(lines, 1) if line.strip()]
    else:
        marks = "".join("x" if line.strip() else " " for line in lines)
        spans = [found.span() for found in re.finditer("x+", marks)]
        numbered = [(start + 1, "".join(lines[start:end])) for start, end in spans]
    return [(f"p:{i}", text.rstrip("\r\n")) for i, text in numbered]


@pytest.mark.parametrize("per", [Per.line, Per.paragraph])
@settings(max_examples=60, deadline=None)
@given(content=st.text("ab \t\r\n\xa0\x85\u2028é", max_size=60), n_bytes=st.integers(1, 60))
def test_texts_are_those_of_the_naive_reader(path, per, content, n_bytes):
    path.write_bytes(content.encode())
    found = items(plan([str(path)], Options(per=per), shard_bytes=n_bytes))
    expected = naive_texts(content, per)
    assert [(text.id.replace(str(path), "p"), text.text) for text in found] == expected


def test_pieces_are_about_equal_and_end_at_lines(path):
    lines = [f"line {i}" for i in range(5000)]
    path.write_text("\n".join(lines), encoding="utf-8")
    shards = list(plan([str(path)], Options(per=Per.line), shard_bytes=1000))
    sizes = [shard.n_bytes for shard in shards]
    assert all(980 < size <= 1000 for size in sizes[:-1])
    assert [text.text for text in items(shards)] == lines
    first = next(shards[3].read())
    assert first.place == shards[3].source == f"{path}:{shards[3].cut.first_line}"


def test_paragraphs_longer_than_a_piece_stay_whole(path):
    paragraph = "\r\n".join(["word " * 20] * 30)
    path.write_bytes(f"{paragraph}\r\n \r\n{paragraph}\r\n\r\nend".encode())
    shards = list(plan([str(path)], Options(per=Per.paragraph), shard_bytes=50))
    assert [text.text for text in items(shards)] == [paragraph, paragraph, "end"]
    assert len(shards) > 1


def test_small_files_share_a_shard(tmp_path):
    for i in range(10):
        (tmp_path / f"{i}.txt").write_bytes(b"x" * 100)
    (tmp_path / "5.txt").write_bytes(b"y" * 900)
    shards = list(plan([str(tmp_path)], shard_bytes=300))
    assert [len(shard.sources) for shard in shards] == [3, 2, 1, 3, 1]
    assert [shard.n_bytes for shard in shards] == [300, 200, 900, 300, 100]
    assert [text.text[0] for text in items(shards)] == [*"xxxxxyxxxx"]
    assert shards[0].source == f"{tmp_path / '0.txt'} and 2 more"


def test_standard_input_is_a_shard_of_unknown_size(tmp_path, stdin):
    (tmp_path / "a.txt").write_bytes(b"a")
    stdin(b'{"text": "b"}\n')
    shards = list(plan([str(tmp_path / "a.txt"), "-"], Options(format=Format.jsonl)))
    assert [shard.n_bytes for shard in shards] == [1, None]
    assert items(shards[1:]) == [Text("-:1", "b", "-:1")]


@pytest.mark.parametrize(
    "options", [Options(), Options(format=Format.csv), Options(encoding="utf-16")]
)
def test_what_cannot_be_cut_is_a_shard_as_a_whole(path, options):
    path.write_bytes("a\n".encode("utf-16") * 100)
    (shard,) = plan([str(path)], options, shard_bytes=10)
    assert shard.cut is None


def test_missing_files_are_an_error_before_the_first_shard(path):
    path.write_bytes(b"a")
    with pytest.raises(FileNotFoundError, match=r"no such file: no\.txt"):
        next(plan([str(path), "no.txt"]))


@pytest.mark.parametrize("format", Format)
@pytest.mark.parametrize("per", Per)
@settings(max_examples=40, deadline=None)
@given(
    content=st.binary(max_size=80) | LINES | st.text(max_size=40).map(lambda t: t.encode("utf-16"))
)
def test_no_bytes_break_a_reader(path, format, per, content):
    path.write_bytes(content)
    for item in items(plan([str(path)], Options(format=format, per=per))):
        assert isinstance(item, Text | Reject) and item.place.startswith(str(path.with_suffix("")))
        json.dumps(item._replace(doc=None) if isinstance(item, Text) else item).encode()
        (item.text or "").encode()


@settings(max_examples=60, deadline=None)
@given(content=st.lists(st.binary(max_size=6)).map(b"\n".join))
def test_every_line_is_a_text_or_rejected(path, content):
    path.write_bytes(b"x\n" + content)  # a mark in front would mean another encoding
    found = items(plan([str(path)], Options(per=Per.line)))
    lines = enumerate((b"x\n" + content).splitlines(), 1)
    filled = [number for number, line in lines if line.decode(errors="replace").strip()]
    assert [item.place for item in found] == [f"{path}:{number}" for number in filled]
