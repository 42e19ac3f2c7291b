"""``annotate`` with an output file: nothing lost, nothing repeated, nothing overwritten."""

import errno
import json
import os
import re
import signal
import subprocess
import sys
import time
from functools import partial

import pytest

from spacy_klsh.streaming import checkpoint, progress, runs, tasks, workers
from spacy_klsh.streaming.parts import copy_bytes

BY_LINE = ("--per", "line", "--task-bytes", "200")
LINES = [
    "Ada Park founded Lumen.",
    "Ben Cole works for Orbis.",
    "Mia Long wrote a letter about Vexel.",
    "Tom Reed now works as a clerk for Quanto.",
]


@pytest.fixture
def page(file):
    return file("page.txt", "".join(f"{LINES[i % 4]}\n" for i in range(30)))


@pytest.fixture
def expected(run, model, page, tmp_path):
    output = tmp_path / "expected.jsonl"
    run("annotate", model, page, *BY_LINE, "-o", output)
    return output.read_bytes()


def files(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_file_and_standard_output_get_the_same(run, model, page, expected):
    result = run("annotate", model, page, *BY_LINE)
    assert result.stdout.encode() == expected
    assert len(expected.splitlines()) == 30


def test_the_summary_counts_everything(run, model, page):
    result = run("annotate", model, page, *BY_LINE, "-o", page.with_name("out.jsonl"))
    assert re.fullmatch(
        r"30 documents, 23 relations; skipped: none; [\d.,]+ documents/s, [\d,]+ words/s\n",
        result.stderr,
    )


def test_worker_processes_give_the_same_bytes(run, model, page, expected, tmp_path):
    output = tmp_path / "out.jsonl"
    run("annotate", model, page, *BY_LINE, "-o", output, "--n-process", 2)
    assert output.read_bytes() == expected
    piped = run("annotate", model, page, *BY_LINE, "--n-process", 2)
    assert piped.stdout.encode() == expected


def interrupt_after(monkeypatch, n_parts, error):
    """Let the run end while it appends a part."""
    appended = []

    def interrupted(source, target, n_bytes):
        appended.append(n_bytes)
        if len(appended) == 2 * n_parts:
            target.write(b"half")
            raise error
        copy_bytes(source, target, n_bytes)

    monkeypatch.setattr("spacy_klsh.streaming.parts.copy_bytes", interrupted)


def test_ctrl_c_keeps_what_is_finished_and_says_how_to_go_on(
    run, model, page, expected, tmp_path, monkeypatch
):
    output = tmp_path / "out.jsonl"
    command = ("annotate", model, page, *BY_LINE, "-o", output)
    with monkeypatch.context() as patch:
        interrupt_after(patch, 3, KeyboardInterrupt())
        result = run(*command, exit_code=130)
    assert "Interrupted. What is finished is kept in" in result.stderr
    assert "--resume" in result.stderr and not output.exists()
    loaded = []
    monkeypatch.setattr(workers.Job, "write", counted(workers.Job.write, loaded))
    run(*command, "--resume")
    assert output.read_bytes() == expected
    assert 0 < len(loaded) < len(list(tasks.tasks([str(page)], runs.Options(per="line"), 200)))
    assert files(tmp_path) == ["expected.jsonl", "out.jsonl", "page.txt"]


def counted(function, calls):
    def counting(*arguments):
        calls.append(arguments)
        return function(*arguments)

    return counting


def test_a_full_disk_is_an_error_that_says_how_to_go_on(
    run, model, page, expected, tmp_path, monkeypatch
):
    output = tmp_path / "out.jsonl"
    command = ("annotate", model, page, *BY_LINE, "-o", output)
    with monkeypatch.context() as patch:
        full = OSError(errno.ENOSPC, "No space left on device")
        interrupt_after(patch, 2, full)
        result = run(*command, exit_code=1)
    assert "No space left on device" in result.stderr and "--resume" in result.stderr
    run(*command, "--resume")
    assert output.read_bytes() == expected


def test_documents_that_fail_are_in_the_rejects_and_the_others_are_there(run, model, file):
    page = file("page.txt", b"\n".join([LINES[0].encode(), b"caf\xe9", LINES[1].encode(), b""]))
    output = page.with_name("out.jsonl")
    result = run("annotate", model, page, *BY_LINE, "-o", output, exit_code=1)
    rejects = checkpoint.rejects_of(output)
    assert f"2 documents, 2 relations, 1 rejected (see {rejects})" in result.stderr
    (reject,) = map(json.loads, rejects.read_text(encoding="utf-8").splitlines())
    assert reject["place"] == f"{page}:2" and "0xe9" in reject["error"]
    assert reject["text"].strip() == "caf\\xe9"
    run("annotate", model, page, *BY_LINE, "-o", output, "--resume")


def test_without_a_file_rejects_are_told_on_standard_error(run, model, file):
    page = file("page.txt", b"\n".join([LINES[0].encode(), b"caf\xe9"]))
    for more in ((), ("--n-process", 2)):
        result = run("annotate", model, page, *BY_LINE, *more, exit_code=1)
        assert f"rejected {page}:2: byte 0xe9" in result.stderr
        assert len(result.stdout.splitlines()) == 1


def test_nothing_is_overwritten_unasked(run, model, page, expected, tmp_path):
    output = tmp_path / "out.jsonl"
    output.write_text("mine")
    command = ("annotate", model, page, *BY_LINE, "-o", output)
    assert "--overwrite" in run(*command, exit_code=1).stderr
    assert output.read_text() == "mine"
    run(*command, "--overwrite")
    assert output.read_bytes() == expected
    assert "nothing to resume" in run(*command, "--resume").stderr


def test_a_changed_input_cannot_be_resumed(run, model, page, tmp_path, monkeypatch):
    output = tmp_path / "out.jsonl"
    command = ("annotate", model, page, *BY_LINE, "-o", output)
    with monkeypatch.context() as patch:
        interrupt_after(patch, 2, KeyboardInterrupt())
        run(*command, exit_code=130)
    changed = ("annotate", model, page, "--per", "paragraph", "-o", output)
    assert "options: reading changed" in run(*changed, "--resume", exit_code=1).stderr
    page.write_text(page.read_text() + "One more.\n")
    assert f"inputs: {page} changed" in run(*command, "--resume", exit_code=1).stderr
    assert "did not end" in run(*command, exit_code=1).stderr
    run(*command, "--overwrite")
    assert len(output.read_text().splitlines()) == 31


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--resume"], "about an output file"),
        (["--overwrite"], "about an output file"),
        (["-o", "x.jsonl", "--resume", "--overwrite"], "choose one"),
        (["--scheduler", "tcp://localhost:1"], "--engine dask"),
    ],
)
def test_options_that_make_no_sense_are_refused(run, model, page, arguments, message):
    assert message in run("annotate", model, page, *arguments, exit_code=1).stderr


def test_quiet_says_nothing(run, model, page):
    assert not run("annotate", model, page, "--quiet").stderr


def test_progress_for_programs_is_json(run, model, page, tmp_path, monkeypatch):
    monkeypatch.setattr(progress, "JSON_SECONDS", 0.0)
    output = tmp_path / "out.jsonl"
    command = ("annotate", model, page, *BY_LINE, "-o", output, "--progress", "json")
    lines = [json.loads(line) for line in run(*command).stderr.splitlines()[:-1]]
    assert len(lines) > 3
    assert [line["documents"] for line in lines] == sorted(line["documents"] for line in lines)
    last = lines[-1]
    assert last["documents"] == 30 and last["bytes"] == last["total_bytes"] == page.stat().st_size
    assert last["eta_seconds"] == 0 and last["relations"] == 23


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")
def test_a_real_ctrl_c_reaches_all_processes_and_ends_with_130(model, file, run, tmp_path):
    page = file("page.txt", "".join(f"{LINES[i % 4]}\n" for i in range(20_000)))
    output = tmp_path / "out.jsonl"
    command = [sys.executable, "-m", "spacy_klsh", "annotate", str(model), str(page)]
    command += ["--per", "line", "-o", str(output), "--n-process", "2"]
    heeding = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # not so behind a shell's &
    process = subprocess.Popen(
        command,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env=os.environ,
        preexec_fn=heeding,
    )
    folder = checkpoint.folder_of(output)
    deadline = time.monotonic() + 60
    while not (folder / checkpoint.ABOUT).exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(1)
    os.killpg(process.pid, signal.SIGINT)
    errors = process.communicate(timeout=30)[1]
    assert process.returncode == 130, errors
    assert errors.startswith("Interrupted.") and "Traceback" not in errors
    assert not output.exists() and folder.exists()


def test_a_file_is_followed_and_later_followed_on(run, model, page, expected, tmp_path):
    output = tmp_path / "out.jsonl"
    content = page.read_bytes()
    half = content.index(LINES[2].encode())
    page.write_bytes(content[:half])
    command = ("annotate", model, page, *BY_LINE, "--follow", "--idle", "0")
    run(*command, "-o", output)
    assert output.read_bytes() == b"".join(expected.splitlines(keepends=True)[:2])
    with page.open("ab") as file:
        file.write(content[half:])
    result = run(*command, "-o", output, "--resume")
    assert "30 documents" in result.stderr
    assert run(*command).stdout.encode() == output.read_bytes()
    assert sorted(output.read_bytes().splitlines()) == sorted(expected.splitlines())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--idle", "1"], "--follow"),
        (["--follow", "--n-process", "2", "--per", "line"], "one process"),
        (["--follow", "--per", "paragraph"], "cannot be followed"),
        (["--follow", "--per", "line", "-o", "a.sqlite"], "sqlite cannot grow"),
    ],
)
def test_what_cannot_be_followed_is_refused(run, model, page, arguments, message):
    assert message in run("annotate", model, page, *arguments, exit_code=1).stderr


def test_a_stream_can_be_resumed_if_it_is_given_again(
    run, model, page, expected, tmp_path, monkeypatch
):
    output = tmp_path / "out.jsonl"
    command = ("annotate", model, "-", *BY_LINE, "-o", output)
    with monkeypatch.context() as patch:
        interrupt_after(patch, 3, KeyboardInterrupt())
        run(*command, exit_code=130, input=page.read_bytes())
    other = page.read_bytes().replace(b"Ada Park", b"Ada Bark")
    result = run(*command, "--resume", exit_code=1, input=other)
    assert "gives other texts than before" in result.stderr
    run(*command, "--resume", input=page.read_bytes())
    found = [json.loads(line) for line in output.read_text().splitlines()]
    assert [{**record, "id": ""} for record in found] == [
        {**json.loads(line), "id": ""} for line in expected.splitlines()
    ]
