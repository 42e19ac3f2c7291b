import json

import pytest


def test_show_what_annotate_wrote(run, model, file, tmp_path):
    page = file("page.txt", "Ada Park founded Lumen.\n\nMia Long works for Vexel.")
    output = tmp_path / "relations.jsonl"
    run("annotate", model, page, "--per", "line", "-o", output)
    result = run("show", output)
    for shown in ("2 relations in relations.jsonl", "page.txt:3", "Mia Long", "WORKS_FOR"):
        assert shown in result.stdout


def test_show_the_first_ones(run, file, ada):
    lines = [json.dumps({**ada, "id": f"doc-{i}"}) for i in range(3)]
    path = file("docs.jsonl", "\n".join(lines) + "\n\n")
    result = run("show", path, "--limit", "2")
    for shown in ("3 relations", "doc-0", "doc-1", "1.00", "the first 2; --limit shows more"):
        assert shown in result.stdout
    assert "doc-2" not in result.stdout
    assert "--limit" not in run("show", path).stdout


def test_show_any_roles_and_brackets(run, file):
    document = {
        "id": "[/d]",
        "text": "[bold]a\n[/b] bends c",
        "entities": [{"start": s, "end": e, "label": "P"} for s, e in ((0, 7), (8, 12), (19, 20))],
        "relations": [{"label": "[x]", "arguments": {"a": 0, "b": 1, "c": 2}, "score": 0.256}],
    }
    result = run("show", file("docs.jsonl", json.dumps(document)))
    for shown in ("[/d]", "[bold]a", "b: [/b], c: c", "[x]", "0.26"):
        assert shown in result.stdout


@pytest.mark.parametrize("content", ["no json", "{}", '{"text": "a"}', "[]", b"\xff\xfe"])
def test_show_refuses_other_files(run, file, content):
    result = run("show", file("other.jsonl", content), exit_code=1)
    assert "other.jsonl cannot be shown" in result.stderr


def test_show_names_a_missing_file(run, tmp_path):
    result = run("show", tmp_path / "missing.jsonl", exit_code=1)
    assert "missing.jsonl cannot be shown (FileNotFoundError" in result.stderr


def test_the_head_stands_first_whatever_comes_first_in_the_file(run, file):
    entities = [{"start": i, "end": i + 1, "label": "X"} for i in (0, 2, 4)]
    relations = [
        {"label": "R", "tail": 0, "head": 1},
        {"label": "E", "arguments": {"cause": 0, "trigger": 1, "theme": 2}},
    ]
    line = {"id": "d", "text": "a b c", "entities": entities, "relations": relations}
    result = run("show", file("a.jsonl", json.dumps(line)))
    words = " ".join(result.stdout.split())
    assert "b │ R │ a" in words
    assert "cause: a" in words and "trigger: b, theme: c" in words
