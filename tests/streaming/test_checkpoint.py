"""A journal that is interrupted anywhere and resumed is that of a run without interruption."""

import json
import os
import shutil
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_klsh.streaming import checkpoint, parts
from spacy_klsh.streaming.checkpoint import Finished, folder_of, opened, read_records, rejects_of
from spacy_klsh.streaming.engine import Annotated
from spacy_klsh.streaming.lock import locked
from spacy_klsh.streaming.parts import Part, whole_file, write_part
from spacy_klsh.streaming.texts import Reject

ABOUT = {"model": {"SHA-256": "abc"}, "inputs": {"a.txt": [1, 2], "b.txt": None}}
N_TASKS = 4


class Crash(BaseException):
    """The process is gone."""


def results(number):
    """What becomes of the texts of a task."""
    for i in range(number + 1):
        record = {"id": f"{number}:{i}", "text": "é\udc80" * i, "relations": [{}] * i}
        yield Annotated(record, i, {"cross_sentence": i})
        if i % 2:
            yield Reject(f"a.txt:{number}", "ValueError: bad", "text")


def part(folder, number):
    path = folder / f"{number}.part"
    with whole_file(path) as file:
        write_part(file, results(number))
    return Part.read(path)


def run(output, sink=None, **modes):
    with opened(output, ABOUT, **modes) as journal:
        if not journal.state.complete:
            for number in range(journal.state.tasks, N_TASKS):
                journal.append(part(journal.folder, number))
        journal.finish(sink)
        return journal.state.counts


def contents(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    run(folder / "out.jsonl")
    return contents(folder)


def test_a_run_leaves_the_output_and_the_rejects_and_nothing_else(expected):
    assert set(expected) == {"out.jsonl", "out.jsonl.rejects.jsonl"}
    records = [json.loads(line) for line in expected["out.jsonl"].splitlines()]
    wanted = [result for n in range(N_TASKS) for result in results(n)]
    assert records == [result.record for result in wanted if isinstance(result, Annotated)]
    rejects = [json.loads(line) for line in expected["out.jsonl.rejects.jsonl"].splitlines()]
    assert rejects == [result._asdict() for result in wanted if isinstance(result, Reject)]


def test_counts_are_those_of_all_parts(tmp_path):
    counts = run(tmp_path / "out.jsonl")
    assert (counts.documents, counts.rejected, counts.relations, counts.words) == (10, 4, 10, 10)
    assert counts.skipped == {"cross_sentence": 10}


def crashing(monkeypatch, n_steps):
    """Let the process end at its step number `n_steps` on the disk; returns how many it took."""
    taken = [0]

    def step(function):
        def stepping(*arguments, **options):
            taken[0] += 1
            if taken[0] == n_steps:
                raise Crash
            return function(*arguments, **options)

        return stepping

    for owner, name in (
        (parts, "to_disk"),
        (parts, "copy_bytes"),
        (checkpoint, "to_disk"),
        (checkpoint, "sync_folder"),
        (Path, "replace"),
        (Path, "unlink"),
        (Path, "mkdir"),
        (shutil, "rmtree"),
        (os, "unlink"),
        (os, "rmdir"),
    ):
        monkeypatch.setattr(owner, name, step(getattr(owner, name)))
    return taken


def n_steps(folder):
    with pytest.MonkeyPatch.context() as patch:
        taken = crashing(patch, -1)
        run(folder / "out.jsonl")
    return taken[0]


def test_after_an_end_at_any_step_it_is_resumed_to_the_same_bytes(tmp_path, expected):
    total = n_steps(tmp_path / "count")
    assert total > 50
    for step in range(1, total + 1):
        folder = tmp_path / str(step)
        with pytest.MonkeyPatch.context() as patch:
            crashing(patch, step)
            with suppress(Crash):
                run(folder / "out.jsonl")
        with suppress(Finished):
            run(folder / "out.jsonl", resume=True)
        assert contents(folder) == expected, step


@settings(max_examples=30, deadline=None)
@given(steps=st.lists(st.integers(1, 40), max_size=6))
def test_after_any_number_of_ends_too(tmp_path_factory, expected, steps):
    folder = tmp_path_factory.mktemp("ends")
    output = folder / "out.jsonl"
    for step in [*steps, -1]:
        with pytest.MonkeyPatch.context() as patch:
            crashing(patch, step)
            with suppress(Crash, Finished):
                run(output, resume=True)
    assert contents(folder) == expected


def test_bytes_behind_the_checkpoint_do_not_count(tmp_path, expected):
    output = tmp_path / "out.jsonl"
    with opened(output, ABOUT) as journal:
        journal.append(part(journal.folder, 0))
        journal.append(part(journal.folder, 1))
    for path in folder_of(output).glob("re*"):
        path.write_bytes(path.read_bytes() + b'{"half a li')
    run(output, resume=True)
    assert contents(tmp_path) == expected


def test_a_journal_shorter_than_its_checkpoint_is_an_error(tmp_path):
    output = tmp_path / "out.jsonl"
    with opened(output, ABOUT) as journal:
        journal.append(part(journal.folder, 2))
    (folder_of(output) / "records.jsonl").write_bytes(b"")
    with pytest.raises(ValueError, match=r"has 0 bytes, but the checkpoint counts \d+"):
        run(output, resume=True)


def test_nothing_is_overwritten_unasked(tmp_path, expected):
    output = tmp_path / "out.jsonl"
    run(output)
    with pytest.raises(FileExistsError, match=r"out\.jsonl exists; .*--overwrite"):
        run(output)
    with pytest.raises(Finished, match="is finished: there is nothing to resume"):
        run(output, resume=True)
    assert contents(tmp_path) == expected
    run(output, overwrite=True)
    assert contents(tmp_path) == expected


def test_rejects_of_an_output_that_is_gone_are_not_overwritten_either(tmp_path):
    output = tmp_path / "out.jsonl"
    rejects_of(output).write_text("mine")
    with pytest.raises(FileExistsError, match="rejects"):
        run(output)
    assert rejects_of(output).read_text() == "mine" and not folder_of(output).exists()


def test_an_overwritten_output_stays_until_the_new_one_is_there(tmp_path):
    output = tmp_path / "out.jsonl"
    output.write_text("old")
    with opened(output, ABOUT, overwrite=True) as journal:
        journal.append(part(journal.folder, 0))
    assert output.read_text() == "old"
    run(output, resume=True)
    assert output.read_text().startswith('{"id": "0:0"')


def test_an_unfinished_run_is_neither_overwritten_nor_resumed_unasked(tmp_path):
    output = tmp_path / "out.jsonl"
    with opened(output, ABOUT) as journal:
        journal.append(part(journal.folder, 0))
    before = contents(folder_of(output))
    with pytest.raises(FileExistsError, match=r"did not end .*--resume, or .*--overwrite"):
        run(output)
    assert contents(folder_of(output)) == before
    with opened(output, ABOUT, overwrite=True) as journal:
        assert journal.state.tasks == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model": {"SHA-256": "xyz"}}, "model: SHA-256 changed from 'abc' to 'xyz'"),
        ({"inputs": {"a.txt": [1, 3], "b.txt": None}}, r"inputs: a\.txt changed from \[1, 2\]"),
        ({"inputs": {"a.txt": [1, 2]}}, r"inputs: b\.txt is gone"),
        ({"inputs": {**ABOUT["inputs"], "c.txt": [1, 2]}}, r"inputs: c\.txt is new"),
        ({"inputs": {"b.txt": None, "a.txt": [1, 2]}}, "inputs: their order changed"),
    ],
)
def test_what_answers_depend_on_must_not_change(tmp_path, change, message):
    output = tmp_path / "out.jsonl"
    with opened(output, ABOUT) as journal:
        journal.append(part(journal.folder, 0))
    before = contents(folder_of(output))
    with (
        pytest.raises(ValueError, match=message + ".*--overwrite"),
        opened(output, {**ABOUT, **change}, resume=True),
    ):
        pass
    assert contents(folder_of(output)) == before


def test_two_runs_cannot_have_one_output(tmp_path):
    output = tmp_path / "out.jsonl"
    folder_of(output).mkdir()
    with locked(folder_of(output)), pytest.raises(BlockingIOError, match="another run is writing"):
        run(output)


def test_another_format_is_made_of_the_whole_journal(tmp_path, expected):
    def ids(records, output):
        output.write_text(" ".join(record["id"] for record in records))

    run(tmp_path / "out.txt", ids)
    assert (tmp_path / "out.txt").read_text().startswith("0:0 1:0 1:1 2:0")
    assert set(contents(tmp_path)) == {"out.txt", "out.txt.rejects.jsonl"}


def test_when_another_format_fails_the_journal_is_kept(tmp_path):
    def full(records, output):
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        run(tmp_path / "out.txt", full)
    records = []
    run(tmp_path / "out.txt", lambda found, output: records.extend(found), resume=True)
    assert len(records) == 10 and not folder_of(tmp_path / "out.txt").exists()


@pytest.mark.parametrize("n_bytes", [0, 1, 50, -1])
def test_a_part_that_is_not_whole_is_an_error(tmp_path, n_bytes):
    path = part(tmp_path, 3).path
    path.write_bytes(path.read_bytes()[:n_bytes])
    with pytest.raises(ValueError, match=r"3\.part"):
        Part.read(path)


def test_what_does_not_get_whole_does_not_appear(tmp_path):
    with pytest.raises(Crash), whole_file(tmp_path / "a") as file:
        file.write(b"half")
        raise Crash
    assert not list(tmp_path.iterdir())


def test_records_are_read_line_by_line(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes('{"a": "\\u2028é"}\n{"a": 1}\n'.encode())
    assert list(read_records(path)) == [{"a": "\u2028é"}, {"a": 1}]
