import gzip
import json
import shutil
import subprocess
import sys

import pytest
import spacy
import tiny
from spacy.cli.find_threshold import find_threshold
from spacy.tokens import DocBin
from spacy.training import Example

from spacy_klsh.corpora.jsonl import read_jsonl

PAGE = """Ada Park founded Lumen.
Ben Cole wrote a letter about Orbis.

Mia Long now works as a clerk for Vexel.
"""


@pytest.fixture
def page(tmp_path):
    path = tmp_path / "page.txt"
    path.write_text(PAGE, encoding="utf-8")
    return path


def documents(lines):
    return [json.loads(line) for line in lines.splitlines()]


def relations(doc):
    found = [(r.label, r.head.text, r.tail.text, round(r.score, 4)) for r in doc._.relations]
    return doc.user_data["id"], found


def test_annotated_text_reads_back_with_the_same_relations(run, model, page, tmp_path):
    output = tmp_path / "new" / "folders" / "relations.jsonl"
    result = run("annotate", model, page, "--per", "line", "-o", output)
    assert not result.stdout
    assert "3 documents, 2 relations" in result.stderr
    docs, report = read_jsonl(output, spacy.blank("en"))
    assert report.ok and [doc.text for doc in docs] == [line for line in PAGE.split("\n") if line]
    nlp = spacy.load(model)
    expected = []
    for number in (1, 2, 4):
        doc = nlp(PAGE.split("\n")[number - 1])
        doc.user_data["id"] = f"{page}:{number}"
        expected.append(relations(doc))
    assert [relations(doc) for doc in docs] == expected
    assert [found[0][0] if found else None for _, found in expected] == [
        "FOUNDED",
        None,
        "WORKS_FOR",
    ]


@pytest.fixture
def of_groups(tmp_path):
    """Pipelines whose relations are between the spans of a group, with and without that group."""
    group = {"@misc": "spacy-klsh.entity_pairs.v1", "spans_key": "names"}
    nlp = tiny.base()
    component = nlp.add_pipe("klsh_relations", config={**tiny.SETTINGS, "candidates": group})
    docs = tiny.gold_docs(tiny.base())
    for doc in docs:
        doc.spans["names"], doc.ents = doc.ents, []
    component.initialize(lambda: [Example(nlp.make_doc(doc.text), doc) for doc in docs])
    nlp.to_disk(tmp_path / "without")
    ruler = nlp.add_pipe("span_ruler", before="klsh_relations", config={"spans_key": "names"})
    names = {"PERSON": "Ada Park", "SURNAME": "Park", "ORG": "Lumen"}
    ruler.add_patterns([{"label": label, "pattern": name} for label, name in names.items()])
    nlp.to_disk(tmp_path / "with")
    return tmp_path


def test_annotate_writes_the_span_group_that_the_component_reads(of_groups, run, file):
    page = file("a.txt", "Ada Park founded Lumen.")
    (document,) = documents(run("annotate", of_groups / "with", page).stdout)
    found = [(e["start"], e["end"], e["label"]) for e in document["entities"]]
    assert found == [(0, 8, "PERSON"), (4, 8, "SURNAME"), (17, 22, "ORG")]
    (relation,) = document["relations"]
    assert (relation["label"], relation["head"], relation["tail"]) == ("FOUNDED", 0, 2)
    (document,) = documents(run("annotate", of_groups / "without", page).stdout)
    assert document["entities"] == document["relations"] == []


def test_annotate_says_what_it_skipped(run, model, page):
    result = run("annotate", model, page)
    (document,) = documents(result.stdout)
    assert document["id"] == str(page) and document["text"] == PAGE
    assert "cross_sentence" in result.stderr


def test_annotate_reads_files_in_order(run, model, page, file):
    packed = file("b.txt.gz", gzip.compress(b"\xef\xbb\xbfOne.\r\n\r\nTwo.\r\n"))
    result = run("annotate", model, packed, page, "--per", "paragraph", "--batch-size", "1")
    found = [(document["id"], document["text"]) for document in documents(result.stdout)]
    first, second = PAGE.rstrip("\n").split("\n\n")
    assert found == [
        (f"{packed}:1", "One."),
        (f"{packed}:3", "Two."),
        (f"{page}:1", first),
        (f"{page}:4", second),
    ]


def test_annotate_reads_standard_input_by_line(run, model):
    result = run("annotate", model, "-", input=PAGE.encode())
    found = documents(result.stdout)
    assert [document["id"] for document in found] == ["-:1", "-:2", "-:4"]
    assert [len(document["relations"]) for document in found] == [1, 0, 1]


def test_annotate_writes_nothing_for_nothing(run, model, file):
    result = run("annotate", model, file("empty.txt", ""))
    assert not result.stdout
    assert "0 documents, 0 relations" in result.stderr


def test_annotate_shows_its_progress_on_a_terminal(run, model, page, tmp_path, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    output = tmp_path / "out.jsonl"
    result = run("annotate", model, page, "--per", "line", "-o", output)
    assert "3 documents, 0.0 of 0.0 MB" in result.stderr and "relations/s" in result.stderr
    assert len(documents(output.read_text(encoding="utf-8"))) == 3


def test_annotate_names_missing_files(run, model, page, tmp_path):
    missing = tmp_path / "missing.txt"
    result = run("annotate", model, page, missing, "s3://bucket/a.txt", "-", exit_code=1)
    assert result.stderr == f"Error: no such file: {missing}\n"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("latin.txt", "Ren\xe9 founded Lumen.".encode("latin-1"), "latin.txt:1: byte 0xe9"),
        (
            "cut.txt.gz",
            gzip.compress(PAGE.encode(), mtime=0)[:40],
            "cut.txt.gz: cannot be read to its end",
        ),
    ],
)
def test_annotate_names_unreadable_files(run, model, file, name, content, message):
    result = run("annotate", model, file(name, content), exit_code=1)
    assert result.stderr.startswith("rejected ") and message in result.stderr
    assert "0 documents, 0 relations, 1 rejected; " in result.stderr


def test_annotate_cuts_too_long_a_text(run, model, page, load_once, monkeypatch):
    (whole,) = documents(run("annotate", model, page).stdout)
    monkeypatch.setattr(load_once(str(model)), "max_length", 60)
    (cut,) = documents(run("annotate", model, page).stdout)
    labels = [[relation["label"] for relation in one["relations"]] for one in (whole, cut)]
    assert labels[0] == labels[1] == ["FOUNDED", "WORKS_FOR"]
    for key in ("id", "text", "entities"):
        assert cut[key] == whole[key]
    (cut,) = documents(run("annotate", model, page, "--chunk-chars", "10").stdout)
    assert cut["text"] == PAGE and not cut["relations"]


@pytest.mark.parametrize("command", ["annotate", "evaluate"])
def test_a_missing_pipeline_is_named(run, page, command):
    result = run(command, "no/such/model", page, exit_code=1)
    assert "no/such/model" in result.stderr


@pytest.mark.parametrize("command", ["annotate", "evaluate"])
def test_a_pipeline_needs_the_component(run, page, command, tmp_path):
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.to_disk(tmp_path / "bare")
    result = run(command, tmp_path / "bare", page, exit_code=1)
    assert "['sentencizer'] but no klsh_relations" in result.stderr


def test_the_component_must_be_trained(run, page, tmp_path):
    nlp = spacy.blank("en")
    nlp.add_pipe("klsh_relations")
    nlp.to_disk(tmp_path / "untrained")
    result = run("annotate", tmp_path / "untrained", page, exit_code=1)
    assert "is not trained" in result.stderr


def test_evaluate_with_gold_entities(run, model, gold, tmp_path):
    path = tmp_path / "new" / "scores.json"
    result = run("evaluate", model, gold, "--gold-entities", "--json", path)
    scores = json.loads(path.read_text(encoding="utf-8"))
    assert scores["rel_micro_f"] == scores["rel_candidate_recall"] == 1
    assert set(scores["rel_per_type"]) == {"FOUNDED", "WORKS_FOR"}
    for shown in ("13 documents, gold entities", "FOUNDED", "WORKS_FOR", "relaxed micro", "1.000"):
        assert shown in result.stdout


def test_evaluate_with_the_entities_of_the_pipeline(run, model, gold, tmp_path):
    path = tmp_path / "scores.json"
    result = run("evaluate", model, gold, "--json", path)
    scores = json.loads(path.read_text(encoding="utf-8"))
    assert scores["rel_micro_p"] == 1
    assert scores["rel_micro_r"] == scores["rel_candidate_recall"] == pytest.approx(8 / 9)
    assert "the pipeline's own entities" in result.stdout and "0.889" in result.stdout


def test_evaluate_chooses_thresholds_and_saves_them(run, model, gold, tmp_path):
    copied, chosen, path = (tmp_path / name for name in ("copied", "chosen", "scores.json"))
    shutil.copytree(model, copied)
    component = spacy.load(copied).get_pipe("klsh_relations")
    component.thresholds = dict.fromkeys(component.labels, 1.0)  # finds next to nothing
    component.to_disk(copied / "klsh_relations")
    before = run("evaluate", copied, gold, "--gold-entities", "--json", path)
    scores = json.loads(path.read_text(encoding="utf-8"))
    assert scores["thresholds"] == {"FOUNDED": 1, "WORKS_FOR": 1} and "1.000" in before.stdout
    assert scores["rel_micro_f"] < 1
    options = "--gold-entities", "--choose-thresholds", "--output", chosen, "--json", path
    after = run("evaluate", copied, gold, *options)
    scores = json.loads(path.read_text(encoding="utf-8"))
    assert scores["rel_micro_f"] == 1
    assert all(0 < threshold < 1 for threshold in scores["thresholds"].values())
    assert all(f"{threshold:.3f}" in after.stdout for threshold in scores["thresholds"].values())
    assert spacy.load(chosen).get_pipe("klsh_relations").thresholds == scores["thresholds"]


def test_evaluate_saves_nothing_but_chosen_thresholds(run, model, gold, tmp_path):
    result = run("evaluate", model, gold, "--output", tmp_path / "x", exit_code=1)
    assert "add --choose-thresholds or --positive-share" in result.stderr
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("labels", [[], ["FOUNDED", "WORKS_FOR"]])
def test_evaluate_matches_a_positive_share_without_gold(run, model, gold, tmp_path, labels):
    chosen, path, bare = (tmp_path / name for name in ("chosen", "scores.json", "bare.spacy"))
    model = shutil.copytree(model, tmp_path / "copied")  # whose thresholds change in memory
    docs = list(DocBin().from_disk(gold).get_docs(spacy.load(model).vocab))
    DocBin(docs=docs).to_disk(bare)  # without the relations
    shares = [f"{label}=0.05" for label in labels] or ["0.05"]
    options = [word for share in shares for word in ("--positive-share", share)]
    result = run(
        *("evaluate", model, bare, "--gold-entities", *options),
        *("--output", chosen, "--json", path),
    )
    thresholds = json.loads(path.read_text(encoding="utf-8"))["thresholds"]
    assert "No relations to score" in result.stdout
    assert all(f"{threshold:.3f}" in result.stdout for threshold in thresholds.values())
    component = spacy.load(chosen).get_pipe("klsh_relations")
    assert component.thresholds == thresholds
    expected = component.match_positive_share(docs, dict.fromkeys(labels, 0.05) or 0.05)
    assert thresholds == expected
    scored = run("evaluate", model, gold, "--gold-entities", *options, "--json", path)
    scores = json.loads(path.read_text(encoding="utf-8"))
    assert scores["thresholds"] == thresholds and "rel" not in scored.stderr
    assert 0 < scores["rel_micro_r"] < 1 == scores["rel_micro_p"]


@pytest.mark.parametrize(
    ("options", "match"),
    [
        (["--positive-share", "0.1", "--choose-thresholds"], "give one of them"),
        (["--positive-share", "a tenth"], "a tenth; give a number"),
        (["--positive-share", "X=much"], "X=much; give a number, or LABEL=NUMBER"),
        (["--positive-share", "0.1", "--positive-share", "0.2"], "0.1, 0.2; give a number"),
        (["--positive-share", "17"], "positive share is 17.0"),
        (["--positive-share", "X=0.1"], "shares are given for ['X']"),
    ],
)
def test_evaluate_refuses_other_shares(run, model, gold, options, match):
    assert match in run("evaluate", model, gold, *options, exit_code=1).stderr


def test_thresholds_cannot_be_chosen_against_the_config_or_without_gold(model, gold):
    override = {"components": {"klsh_relations": {"threshold": 0.7}}}
    nlp = spacy.load(model, config=override)
    component = nlp.get_pipe("klsh_relations")
    assert component.effective_thresholds == {"FOUNDED": 0.7, "WORKS_FOR": 0.7}
    with pytest.raises(ValueError, match=r"sets threshold = 0\.7.*set it to null"):
        component.choose_thresholds([])
    component.threshold = None
    with pytest.raises(ValueError, match="hold no gold relations"):
        component.choose_thresholds([])


def test_spacy_find_threshold_works_on_the_pipeline(model, gold, capsys):
    settings = dict(threshold_key="threshold", scores_key="rel_micro_f", n_trials=3)
    best, score, scores = find_threshold(str(model), gold, "klsh_relations", **settings)
    assert list(scores) == [0, 0.5, 1] and best == 0.5
    assert score == scores[0.5] > max(scores[0], scores[1])
    assert "rel_micro_f" in capsys.readouterr().out


def test_evaluate_needs_gold_relations(run, model, gold, tmp_path):
    path = tmp_path / "bare.spacy"
    DocBin(docs=DocBin().from_disk(gold).get_docs(spacy.blank("en").vocab)).to_disk(path)
    result = run("evaluate", model, path, "--json", tmp_path / "scores.json", exit_code=1)
    assert "no Doc has gold relations" in result.stderr
    assert "store_user_data=True" in result.stderr
    assert not (tmp_path / "scores.json").exists()


def test_evaluate_names_what_it_cannot_read(run, model, file, tmp_path):
    result = run("evaluate", model, tmp_path / "missing.spacy", exit_code=1)
    assert "missing.spacy" in result.stderr
    result = run("evaluate", model, file("a.spacy", "text"), exit_code=1)
    assert "DocBin" in result.stderr


@pytest.mark.parametrize("command", ["annotate", "evaluate", "convert"])
def test_what_cannot_be_written_is_an_error(run, model, gold, page, file, ada, command):
    below_a_file = file("file", "") / "out"
    arguments = {
        "annotate": [model, page, "-o", below_a_file],
        "evaluate": [model, gold, "--json", below_a_file],
        "convert": ["jsonl", file("docs.jsonl", json.dumps(ada)), "-o", below_a_file],
    }
    result = run(command, *arguments[command], exit_code=1)
    assert result.stderr.startswith("Error: ")


def test_usage(run):
    for command in ("annotate", "evaluate", "convert", "show"):
        assert command in run("--help").stdout
        assert "--help" in run(command, "--help").stdout
    assert "jsonl" in run("convert", "csv", "a", "-o", "b", exit_code=2).stderr


def test_the_module_can_be_run(tmp_path):
    command = [sys.executable, "-m", "spacy_klsh", "show", str(tmp_path / "missing.jsonl")]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 1
    assert done.stderr.startswith("Error: ") and not done.stdout
