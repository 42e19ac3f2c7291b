"""Lines that are appended to a file while it is read."""

import threading
import time

import pytest

from spacy_klsh.streaming import follow as module
from spacy_klsh.streaming.follow import Place, check_follow, follow
from spacy_klsh.streaming.options import Format, Options, Per

LINES = Options(per=Per.line)


@pytest.fixture(autouse=True)
def fast(monkeypatch):
    monkeypatch.setattr(module, "POLL_SECONDS", 0.01)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "a.txt"
    path.touch()
    return path


def append(path, text):
    with path.open("ab") as file:
        file.write(text.encode())


def texts(tasks):
    return [(text.id, text.text) for task in tasks for text in task.piece.read()]


def test_lines_come_once_they_are_whole(path):
    append(path, "one\r\ntwo\nthr")
    tasks = follow(str(path), LINES, 100, Place())
    assert texts([next(tasks)]) == [(f"{path}:1", "one"), (f"{path}:2", "two")]
    threading.Timer(0.1, append, (path, "ee\n\nfive\n")).start()
    assert texts([next(tasks)]) == [(f"{path}:3", "three"), (f"{path}:5", "five")]


def test_a_task_has_no_more_than_some_bytes(path):
    append(path, "".join(f"line {i}\n" for i in range(50)) + "x" * 200 + "\n")
    tasks = list(follow(str(path), LINES, 30, Place(), idle=0))
    assert [task.number for task in tasks] == list(range(len(tasks)))
    assert [task.n_bytes <= 30 for task in tasks] == [True] * (len(tasks) - 1) + [False]
    assert [text for _, text in texts(tasks)] == [*(f"line {i}" for i in range(50)), "x" * 200]


def test_it_goes_on_at_every_place(path):
    append(path, "".join(f"line {i}\n" for i in range(20)))
    tasks = list(follow(str(path), LINES, 30, Place(), idle=0))
    expected = texts(tasks)
    for i, task in enumerate(tasks):
        rest = follow(str(path), LINES, 30, Place(*task.place), idle=0)
        assert texts(tasks[: i + 1]) + texts(rest) == expected


def test_it_ends_when_nothing_comes_with_what_the_last_line_has(path):
    append(path, "one\ntwo")
    begin = time.monotonic()
    assert [text for _, text in texts(follow(str(path), LINES, 100, Place(), idle=0.2))] == [
        "one",
        "two",
    ]
    assert 0.2 <= time.monotonic() - begin < 5


def test_a_file_that_gets_shorter_is_an_error(path):
    append(path, "one\ntwo\n")
    tasks = follow(str(path), LINES, 4, Place())
    next(tasks)
    path.write_bytes(b"o\n")
    with pytest.raises(ValueError, match=r"has 2 bytes, but 4 were read"):
        next(tasks)


@pytest.mark.parametrize(
    ("source", "options"),
    [
        ("-", LINES),
        ("a.txt.gz", LINES),
        ("s3://a/b.txt", LINES),
        ("a.txt", Options()),
        ("a.txt", Options(per=Per.paragraph)),
        ("a.csv", Options()),
        ("a.spacy", Options()),
    ],
)
def test_what_cannot_be_followed_is_refused(source, options):
    with pytest.raises(ValueError, match="cannot be followed"):
        check_follow(source, options)


@pytest.mark.parametrize(
    ("source", "options"),
    [
        ("a.txt", LINES),
        ("a.jsonl", Options()),
        ("a.csv", Options(quoted=False)),
        ("a.log", Options(format=Format.jsonl)),
    ],
)
def test_files_of_lines_can_be_followed(source, options):
    check_follow(source, options)
