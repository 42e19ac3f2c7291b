import csv
import gzip

import benchmark_streaming as benchmark
import pytest

NEWS = "Ada Park of Lumen met Ben Cole in London. He left for Paris on Monday evening."


@pytest.fixture
def corpora(tmp_path):
    news = tmp_path / "text" / "ag-news"
    wikipedia = tmp_path / "text" / "wikitext-2"
    news.mkdir(parents=True)
    wikipedia.mkdir()
    with gzip.open(news / "test.csv.gz", "wt", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["3", "Title", NEWS]] * 20)
    for name in ("valid", "test"):
        with gzip.open(wikipedia / f"{name}.txt.gz", "wt", encoding="utf-8") as file:
            file.write(" = Heading of it all = \n \n Ada Park , a clerk , founded Lumen Inc. \n")
    return tmp_path


def test_sentences_are_those_of_texts_without_headings(corpora):
    sentences = list(benchmark.real_sentences(corpora))
    assert len(sentences) == 42
    assert sentences[:2] == NEWS.replace(". ", ".\n").split("\n")
    assert sentences[-1] == "Ada Park , a clerk , founded Lumen Inc."


def test_figures_are_ratios_of_times(corpora, monkeypatch):
    monkeypatch.setattr(benchmark, "COUNT", "sum(range(1_000_000))")
    monkeypatch.setattr(
        benchmark, "command", lambda *arguments: (6.0 / len(arguments), len(arguments))
    )
    figures = benchmark.streaming(corpora)
    assert figures["n_sentences"] == figures["n_piped"] == 42
    assert figures["vs_bare_pipe"] == figures["bare_pipe_s"] / figures["ours_s"] > 0.1
    assert figures["one_process_s"] == 2.0
    assert figures["two_process_speedup"] == pytest.approx(5 / 3)
    assert figures["dask_speedup"] == pytest.approx(7 / 3)
    assert figures["two_process_processor_speedup"] == pytest.approx(6 / 5)
    assert 0.2 < figures["control_speedup"] < 4


def test_another_output_is_an_error(corpora, tmp_path, monkeypatch):
    (tmp_path / "first.jsonl").write_text("other")

    def write(command, check):
        (tmp_path / "out.jsonl").write_text("this")

    monkeypatch.setattr(benchmark.subprocess, "run", write)
    with pytest.raises(RuntimeError, match="wrote other bytes"):
        benchmark.command(tmp_path, tmp_path, tmp_path, "--n-process", "2")
