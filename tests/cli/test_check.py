import json

import pytest
from checking.made import annotated
from spacy.tokens import DocBin

CONFIG = """
[nlp]
lang = "xx"
pipeline = ["klsh_tokens", "links"]
[components]
[components.klsh_tokens]
factory = "klsh_tokens"
[components.links]
factory = "klsh_relations"
direction = ${system.direction}
[components.links.candidates]
@misc = "spacy-klsh.entity_pairs.v1"
spans_key = "all"
[system]
direction = "none"
"""


@pytest.fixture
def data(tmp_path):
    """Writes Docs to a file and returns its path."""

    def data(name, docs):
        DocBin(docs=docs, store_user_data=True).to_disk(tmp_path / name)
        return tmp_path / name

    return data


@pytest.fixture
def docs():
    entities = [(0, 1, "[P]"), (2, 3, "[P]"), (4, 5, "ORG")]
    relations = [("[KNOWS]", 0, 1)], [("[KNOWS]", 1, 0)], [("FOUNDED", 1, 2)]
    return [annotated(f"Ada met Bo{i} of Lumen", entities, r) for i, r in enumerate(relations)]


def test_check_prints_tables_and_findings(run, data, docs):
    a, b = data("a.spacy", docs), data("b.spacy", docs[:1])
    result = run("check", a, b)
    for row in (
        ("documents", "3", "1"),
        ("[P]", "6", "2"),
        ("relations", "3", "1"),
        ("unrelated", "15", "5"),
    ):
        assert any(
            line.replace("│", " ").split() == list(row) for line in result.stdout.split("\n")
        )
    for shown in (
        "Relations in",
        "head, tail 50%; tail, head 50%",
        "warning few relations: ",
        "warning shared texts: ",
        "0 errors, 3 warnings, ",
    ):
        assert shown in result.stdout, result.stdout


def test_check_writes_json(run, data, docs, tmp_path):
    a, written = data("a.spacy", docs), tmp_path / "new" / "check.json"
    run("check", a, "--json", written)
    report = json.loads(written.read_text())
    assert report["ok"] is True
    assert report["data"][str(a)]["candidates"] == 18
    assert {"level", "code", "message", "data"} == set(report["findings"][0])


def test_check_fails_on_errors_and_reads_the_other_data(run, data, docs, file, tmp_path):
    a, bad, none = data("a.spacy", docs), file("bad.spacy", "no DocBin"), tmp_path / "none.spacy"
    bare = data("bare.spacy", [annotated("a b", [], None)])
    written = tmp_path / "check.json"
    result = run("check", bad, a, none, bare, "--json", written, exit_code=1)
    for path in (bad, none):
        assert f"error unreadable: {path}: " in result.stdout
    assert f"error no relations: {bare}: " in result.stdout
    assert "3 errors" in result.stdout
    report = json.loads(written.read_text())
    assert report["ok"] is False and list(report["data"]) == [str(a), str(bare)]


def test_check_of_nothing_readable(run, tmp_path):
    result = run("check", tmp_path / "none.spacy", exit_code=1)
    assert "1 errors, 0 warnings, 0 hints" in result.stdout


def test_check_with_a_config(run, data, docs, file):
    for doc in docs:
        doc.spans["all"] = list(doc.ents)[:2]
    a, config = data("a.spacy", docs), file("a.cfg", CONFIG)
    result = run("check", a, "--config", config, exit_code=1)
    assert "error no entity: " in result.stdout
    assert any(
        line.replace("│", " ").split() == ["candidates", "3"] for line in result.stdout.split("\n")
    )


def test_check_with_the_settings_of_a_pipeline(run, data, docs, model):
    result = run("check", data("a.spacy", docs), "--config", model, exit_code=1)
    assert "warning unknown entity labels: the candidates block has ['PERSON']" in result.stdout


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('[nlp]\nlang = "xx"\n[components]', "no klsh_relations"),
        ("[components]", "cannot be used as a config"),
        (CONFIG.replace('"none"', '"up"'), "direction is 'up'"),
        (CONFIG.replace("[system]", "[x]"), "cannot be used as a config"),
        ("no config", "cannot be used as a config"),
    ],
)
def test_check_refuses_other_configs(run, data, docs, file, content, words):
    result = run("check", data("a.spacy", docs), "--config", file("a.cfg", content), exit_code=1)
    assert words in result.stderr


def test_check_names_a_missing_config(run, data, docs, tmp_path):
    for name in ("none.cfg", "none"):
        missing = tmp_path / name
        result = run("check", data("a.spacy", docs), "--config", missing, exit_code=1)
        assert str(missing) in result.stderr


def test_check_reads_a_directory(run, data, docs, tmp_path):
    for number, doc in enumerate(docs):
        data(f"{number}.spacy", [doc])
    written = tmp_path / "check.json"
    run("check", tmp_path, "--json", written)
    assert json.loads(written.read_text())["data"][str(tmp_path)]["documents"] == 3


def test_a_file_cannot_test_what_was_trained_on_it(run, tmp_path):
    path = tmp_path / "a.spacy"
    DocBin(docs=[], store_user_data=True).to_disk(path)
    result = run("check", path, tmp_path / "." / "a.spacy", exit_code=2)
    assert "named twice" in result.stderr
