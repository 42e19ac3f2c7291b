"""Dask workers: the same parts in the same order, also if one of them is killed."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # spawned processes import workshop by its name
from workshop import FakeJob, merged, write_lines

from spacy_klsh.streaming import cluster
from spacy_klsh.streaming.cluster import on_cluster
from spacy_klsh.streaming.workers import WorkerError, in_this_process, part_path

distributed = pytest.importorskip("distributed", reason="the extra dask is not installed")
pytestmark = pytest.mark.filterwarnings("default:::distributed")


@pytest.fixture
def folders(tmp_path):
    for name in ("one", "two", "marks"):
        (tmp_path / name).mkdir()
    return tmp_path


@pytest.fixture(scope="module")
def scheduler():
    """Address of a cluster of two worker processes on this machine."""
    with cluster._local_cluster(2) as local:
        yield local.scheduler_address


def lines(n, **special):
    return list({**{f"line_{i}": f"text {i}" for i in range(n)}, **special}.values())


def test_a_cluster_gives_what_one_process_gives(folders, scheduler):
    found = write_lines(folders / "a.txt", lines(200, line_3="slow", line_150="slow"))
    one = merged(in_this_process, FakeJob(), found, folders / "one")
    assert merged(on_cluster(scheduler, 2), FakeJob(), found, folders / "two") == one
    assert len(one.splitlines()) == 200


def test_a_killed_worker_costs_nothing_and_doubles_nothing(folders, scheduler):
    special = {"line_100": "die", "line_101": "slow"}
    found = write_lines(folders / "a.txt", lines(200, **special))
    job = FakeJob(str(folders / "marks"))
    two = merged(on_cluster(scheduler, 2), job, found, folders / "two")
    assert len(list((folders / "marks").iterdir())) == 1
    assert two == merged(in_this_process, job, found, folders / "one")


def test_finished_parts_are_not_made_again(folders, scheduler):
    found = write_lines(folders / "a.txt", lines(60))
    expected = merged(in_this_process, FakeJob(), found, folders / "one")
    paths = [part_path(folders / "one", FakeJob(), task) for task in found]
    paths[1].unlink()
    before = [path.stat().st_mtime_ns for path in paths if path.exists()]
    assert merged(on_cluster(scheduler, 2), FakeJob(), found, folders / "one") == expected
    assert [path.stat().st_mtime_ns for path in paths if path != paths[1]] == before


def test_an_error_of_a_task_ends_the_run(folders, scheduler):
    found = write_lines(folders / "a.txt", lines(40, line_20="strange"))
    with pytest.raises(ZeroDivisionError, match="strange"):
        merged(on_cluster(scheduler, 2), FakeJob(), found, folders / "two")


def test_workers_of_its_own_and_texts_that_kill_all_of_them(folders):
    found = write_lines(folders / "a.txt", ["text", "die", "text"])
    with pytest.raises(WorkerError, match="--resume"):
        merged(on_cluster(None, 1), FakeJob(), found, folders / "two")


def test_no_scheduler_is_an_error(folders):
    import dask

    with (
        dask.config.set({"distributed.comm.timeouts.connect": "1s"}),
        pytest.raises(OSError, match="Timed out trying to connect"),
    ):
        next(on_cluster("tcp://127.0.0.1:9", 1)(FakeJob(), [], folders))


def test_without_dask_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setattr(cluster, "find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError, match=r"spacy-klsh\[dask\]"):
        on_cluster(None, 1)
