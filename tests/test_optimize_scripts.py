"""The scripts around optimization, on Docs made by hand."""

import json

import benchmark_optimize
import code_table
import numpy as np
import optimize
import optimize_correlation
import optimize_plot
import optimize_table
import pytest
import spacy
import strategies
import typer
from optimize_trial import split, tried
from spacy.util import load_config, load_config_from_str, load_model_from_config
from test_classifier_table import folder as folder  # a corpus `small`, and two of proteins
from test_code_table import table as table

from spacy_klsh.optimization.information import MutualInformation
from spacy_klsh.optimization.leave_one_out import LeaveOneOut

CONFIG = """
[nlp]
lang = "xx"
pipeline = ["klsh_relations"]
[components]
[components.klsh_relations]
factory = "klsh_relations"
[components.klsh_relations.hashing]
@misc = "spacy-klsh.klsh.v1"
n_references = 8
n_bits = 60
[components.klsh_relations.classifier]
@misc = "spacy-klsh.linear.v1"
"""
SPACE = {"classifier.C": [1.0, 2.0], "hashing.n_bits": [40, 60]}


@pytest.fixture
def blank(monkeypatch):
    monkeypatch.setattr(spacy, "load", lambda *_, **__: spacy.blank("en"))


@pytest.fixture
def config(tmp_path):
    path = tmp_path / "given.cfg"
    path.write_text(CONFIG)
    return path


def search(config, folder, **settings):
    some = {
        "output": config.with_name("best.cfg"),
        "checkpoint": config.with_name("search.jsonl"),
        "space": json.dumps(SPACE),
        "n": 3,
        "n_jobs": 1,
        "base": "none",
        "seed": 0,
        "svg": None,
    }
    optimize.main(config, folder / "small_train.spacy", **{**some, **settings})


def test_a_search_writes_its_best_config_and_goes_on(blank, config, folder, capsys, caplog):
    caplog.set_level("INFO")
    search(config, folder, n=2)
    search(config, folder, n=3)
    assert "3 configurations, 2 of them done" in caplog.text
    about, *rows = map(json.loads, config.with_name("search.jsonl").read_text().splitlines())
    assert set(about) == {"config", "data", "base", "seed"} and len(rows) == 3
    assert rows[0]["settings"] == {} and all(0 <= row["f1"] <= 1 for row in rows)
    best = max(rows, key=lambda row: row["f1"])
    component = load_model_from_config(
        load_config(config.with_name("best.cfg")), auto_fill=True
    ).get_pipe("klsh_relations")
    assert component.hashing.n_bits == best["settings"].get("hashing.n_bits", 60)
    assert best["settings"].get("classifier.C", 10) == component.make_classifier(seed=0).C
    assert f"{best['f1']:.3f}" in capsys.readouterr().out


def test_a_line_that_was_cut_off_is_tried_again(blank, config, folder):
    search(config, folder, n=2)
    path = config.with_name("search.jsonl")
    whole = path.read_text()
    path.write_text(whole[:-20])
    search(config, folder, n=2)
    assert path.read_text() == whole


def test_the_checkpoint_of_another_search_is_refused(blank, config, folder):
    search(config, folder, n=1)
    with pytest.raises(typer.BadParameter, match=r"this search is about .*'seed': 1.*delete"):
        search(config, folder, n=1, seed=1)


def test_configurations_are_different_and_never_more_than_there_are():
    trials = optimize.drawn(SPACE, 100, seed=0)
    assert len(trials) == 5 and trials[0] == {}
    assert len({json.dumps(trial) for trial in trials}) == 5
    assert trials[:3] == optimize.drawn(SPACE, 3, seed=0)


def test_settings_of_training_go_into_initialize():
    given = load_config_from_str(CONFIG)
    settings = {"optimize": "references", "hashing.n_bits": 30}
    config = optimize.with_settings(given, settings)
    assert config["initialize"]["components"]["klsh_relations"] == {"optimize": "references"}
    assert config["components"]["klsh_relations"]["hashing"]["n_bits"] == 30
    assert given["components"]["klsh_relations"]["hashing"]["n_bits"] == 60
    block = dict(given["components"]["klsh_relations"])
    component, training = split(block, {"objective": "mutual_information"}, settings)
    assert component["hashing"]["n_bits"] == 30 and "factory" not in component
    assert training == {"objective": "mutual_information", "optimize": "references"}


def test_a_trial_optimizes_in_every_fold(blank, folder):
    block = {"hashing": {"@misc": "spacy-klsh.klsh.v1", "n_references": 6, "n_bits": 30}}
    row = tried("none", str(folder / "small_train.spacy"), block, {}, {"optimize": "references"}, 0)
    assert len(row["folds"]) == 5 and row["f1"] == pytest.approx(np.mean(row["folds"]))


def test_a_row_for_each_seed_corpus_way_and_inputs(blank, table, monkeypatch, capsys):
    monkeypatch.setattr(optimize_table, "NAMES", code_table.NAMES)
    ways = {
        name: {**optimize_table.WAYS[name], "config": {"hashing": {"n_references": 8}}}
        for name in ("30 random", "30 optimized", "100 random")
    }
    monkeypatch.setattr(optimize_table, "WAYS", ways)
    path = table / "deep" / "optimize.json"
    some = {"corpora": ["small"], "json_file": path, "ways": None, "candidates": 9}
    optimize_table.main(table, inputs=["codes"], seeds=2, **some)
    optimize_table.main(table, inputs=["codes", "both"], seeds=2, **some)
    rows = json.loads(path.read_text())
    assert len(rows) == 3 * 2 * 2
    for row in rows:
        p, r = row["precision"], row["recall"]
        assert row["f1"] == pytest.approx(2 * p * r / max(p + r, 1e-12))
        assert len(row["checks"]) == (row["way"] == "30 optimized")
    assert "30 optimized - 30 random" in capsys.readouterr().out


def test_f1_is_that_of_the_table_of_codes(blank, table, monkeypatch):
    nlp = spacy.blank("en")
    train, test = (
        code_table.read(nlp, table / f"small_{part}.spacy") for part in ("train", "test")
    )
    parts = code_table.Parts.of(nlp, train, test, "small", None, False)
    (expected,) = code_table.compared(parts, "path", ["codes"], 1)
    (row,) = optimize_table.measured(lambda _: parts, "small", "100 random", ["codes"], 0, 9)
    assert (row["f1"], row["auc"]) == pytest.approx((expected["f1"], expected["auc"]))


def test_differences_have_standard_errors():
    assert optimize_table.difference([0.1, 0.3]) == "+0.200 ± 0.100"


def test_correlations_of_measures_with_scores(blank, table, monkeypatch, capsys):
    few = {"a": MutualInformation(n_latents=0), "b": LeaveOneOut()}
    monkeypatch.setattr(optimize_correlation, "MEASURES", few)
    kernel = code_table.PATH
    drawn = {"kernel": kernel, "hashing": code_table.block("klsh", n_references=5, n_bits=40)}
    monkeypatch.setattr(optimize_correlation, "drawn", lambda rng: drawn)  # the corpus is small
    path = table / "correlation.json"
    optimize_correlation.main(table / "aimed.spacy", n=4, seed=0, json_file=path, svg=None)
    rows = json.loads(path.read_text())
    assert len(rows) == 4 and {"a, 300", "b, 1000", "f1", "auc"} <= rows[0].keys()
    assert "4 configurations" in capsys.readouterr().out
    best = [{"x": k, "f1": k**2} for k in range(4)]
    assert optimize_correlation.correlation(best, "x", "f1") == pytest.approx(1)


def test_random_configurations_are_valid_and_differ():
    nlp, found = spacy.blank("en"), []
    for i in range(20):
        config = optimize_correlation.drawn(np.random.default_rng(i))
        nlp.create_pipe("klsh_relations", config=config)
        found.append(json.dumps(config))
    assert len(set(found)) == 20


def test_the_benchmark_refits_everything_and_finds_the_same_choices(monkeypatch):
    words, vectors = strategies.corpus(60)
    views = {"path": strategies.pack(words, vectors)}
    y = np.arange(60) % 2
    sizes = {"N_REFERENCES": 6, "N_BITS": 30, "N_SAMPLES": 40, "FEW": 10, "STEPS": 2}
    for name, value in sizes.items():
        monkeypatch.setattr(benchmark_optimize, name, value)
    figures = benchmark_optimize.against_naive(views, y)
    assert figures["vs_naive"] > 0
    assert figures["largest_loss_of_objective"] == pytest.approx(0, abs=1e-4)
    held = benchmark_optimize.held_latents(views, y)
    assert held["rank_correlation_held_refitted"] <= 1
    assert benchmark_optimize.seconds(iter([1, 2])) >= 0


def test_the_drawings_show_every_record(tmp_path):
    pytest.importorskip("matplotlib", reason="needs the extra plot")
    steps = [
        {"stage": stage, "step": k, "objective": 0.1 * k, "change": {f"sigma/{label}": 0.0}}
        for stage in ("kernel", "sigma", "references")
        for k, label in enumerate(("conj", "det", "dobj"))
    ]
    check = {"stage": "check", "of": "sigma", "before": 0.1, "after": 0.2, "accepted": True}
    optimize_plot.draw_trace(
        [*steps[:6], check, *steps[6:]], {"conj": 0.0, "det": 1.0}, tmp_path / "t.svg"
    )
    optimize_plot.draw_search([{"f1": 0.3}, {"f1": 0.5}, {"f1": 0.4}], tmp_path / "s.svg")
    rows = [
        {
            "f1": 0.3 + 0.01 * k,
            "config": {"kernel": {"@misc": f"spacy-klsh.{name}_kernel.v1"}},
            **{f"{measure}, 1000": float(k**3) for measure in optimize_plot.MEASURES},
        }
        for k, name in enumerate(("subsequence", "graph") * 4)
    ]
    optimize_plot.draw_correlations(rows, 1000, tmp_path / "deep" / "c.svg")
    trace = (tmp_path / "t.svg").read_text()
    assert all(word in trace for word in ("kernel", "sigma", "references", "conj", "det"))
    assert "the best so far" in (tmp_path / "s.svg").read_text()
    assert "trees" in (tmp_path / "deep" / "c.svg").read_text()
