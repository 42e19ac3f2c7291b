"""Worker processes: the same parts in the same order, also if some of them die."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # spawned processes import workshop by its name
import workshop
from workshop import FakeJob, merged, write_lines

from spacy_klsh.streaming.workers import (
    WorkerError,
    in_processes,
    in_this_process,
    part_path,
)


@pytest.fixture
def folders(tmp_path):
    for name in ("one", "two", "marks"):
        (tmp_path / name).mkdir()
    return tmp_path


def lines(n, **special):
    numbered = {f"line_{i}": f"text {i}" for i in range(n)}
    return list({**numbered, **special}.values())


def test_processes_give_what_one_gives(folders):
    found = write_lines(folders / "a.txt", lines(200, line_3="slow", line_50="slow"))
    assert len(found) > 10
    one = merged(in_this_process, FakeJob(), found, folders / "one")
    two = merged(in_processes(3), FakeJob(), found, folders / "two")
    assert one == two
    texts = [json.loads(line)["text"] for line in one.splitlines()]
    assert len(texts) == 200 and texts[0] == "TEXT 0" and texts[3] == "SLOW"


def test_a_worker_that_dies_is_replaced_and_nothing_is_lost_or_doubled(folders):
    special = {f"line_{i}": f"die {i}" for i in (0, 5, 77, 199)}
    found = write_lines(folders / "a.txt", lines(200, **special))
    job = FakeJob(str(folders / "marks"))
    two = merged(in_processes(2), job, found, folders / "two")
    assert len(list((folders / "marks").iterdir())) == 4
    assert not unfinished(folders / "two")
    assert two == merged(in_this_process, job, found, folders / "one")


def test_texts_that_kill_every_worker_are_named(folders):
    found = write_lines(folders / "a.txt", lines(40, line_20="die"))
    with pytest.raises(WorkerError, match=r"3 worker processes died .*a\.txt:\d+ on.*--resume"):
        merged(in_processes(2), FakeJob(), found, folders / "two")


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [("error", OSError, "No space left"), ("strange", WorkerError, "ZeroDivisionError: strange")],
)
def test_an_error_of_a_worker_ends_the_run(folders, text, kind, message):
    found = write_lines(folders / "a.txt", lines(40, line_20=text))
    with pytest.raises(kind, match=message) as raised:
        merged(in_processes(2), FakeJob(), found, folders / "two")
    assert kind is not OSError or raised.value.errno == 28


@pytest.mark.parametrize("engine", [in_this_process, in_processes(2)])
def test_parts_that_are_there_and_whole_are_not_made_again(folders, engine):
    found = write_lines(folders / "a.txt", lines(60))
    expected = merged(in_this_process, FakeJob(), found, folders / "one")
    for name in ("one",):
        paths = [part_path(folders / name, FakeJob(), task) for task in found]
        paths[0].unlink()
        paths[1].write_bytes(paths[1].read_bytes()[:-5])
        before = [path.stat().st_mtime_ns for path in paths[2:]]
        assert merged(engine, FakeJob(), found, folders / name) == expected
        assert [path.stat().st_mtime_ns for path in paths[2:]] == before


def test_parts_of_another_job_or_of_other_texts_have_other_names(folders):
    first, second, *_ = write_lines(folders / "a.txt", lines(60))
    paths = {
        part_path(folders, FakeJob(), first),
        part_path(folders, FakeJob("marks"), first),
        part_path(folders, FakeJob(), second),
    }
    assert len(paths) == 3


def test_no_more_tasks_are_ahead_than_a_few(folders):
    taken = []

    def counted():
        for task in write_lines(folders / "a.txt", lines(300)):
            taken.append(task.number)
            yield task

    parts = in_processes(2)(FakeJob(), counted(), folders / "two")
    next(parts)
    assert len(taken) <= 9
    parts.close()


def test_a_run_that_is_given_up_leaves_whole_parts_only(folders):
    found = write_lines(folders / "a.txt", ["text"] * 10 + ["slow"] * 90)
    parts = in_processes(2)(FakeJob(), found, folders / "two")
    next(parts)
    wait_for(lambda: unfinished(folders / "two"))
    parts.close()
    assert not unfinished(folders / "two")


def unfinished(folder):
    return list(folder.glob("*.part.*"))


def wait_for(condition, seconds=20):
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert condition()


PARENT = """
import os, sys, time
from pathlib import Path
from spacy_klsh.streaming.workers import Crew
from workshop import FakeJob, write_lines

if __name__ == "__main__":
    found = write_lines(Path(sys.argv[1]) / "a.txt", ["slow"] * 100)
    crew = Crew(FakeJob(), Path(sys.argv[1]) / "two", 2)
    parts = crew.parts(found)
    next(parts)
    print(*(worker.process.pid for worker in crew.workers), flush=True)
    os.kill(os.getpid(), 9)
"""


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks for processes in /proc")
def test_workers_end_with_their_parent_however_it_ends(folders):
    (folders / "parent.py").write_text(PARENT)
    here = str(Path(workshop.__file__).parent)
    path = os.pathsep.join(filter(None, [here, os.environ.get("PYTHONPATH")]))
    done = subprocess.run(
        [sys.executable, str(folders / "parent.py"), str(folders)],
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        text=True,
        timeout=60,
    )
    assert done.returncode == -9
    pids = [int(pid) for pid in done.stdout.split()]
    assert len(pids) == 2
    wait_for(lambda: not any(alive(pid) for pid in pids))


def alive(pid):
    try:
        return "zombie" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False
