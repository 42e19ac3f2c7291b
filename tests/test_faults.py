"""The script that counts what faults cost counts right."""

import random
from pathlib import Path

import faults
import pytest
from faults import Row


def test_lines_that_are_not_there_or_twice_are_counted():
    expected = [b"a", b"b", b"c", b"c"]
    row = Row("fault")
    row.add(expected, expected)
    assert (row.documents, row.lost, row.doubled, row.different) == (4, 0, 0, 0)
    row.add(expected, [b"a", b"b", b"b", b"b", b"c"])
    assert (row.documents, row.lost, row.doubled, row.different) == (8, 1, 2, 1)
    row.add(expected, [b"b", b"a", b"c", b"c"])
    assert (row.documents, row.lost, row.doubled, row.different) == (12, 1, 2, 2)


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    bench = faults.prepared(tmp_path_factory.mktemp("faults"), 20, random.Random(0))
    yield bench
    bench.errors.close()


@pytest.mark.parametrize("fault", [faults.bad_bytes, faults.bad_documents])
def test_bad_input_costs_nothing_else(bench, fault):
    row = fault(bench, 2)
    assert (row.tried, row.documents, row.lost, row.doubled, row.different) == (2, 40, 0, 0, 0)


def test_an_output_that_differs_is_seen(bench, tmp_path):
    row = Row("fault")
    output = tmp_path / "out.jsonl"
    output.write_bytes(b"\n".join(bench.expected[:-1]))
    faults.collect(bench, row, output, 0)
    assert (row.lost, row.different) == (1, 1)
    with pytest.raises(RuntimeError, match="exit code 1"):
        faults.collect(bench, row, output, 1)


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks for processes in /proc")
def test_one_kill_costs_nothing(bench):
    row = faults.killed(bench, 1)
    assert row.tried == 1 and row.documents >= 20
    assert (row.lost, row.doubled, row.different) == (0, 0, 0)
