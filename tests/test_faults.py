"""The script that counts what faults cost counts right."""

import os
import random

import fault_bench
import pytest
from fault_bench import Row
from fault_inputs import bad_bytes, bad_documents
from fault_kills import killed


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
    bench = fault_bench.prepared(tmp_path_factory.mktemp("faults"), 20, random.Random(0))
    yield bench
    bench.errors.close()


@pytest.mark.parametrize("fault", [bad_bytes, bad_documents])
def test_bad_input_costs_nothing_else(bench, fault):
    row = fault(bench, 2)
    assert (row.tried, row.documents, row.lost, row.doubled, row.different) == (2, 40, 0, 0, 0)


def test_an_output_that_differs_is_seen(bench, tmp_path):
    row = Row("fault")
    output = tmp_path / "out.jsonl"
    output.write_bytes(b"\n".join(bench.expected[:-1]))
    fault_bench.collect(bench, row, output, 0)
    assert (row.lost, row.different) == (1, 1)
    with pytest.raises(RuntimeError, match="exit code 1"):
        fault_bench.collect(bench, row, output, 1)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # threads of BLAS
def test_kills_cost_nothing(bench):
    row = killed(bench, 3)
    assert row.tried == 3 and row.documents >= 40
    assert (row.lost, row.doubled, row.different) == (0, 0, 0)
