"""The scripts that measure public corpora, on Docs made by hand."""

import json

import baselines
import bionlp
import numpy as np
import pytest
import spacy
import yardstick
from pipeline import sentences
from public import Corpus
from spacy.tokens import Doc, Span

from spacy_klsh import Relation, register_extensions
from spacy_klsh.pipeline.candidates import Candidates
from spacy_klsh.pipeline.role_candidates import RoleCandidates

register_extensions()
NLP = spacy.blank("en")


@pytest.fixture
def doc():
    """a b c are proteins; x y z are triggers of events."""
    doc = Doc(NLP.vocab, words=list("abcxyz"))
    labels = dict(zip("abc", ["Protein"] * 3, strict=True))
    labels |= {"x": "Binding", "y": "Positive_regulation", "z": "Regulation"}
    doc.spans["entities"] = [Span(doc, i, i + 1, label=labels[t.text]) for i, t in enumerate(doc)]
    return doc


def named(doc, label, **words):
    spans = {span.text: span for span in doc.spans["entities"]}
    return Relation(label, arguments={role: spans[word] for role, word in words.items()})


def found(doc, *events):
    doc._.relations = list(events)
    return {
        tuple(span.text for span in r.arguments.values()): tuple(r.arguments)
        for r in bionlp.interactions(doc)
    }


ROLES = ("trigger", "participant", "participant2", "catalyst")


def test_two_themes_are_two_participants_in_document_order(doc):
    events = [named(doc, "Binding", trigger="x", Theme="c", Theme2="a")]
    assert found(doc, *events) == {("x", "a", "c"): ROLES[:3]}


def test_of_three_themes_two_at_a_time_take_part(doc):
    events = [named(doc, "Binding", trigger="x", Theme="a", Theme2="b", Theme3="c")]
    assert set(found(doc, *events)) == {("x", "a", "b"), ("x", "a", "c"), ("x", "b", "c")}


def test_a_protein_cause_is_the_catalyst(doc):
    events = [named(doc, "Regulation", trigger="z", Theme="a", Cause="b")]
    assert found(doc, *events) == {("z", "a", "b"): ("trigger", "participant", "catalyst")}


def test_who_regulates_an_event_is_its_catalyst(doc):
    binding = named(doc, "Binding", trigger="x", Theme="a", Theme2="b")
    cause = named(doc, "Positive_regulation", trigger="y", Theme="x", Cause="c")
    assert found(doc, binding, cause) == {("x", "a", "b"): ROLES[:3], ("x", "a", "b", "c"): ROLES}


def test_an_event_without_a_protein_is_none_and_nobody_catalyzes_himself(doc):
    binding = named(doc, "Binding", trigger="x", Theme="a")
    nested = named(doc, "Regulation", trigger="z", Theme="x", Cause="y")
    himself = named(doc, "Positive_regulation", trigger="y", Theme="x", Cause="a")
    assert set(found(doc, nested)) == set()
    assert set(found(doc, binding, nested, himself)) == {("x", "a")}


def test_triggers_of_two_types_on_one_word_are_two(doc):
    spans = [*doc.spans["entities"], Span(doc, 3, 4, label="Gene_expression")]
    doc.spans["entities"] = spans
    expression = Relation("Gene_expression", arguments={"trigger": spans[6], "Theme": spans[1]})
    events = [
        expression,
        Relation("Binding", arguments={"trigger": spans[3], "Theme": spans[0]}),
        Relation(
            "Regulation", arguments={"trigger": spans[5], "Theme": spans[3], "Cause": spans[2]}
        ),
    ]
    doc._.relations = events
    places = [
        [(role, span.text, span.label_) for role, span in r.arguments.items()]
        for r in bionlp.interactions(doc)
    ]
    assert sorted(map(len, places)) == [2, 2, 3]
    (whole,) = (place for place in places if len(place) == 3)
    assert whole[0] == ("trigger", "x", "Binding") and whole[2][:2] == ("catalyst", "c")


def test_macro_f1_is_over_the_labels_of_the_gold_relations():
    nlp = spacy.blank("en")
    component = nlp.create_pipe("klsh_relations")
    gold, found = (sentences.corpus(nlp.vocab) for _ in range(2))
    for doc in found:
        doc._.relations = [
            *doc._.relations,
            *(Relation("X", head=r.tail, tail=r.head) for r in doc._.relations),
        ]
    run = baselines.scores(component, found, gold)
    assert run["rel_macro_f"] == 1.0 and run["rel_per_type"]["X"]["f"] == 0.0


def test_every_interaction_is_a_possible_candidate(doc):
    events = [
        named(doc, "Binding", trigger="x", Theme="b", Theme2="a"),
        named(doc, "Positive_regulation", trigger="y", Theme="x", Cause="c"),
        named(doc, "Regulation", trigger="z", Theme="a", Cause="b"),
    ]
    doc._.relations = events
    settings = {name: value for name, value in bionlp.CANDIDATES.items() if name != "@misc"}
    candidates = RoleCandidates(**settings)(doc)
    rows = {
        tuple(candidates.entities[j].text if j >= 0 else "" for j in row)
        for row in candidates.arguments.tolist()
    }
    for relation in bionlp.interactions(doc):
        row = tuple(getattr(relation.arguments.get(r), "text", "") for r in ROLES)
        assert row in rows


def test_word_features_show_the_arguments_by_role_and_other_entities_by_label():
    doc = Doc(
        NLP.vocab,
        words=["So", "Ada", "Park", "of", "Lumen", "met", "Bo", "."],
        sent_starts=[True] + [False] * 7,
    )
    spans = [(1, 3, "PERSON"), (4, 5, "ORG"), (6, 7, "PERSON")]
    entities = tuple(Span(doc, a, b, label=label) for a, b, label in spans)
    rows = np.array([[2, 0], [1, 2]], np.int32)
    first, second = yardstick._word_features(doc, Candidates(("head", "tail"), entities, rows))
    assert set(first) == {
        *("before=so", "after=."),
        *("between=tail=PERSON", "between=of", "between=ORG", "between=met"),
        "between=head=PERSON",
        *("between=tail=PERSON of", "between=of ORG", "between=ORG met"),
        "between=met head=PERSON",
        *("between=tail=PERSON of ORG", "between=of ORG met", "between=ORG met head=PERSON"),
    }
    assert {"before=PERSON", "between=head=ORG met tail=PERSON"} <= set(second)


def test_path_features_are_n_grams():
    grams = yardstick._path_features(["label=A", "dep=x<", "lemma=b", "dep=y>", "label=C"])
    assert list(grams)[5:9] == [
        *("path=label=A dep=x<", "path=dep=x< lemma=b", "path=lemma=b dep=y>"),
        "path=dep=y> label=C",
    ]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Training and test Docs of a corpus called `small`."""
    folder = tmp_path_factory.mktemp("small")
    docs = sentences.corpus(spacy.blank("en").vocab, n=20)
    for part, chosen in (("train", docs[:16]), ("test", docs[16:])):
        spacy.tokens.DocBin(docs=chosen, store_user_data=True).to_disk(
            folder / f"small_{part}.spacy"
        )
    return folder


def test_both_models_are_measured_and_stored(folder, monkeypatch, capsys):
    corpus = Corpus(read=None, files={}, settings={"hashing": sentences.SMALL["hashing"]})
    monkeypatch.setitem(baselines.CORPORA, "small", corpus)
    monkeypatch.setattr(baselines.spacy, "load", lambda *_, **__: spacy.blank("en"))
    path = folder / "small.json"
    baselines.main("small", folder, seeds=2, json_file=path)
    figures = json.loads(path.read_text("utf-8"))
    for model in (baselines.OURS, baselines.WORDS):
        run = figures[model]
        assert run["rel_micro_f"] > 0.5 and run["rel_candidate_recall"] == 1
        assert run["train_s"] > 0 and run["predict_s"] > 0
        assert model in capsys.readouterr().out or model == baselines.WORDS
    assert figures[baselines.WORDS]["strength"] in yardstick.STRENGTHS
    assert set(figures[baselines.OURS]["rel_per_type"]) == set(
        figures[baselines.WORDS]["rel_per_type"]
    )


def test_a_summary_is_the_mean_over_the_seeds_also_of_each_label():
    runs = [
        {"rel_micro_f": 0.2, "rel_macro_f": 0.1, "rel_per_type": {"A": dict.fromkeys("prf", 0.4)}},
        {
            "rel_micro_f": 0.4,
            "rel_macro_f": 0.1,
            "rel_per_type": {"A": dict.fromkeys("prf", 0.2), "B": dict.fromkeys("prf", 0.0)},
        },
    ]
    row = baselines.summary(runs)
    assert row["rel_micro_f"] == pytest.approx(0.3) and row["rel_micro_f_sd"] == pytest.approx(
        0.02**0.5
    )
    assert row["rel_per_type"]["A"] == pytest.approx(dict.fromkeys("prf", 0.3))
    assert row["rel_per_type"]["B"] == dict.fromkeys("prf", 0.0)


def test_the_yardstick_learns_what_words_tell():
    nlp, docs = spacy.blank("en"), sentences.corpus(spacy.blank("en").vocab)
    component = nlp.create_pipe("klsh_relations", config={"hashing": sentences.SMALL["hashing"]})
    data = baselines.collect(component, baselines.as_examples(docs), None)
    rows = list(yardstick.features(docs, data.candidates, data.views))
    model = yardstick.Yardstick(data, rows)
    probabilities = model.predict_proba(rows)
    assert probabilities.shape == data.y.shape
    assert ((probabilities >= 0) & (probabilities <= 1)).all()
    found = data.scheme.reached(probabilities, model.thresholds)[:, 1:]
    assert (found == data.y[:, 1:]).mean() > 0.95
