import json
from typing import get_args

import pytest
import spacy
from spacy.tokens import DocBin

from spacy_klsh.cli.convert import AlignMode
from spacy_klsh.corpora.documents import Align

XML = """<corpus><document id="d1"><sentence id="s1" text="Xa binds Yb, not Zc.">
<entity id="e1" charOffset="0-2" text="Xa" type="gene"/>
<entity id="e2" charOffset="9-11" text="Yb" type="gene"/>
<entity id="e3" charOffset="17-19" text="Zc" type="gene"/>
<interaction e1="e1" e2="e2" type="PPI"/></sentence></document></corpus>"""


def read_docs(path):
    return list(DocBin().from_disk(path).get_docs(spacy.blank("en").vocab))


def test_convert_jsonl(run, file, ada, tmp_path):
    output = tmp_path / "new" / "folders" / "docs.spacy"
    source = file("docs.jsonl", "\ufeff" + json.dumps(ada) + "\r\n\n")
    result = run("convert", "jsonl", source, "-o", output)
    assert "1 documents" in result.stdout and str(output) in result.stdout
    (doc,) = read_docs(output)
    (relation,) = doc._.relations
    assert (doc.user_data["id"], relation.label) == ("a", "FOUNDED")
    assert (relation.head.text, relation.tail.text) == ("Ada Park", "Lumen")


def test_convert_moves_entities_if_asked(run, file, ada, tmp_path):
    source, output = file("docs.jsonl", json.dumps(ada)), tmp_path / "docs.spacy"
    result = run("convert", "jsonl", source, "-o", output, "--align", "expand")
    assert "moved mentions: 1" in result.stdout
    assert [span.text for span in read_docs(output)[0].ents] == ["Ada Park", "Lumens"]


def test_all_ways_to_align_can_be_asked_for():
    assert [mode.value for mode in AlignMode] == list(get_args(Align))


def test_convert_with_the_tokenizer_of_a_pipeline(run, file, tmp_path):
    nlp = spacy.blank("en")
    nlp.tokenizer.infix_finditer = None
    nlp.to_disk(tmp_path / "model")
    source, output = file("docs.jsonl", '{"text": "a-b"}'), tmp_path / "docs.spacy"
    for options, n_tokens in ([], 3), (["--model", tmp_path / "model"], 1):
        run("convert", "jsonl", source, "-o", output, *options)
        assert len(read_docs(output)[0]) == n_tokens


def test_convert_fails_on_a_bad_line_and_keeps_the_good_ones(run, file, ada, tmp_path):
    output = tmp_path / "docs.spacy"
    source = file("docs.jsonl", json.dumps(ada) + '\n{"text": 7}\n' + json.dumps(ada))
    result = run("convert", "jsonl", source, "-o", output, exit_code=1)
    assert "ERROR bad lines: 1" in result.stdout and "docs.jsonl:2: " in result.stdout
    assert len(read_docs(output)) == 2


def test_convert_interaction_xml(run, file, tmp_path):
    source, output = file("a.xml", XML), tmp_path / "docs.spacy"
    options = ("-o", output, "--option", "entity_label=PROTEIN", "--option", "label=PPI")
    run("convert", "interaction-xml", source, *options)
    (doc,) = read_docs(output)
    (relation,) = doc._.relations
    assert (relation.label, relation.head.text, relation.tail.text) == ("PPI", "Xa", "Yb")
    assert [span.label_ for span in doc.spans["entities"]] == ["PROTEIN"] * 3


def test_convert_fails_on_broken_xml(run, file, tmp_path):
    output = tmp_path / "docs.spacy"
    result = run("convert", "interaction-xml", file("a.xml", XML[:-9]), "-o", output, exit_code=1)
    assert "ERROR unreadable xml: 1" in result.stdout


@pytest.mark.parametrize("source", ["jsonl", "interaction-xml"])
def test_convert_names_a_missing_file(run, source, tmp_path):
    missing, output = tmp_path / "missing", tmp_path / "docs.spacy"
    result = run("convert", source, missing, "-o", output, exit_code=1)
    assert str(missing) in result.stderr
    assert not output.exists()


def test_convert_names_an_unknown_language(run, file, ada, tmp_path):
    source, output = file("docs.jsonl", json.dumps(ada)), tmp_path / "docs.spacy"
    result = run("convert", "jsonl", source, "-o", output, "--lang", "qq", exit_code=1)
    assert "qq" in result.stderr


def test_convert_refuses_unknown_formats_and_options(run, file, ada, tmp_path):
    source, output = file("docs.jsonl", json.dumps(ada)), tmp_path / "docs.spacy"
    result = run("convert", "jsnl", source, "-o", output, exit_code=2)
    assert "format is 'jsnl'; choose one of jsonl, interaction-xml" in result.stderr
    options = ("-o", output, "--option", "entity_label=X")
    result = run("convert", "jsonl", source, *options, exit_code=2)
    assert "option 'entity_label=X': expected one of none at all" in result.stderr
    assert not output.exists()


def test_convert_reads_directories(run, tmp_path):
    for name in ("b", "a"):
        (tmp_path / "xml" / name).mkdir(parents=True)
        (tmp_path / "xml" / name / "f.xml").write_text(XML.replace("d1", name))
    output = tmp_path / "docs.spacy"
    run("convert", "interaction-xml", tmp_path / "xml", "-o", output)
    assert [doc.user_data["id"] for doc in read_docs(output)] == ["a", "b"]


def test_convert_is_lenient_if_asked_and_writes_its_report(run, file, ada, tmp_path):
    output, report = tmp_path / "docs.spacy", tmp_path / "new" / "report.json"
    source = file("docs.jsonl", json.dumps(ada) + "\nx")
    options = ("-o", output, "--json", report)
    run("convert", "jsonl", source, *options, exit_code=1)
    result = run("convert", "jsonl", source, *options, "--lenient")
    assert "ERROR bad lines: 1" in result.stdout and "docs.jsonl:2: " in result.stdout
    written = json.loads(report.read_text())
    assert (written["ok"], written["documents"], written["errors"]) == (False, 1, {"bad_lines": 1})
    assert written["examples"]["bad_lines"][0].startswith(f"{source}:2: ")
    assert len(read_docs(output)) == 1


def test_convert_lists_its_formats(run):
    result = run("convert", "--formats")
    for shown in (
        "jsonl: our own format",
        "interaction-xml: ",
        "    --option label=TEXT\n",
        "    --option default_entity_label=TEXT (default: ENTITY)",
    ):
        assert shown in result.stdout


def test_convert_never_writes_over_its_input(run, file, ada):
    source = file("docs.jsonl", json.dumps(ada))
    before = source.read_bytes()
    result = run("convert", "jsonl", source, "-o", source, exit_code=2)
    assert "name another output" in " ".join(result.stderr.split())
    assert source.read_bytes() == before


@pytest.mark.parametrize("text", ["", '{"text": 7}'])
def test_convert_without_any_document_leaves_the_output_as_it_was(run, file, tmp_path, text):
    output = tmp_path / "docs.spacy"
    output.write_bytes(b"of yesterday")
    result = run("convert", "jsonl", file("docs.jsonl", text), "-o", output, exit_code=1)
    assert "nothing written" in result.stdout and "ERROR" in result.stdout
    assert output.read_bytes() == b"of yesterday"
    assert list(tmp_path.glob("*.part")) == []


def test_convert_writes_every_place_to_json(run, file, tmp_path):
    source = file("docs.jsonl", '{"text": "a"}\n' + '{"text": 7}\n' * 9)
    report = tmp_path / "report.json"
    options = ("-o", tmp_path / "docs.spacy", "--json", report)
    result = run("convert", "jsonl", source, *options, exit_code=1)
    assert "and 4 more" in result.stdout
    assert len(json.loads(report.read_text("utf-8"))["examples"]["bad_lines"]) == 9
