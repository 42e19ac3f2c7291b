"""Relations with more than two arguments, through the whole component."""

import pytest
import spacy
from pipeline import events, sentences
from pipeline.events import ACTIVATION, BINDING, ROLES, annotated, build, corpus, parsed, told
from pipeline.forgery import files, signed
from pipeline.sentences import answers, bare, examples
from spacy.tokens import Span
from spacy.training import Example

from spacy_klsh import Relation
from spacy_klsh.pipeline.annotation import Prediction
from spacy_klsh.pipeline.explanation import near_misses
from spacy_klsh.pipeline.page import render
from spacy_klsh.pipeline.relations import read_records


@pytest.fixture(scope="module")
def trained():
    return events.train(build())


@pytest.fixture
def component(trained):
    return trained.get_pipe("klsh_relations")


def test_events_are_found_with_all_their_roles(trained):
    doc, _ = parsed(trained.vocab, 0, 2, 3, shift=2)
    assert told(trained(doc)._.relations) == [
        (BINDING, {"trigger": "binds", "Theme": "Dun3", "Theme2": "Fel4"}),
        (BINDING, {"trigger": "binding", "Theme": "Fel4", "Theme2": "Gri5", "Cause": "Dun3"}),
    ]


def test_events_are_scored_against_all_gold(trained):
    scores = trained.evaluate(examples(corpus(trained.vocab)))
    assert scores["rel_micro_f"] > 0.9 and scores["rel_relaxed_micro_f"] > 0.9
    assert set(scores["rel_per_type"]) == {BINDING, ACTIVATION}
    assert scores["rel_candidate_recall"] == 1


@pytest.mark.parametrize("batch_size", [1, 64])
def test_a_saved_pipeline_gives_equal_answers(trained, tmp_path, batch_size):
    trained.to_disk(tmp_path)
    other = spacy.load(tmp_path)
    found = answers(other.pipe(map(bare, corpus(other.vocab)), batch_size=batch_size))
    assert found == answers(trained.pipe(map(bare, corpus(trained.vocab))))
    assert sum(len(relations) for relations, _ in found) > 10
    assert other.get_pipe("klsh_relations").candidates.settings["roles"] == [
        ["trigger", [ACTIVATION, BINDING]],
        ["Theme", ["Protein"]],
        ["Theme2", ["Protein"]],
        ["Cause", ["Protein"]],
    ]


OTHER_ROLES = [
    {"optional": ["Theme2"]},
    {"interchangeable": []},
    {"roles": {**ROLES["roles"], "Cause": ["Protein", BINDING]}},
    {"roles": dict(sorted(ROLES["roles"].items()))},
    {"@misc": "spacy-klsh.entity_pairs.v1"},
]


@pytest.mark.parametrize("other", OTHER_ROLES)
def test_a_model_for_other_roles_is_refused(component, other):
    candidates = other if "@misc" in other else {**ROLES, **other}
    empty = build(candidates=candidates).get_pipe("klsh_relations")
    with pytest.raises(ValueError, match="trained with other settings: candidates was"):
        empty.from_bytes(component.to_bytes())
    assert empty.labels == ()


@pytest.mark.parametrize("other", [{"max_candidates": 5}, {"max_tokens": 9}, {"spans_key": "e"}])
def test_limits_may_change_after_training(component, other):
    empty = build(candidates={**ROLES, **other}).get_pipe("klsh_relations")
    assert empty.from_bytes(component.to_bytes()).labels == component.labels


def test_a_model_for_pairs_says_nothing_of_roles():
    pairs = sentences.build().get_pipe("klsh_relations").to_bytes()
    assert b"candidates" not in files(pairs)["meta.json"]
    assert sentences.build().get_pipe("klsh_relations").from_bytes(signed(files(pairs)))


def test_roles_keep_their_order_in_config_text():
    nlp = build()
    again = type(nlp).from_config(spacy.util.load_config_from_str(nlp.config.to_str()))
    for one in (nlp, again):
        assert list(one.get_pipe("klsh_relations").candidates.roles) == list(ROLES["roles"])


@pytest.mark.parametrize(
    "settings", [{"direction": "label"}, {"direction": "none"}, {"symmetric_labels": [BINDING]}]
)
def test_settings_for_head_and_tail_are_refused_and_name_the_roles(settings):
    with pytest.raises(ValueError, match=r"roles trigger, Theme, Theme2, Cause, but .* set direct"):
        build(**settings)


def test_spans_of_a_group_may_be_arguments():
    nlp = build(candidates={**ROLES, "spans_key": "names"})
    docs = corpus(nlp.vocab, key="names")
    assert not docs[0].ents
    scores = events.train(nlp, docs).evaluate(examples(docs))
    assert scores["rel_micro_f"] > 0.9


def test_a_kernel_may_compare_subtrees():
    views = {"@misc": "spacy-klsh.views.v1", "names": ["subtree"]}
    kernel = {"@misc": "spacy-klsh.subsequence_kernel.v1", "view": "subtree"}
    settings = {"views": views, "kernel": kernel, "features": None}
    nlp = events.train(build(**settings))
    other = build(**settings)
    other.get_pipe("klsh_relations").from_bytes(nlp.get_pipe("klsh_relations").to_bytes())
    found = answers(other.pipe(map(bare, corpus(other.vocab))))
    assert found == answers(nlp.pipe(map(bare, corpus(nlp.vocab))))
    assert sum(len(relations) for relations, _ in found) > 10


def test_interchangeable_roles_may_stand_either_way_in_gold(trained):
    docs = corpus(trained.vocab)
    swapped = {"Theme": "Theme2", "Theme2": "Theme"}
    for doc in docs:
        doc._.relations = [
            Relation(
                r.label,
                arguments={
                    swapped.get(role, role) if "Theme2" in r.arguments else role: span
                    for role, span in r.arguments.items()
                },
            )
            for r in doc._.relations
        ]
    other = events.train(build(), docs)
    component, again = (nlp.get_pipe("klsh_relations") for nlp in (trained, other))
    assert component.to_bytes() == again.to_bytes()
    assert trained.evaluate(examples(docs))["rel_micro_f"] > 0.9


def with_gold(vocab, *relations):
    """A Doc with one event, and other gold relations {role: token}."""
    doc = annotated(vocab, 2)
    spans = {span.start: span for span in doc.ents}
    doc._.relations = [
        Relation(BINDING, arguments={r: spans.get(i, doc[i : i + 1]) for r, i in roles.items()})
        for roles in relations
    ]
    return doc


REACHED = {"trigger": 2, "Theme": 4, "Cause": 0}


@pytest.mark.parametrize(
    "lost",
    [
        {"trigger": 2, "Theme": 4, "Site": 6},
        {"trigger": 2, "Theme": 4, "Cause": 1},
        {"trigger": 2, "Cause": 0},
        {"trigger": 4, "Theme": 2},
        {"head": 2, "tail": 4},
    ],
    ids=["unknown role", "no entity", "required role", "wrong labels", "pair"],
)
def test_gold_that_no_candidate_offers_is_counted_and_missed(lost):
    nlp = build()
    docs = [*corpus(nlp.vocab), with_gold(nlp.vocab, REACHED, lost)]
    component = events.train(nlp, docs).get_pipe("klsh_relations")
    assert component.report["unreachable"] == 1
    doc = docs[-1]
    example = Example(bare(doc), doc)
    component.set_annotations([example.predicted], [Prediction(read_records(doc)[:1], {})])
    scores = component.score([example])
    assert (scores["rel_micro_p"], scores["rel_micro_r"]) == (1, 0.5)
    assert scores["rel_candidate_recall"] == 0.5


def test_relaxed_scores_want_overlapping_arguments_in_every_role(component, trained):
    doc = with_gold(trained.vocab, REACHED)
    for role, relaxed in (("Cause", 1), ("Theme2", 0)):
        example = Example(bare(doc), doc)
        found = example.predicted
        arguments = {"trigger": found[2:3], "Theme": found[3:5], role: found[0:2]}
        found._.relations = [Relation(BINDING, arguments=arguments)]
        scores = component.score([example])
        assert (scores["rel_micro_f"], scores["rel_relaxed_micro_f"]) == (0, relaxed)


def test_thresholds_can_be_chosen_on_other_docs(trained):
    nlp = build()
    component = nlp.get_pipe("klsh_relations")
    component.from_bytes(trained.get_pipe("klsh_relations").to_bytes())
    docs = examples(corpus(nlp.vocab, 7))
    assert set(component.choose_thresholds(docs)) == {ACTIVATION, BINDING}


def test_candidates_over_the_cap_and_in_other_sentences_are_counted_on_the_doc(component):
    nlp = build(candidates={**ROLES, "max_candidates": 6})
    nlp.get_pipe("klsh_relations").from_bytes(component.to_bytes())
    doc = nlp(parsed(nlp.vocab, 0, 2)[0])
    assert doc._.relations_skipped == {"cross_sentence": 12, "max_candidates": 14}
    assert spacy.tokens.Doc(nlp.vocab).from_bytes(doc.to_bytes())._.relations == doc._.relations


def test_a_label_that_was_not_in_training_is_counted():
    nlp = build(candidates={**ROLES, "roles": {**ROLES["roles"], "trigger": []}})
    events.train(nlp)
    doc, _ = parsed(nlp.vocab, 0)
    doc.ents = [*doc.ents[:1], Span(doc, 1, 2, label="Odd"), *doc.ents[2:]]
    assert nlp(doc)._.relations_skipped == {"untrained_entity_label": 5}


def test_an_event_has_no_head_and_no_tail(trained):
    relation, *_ = trained(parsed(trained.vocab, 0)[0])._.relations
    for role in ("head", "tail"):
        with pytest.raises(AttributeError, match=rf"has no {role}; take one of .* trigger, Theme"):
            getattr(relation, role)
        assert not hasattr(relation, role)


def test_the_evidence_of_an_event_names_its_roles(trained):
    (relation,) = trained(parsed(trained.vocab, 2)[0])._.relations
    first = str(relation.evidence).splitlines()[0]
    assert first == (
        "Binding | Theme: Binding -prep-> of -pobj-> Protein | Theme2: Binding -prep-> to -pobj-> "
        "Protein | Cause: Binding <-dobj- eases -nsubj-> Protein"
    )
    assert relation.evidence.nearest[0].label == BINDING


def test_near_misses_are_events_too(component, trained):
    doc = trained(parsed(trained.vocab, 4)[0])
    misses = near_misses(component, doc, 50)
    assert misses and all(miss.relation.score < miss.threshold for miss in misses)
    assert all({"trigger", "Theme"} <= miss.relation.arguments.keys() for miss in misses)


def test_a_page_draws_an_arc_to_each_role_and_names_it(component, trained):
    doc = trained(parsed(trained.vocab, 2)[0])
    page = render(doc, doc._.relations, component.candidates(doc).entities)
    for role in ("Theme", "Theme2", "Cause"):
        assert page.count(f">1 {role}</text>") == 1
    assert ">1 Binding</text>" not in page and page.count('class="tip"') == 3
    assert "<bdi>binding</bdi> <b>— Binding →</b> Theme: <bdi>Cop2</bdi>, Theme2: " in page
    assert '<span class="edge">| Theme:</span>' in page


def test_processing_in_other_processes_gives_the_same(trained):
    docs = corpus(trained.vocab)
    once = answers(trained.pipe(map(bare, docs)))
    assert answers(trained.pipe([bare(doc) for doc in docs], n_process=2, batch_size=4)) == once
