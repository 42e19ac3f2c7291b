import pytest

from spacy_klsh.streaming import progress
from spacy_klsh.streaming.counts import Counts
from spacy_klsh.streaming.progress import Pace, described


@pytest.fixture
def clock(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(progress, "monotonic", lambda: now[0])
    return now


def test_figures_are_those_of_this_run(clock):
    pace = Pace()
    pace.total = 1000
    pace.skip(Counts(documents=50, relations=10), 200)
    clock[0] += 10
    pace(Counts(documents=70, relations=30, words=400), 400)
    figures = pace.figures()
    assert figures["documents"] == 70 and figures["bytes"] == 600
    assert figures["relations_per_second"] == 2.0
    assert figures["eta_seconds"] == 10.0
    assert pace.per_second("documents") == 2.0


def test_nobody_knows_how_long_a_stream_is(clock):
    pace = Pace()
    pace(Counts(documents=1), 10)
    assert pace.figures()["eta_seconds"] is None is pace.figures()["total_bytes"]


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({}, "1,234 documents, 2.0 MB, 7 relations/s"),
        (
            {"total_bytes": 10_000_000, "eta_seconds": 3725.2},
            "1,234 documents, 2.0 of 10.0 MB, 7 relations/s, 1:02:05 left",
        ),
        ({"rejected": 2}, "1,234 documents, 2.0 MB, 7 relations/s, 2 rejected"),
    ],
)
def test_a_line_for_people(more, expected):
    figures = {
        "documents": 1234,
        "bytes": 2_000_000,
        "total_bytes": None,
        "relations_per_second": 7.3,
        "rejected": 0,
        "eta_seconds": None,
    }
    assert described({**figures, **more}) == expected


def test_json_lines_come_seldom(clock, capsys):
    pace = Pace()
    with progress.displayed(progress.Show.json) as pace.display:
        for _ in range(12):
            pace(Counts(), 1)
            clock[0] += 1
    assert len(capsys.readouterr().err.splitlines()) == 3
