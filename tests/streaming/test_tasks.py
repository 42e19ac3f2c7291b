import io
import sys
from pathlib import Path

import pytest

from spacy_klsh.streaming.sources import Options, Per
from spacy_klsh.streaming.tasks import Given, tasks

LINES = Options(per=Per.line)


@pytest.fixture
def file(tmp_path):
    def file(name, n_lines):
        path = tmp_path / name
        path.write_text("".join(f"line {i} of {name}\n" for i in range(n_lines)))
        return str(path)

    return file


def texts(found):
    return [text.text for task in found for text in task.piece.read()]


def test_a_large_file_is_cut_and_small_ones_go_together(file):
    inputs = [file("large", 20), *(file(f"small{i}", 1) for i in range(12))]
    found = list(tasks(inputs, LINES, 100))
    assert [task.number for task in found] == list(range(len(found)))
    assert texts(found) == [
        *(f"line {i} of large" for i in range(20)),
        *(f"line 0 of small{i}" for i in range(12)),
    ]
    assert 4 < len(found) < 12
    assert sum(task.n_bytes for task in found) == sum(Path(path).stat().st_size for path in inputs)


def test_standard_input_is_read_once_and_comes_with_its_tasks(file, monkeypatch):
    content = b"".join(b"line %d\n" % i for i in range(30))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    found = list(tasks([file("a", 1), "-", file("b", 1)], LINES, 100))
    assert texts(found) == ["line 0 of a", *(f"line {i}" for i in range(30)), "line 0 of b"]
    assert all(isinstance(task.piece, Given) for task in found[1:-1])
    assert texts(found)[1:3] == ["line 0", "line 1"]


def test_a_large_file_that_cannot_be_cut_is_read_here_piece_by_piece(tmp_path):
    path = tmp_path / "whole.txt"
    path.write_text("x" * 101)
    (task,) = tasks([str(path)], Options(per=Per.file), 100)
    assert isinstance(task.piece, Given) and texts([task]) == ["x" * 101]
