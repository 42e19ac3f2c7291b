import re

import pytest
import spacy

TEXT = "Ada Park founded Lumen."
UNRELATED = "Ben Cole wrote a letter about Orbis."


def test_a_relation_is_explained(run, model):
    shown = run("explain", model, TEXT).stdout
    assert "Ada Park — FOUNDED → Lumen" in shown
    assert "PERSON <-nsubj- found -dobj-> ORG" in shown
    assert re.search(r"vote +│ FOUNDED [01]\.\d\d", shown)
    assert re.search(r"1\.00 │ FOUNDED +│ PERSON <-nsubj- found -dobj-> ORG", shown)


def test_why_there_is_no_relation(run, model):
    shown = run("explain", model, UNRELATED).stdout
    assert "No relation found." in shown
    nlp = spacy.load(model)
    assert not nlp(UNRELATED)._.relations
    (threshold,) = set(nlp.get_pipe("klsh_relations").thresholds.values())
    assert "Below the threshold" in shown and f" < {threshold:.2f}" in shown
    assert "PERSON <-nsubj- write" in shown


def test_what_was_skipped_is_told(run, model):
    shown = run("explain", model, f"{TEXT} Mia Long works for Vexel.").stdout
    assert "Skipped: cross_sentence 4" in shown


@pytest.mark.parametrize("text", ["", "Nobody knows."])
def test_a_text_without_pairs_says_so(run, model, text):
    shown = run("explain", model, text).stdout
    assert "No relation found." in shown and "no pair of entities" in shown


def test_misses_can_be_left_out(run, model):
    assert "Below" not in run("explain", model, UNRELATED, "--misses", 0).stdout


def test_the_number_of_references_is_an_option(run, model):
    few = run("explain", model, TEXT, "--n-references", 1).stdout
    many = run("explain", model, TEXT, "--n-references", 6).stdout
    assert few.count("│") < many.count("│")
    run("explain", model, TEXT, "--n-references", 3)


def test_text_comes_from_a_file_or_standard_input(run, model, file):
    expected = run("explain", model, TEXT).stdout
    assert run("explain", model, "--file", file("a.txt", f"\ufeff{TEXT}")).stdout == expected
    assert run("explain", model, "-", input=TEXT).stdout == expected


@pytest.mark.parametrize("arguments", [(), (TEXT, "--file", "a.txt")])
def test_one_text_is_needed(run, model, arguments):
    result = run("explain", model, *arguments, exit_code=1)
    assert "give one of" in result.stderr


def test_a_file_that_cannot_be_read_is_named(run, model, file, tmp_path):
    latin = file("latin.txt", "Ren\xe9".encode("latin-1"))
    for path in (latin, tmp_path / "missing.txt"):
        assert path.name in run("explain", model, "--file", path, exit_code=1).stderr


def test_markup_in_a_text_is_shown_as_it_is(run, model):
    shown = run("explain", model, "Ada Park founded [red]Lumen[/red]. Ada Park founded Lumen [/]")
    assert "Ada Park — FOUNDED → Lumen" in shown.stdout


def test_a_page_is_written(run, model, tmp_path):
    path = tmp_path / "new" / "page.html"
    result = run("explain", model, f"{TEXT} {UNRELATED}", "--html", path)
    page = path.read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>") and f"page written to {path}" in result.stderr
    for shown in ("FOUNDED", "<svg", "Below the threshold", "Not looked at", UNRELATED):
        assert shown in page


def test_a_page_that_cannot_be_written_is_an_error(run, model, file):
    path = file("taken", "x") / "page.html"
    assert "Error: " in run("explain", model, TEXT, "--html", path, exit_code=1).stderr


def test_errors_are_those_of_the_other_commands(run, tmp_path):
    assert "no/model" in run("explain", "no/model", TEXT, exit_code=1).stderr
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.to_disk(tmp_path / "bare")
    bare = run("explain", tmp_path / "bare", TEXT, exit_code=1)
    assert "['sentencizer'] but no klsh_relations" in bare.stderr
    nlp.add_pipe("klsh_relations")
    nlp.to_disk(tmp_path / "untrained")
    assert "is not trained" in run("explain", tmp_path / "untrained", TEXT, exit_code=1).stderr


def test_a_text_that_is_too_long_is_an_error(run, model, load_once, monkeypatch):
    monkeypatch.setattr(load_once(str(model)), "max_length", 5)
    assert "E088" in run("explain", model, TEXT, exit_code=1).stderr
