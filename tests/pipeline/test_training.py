from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
from pipeline import sentences
from pipeline.sentences import PATTERNS, annotated, answers, bare, build, corpus, examples, parsed
from spacy.language import Language
from spacy.tokens import Doc, Span

from spacy_klsh import Relation
from spacy_klsh.pipeline.labels import LabelScheme
from spacy_klsh.pipeline.relations import read_records
from spacy_klsh.pipeline.thresholds import best_threshold, choose_thresholds
from spacy_klsh.pipeline.training import TrainingSet, document_folds, out_of_fold


def trained_on(docs, **config):
    nlp = sentences.train(build(**config), docs)
    return nlp.get_pipe("klsh_relations")


def relations(vocab, n=14):
    return [doc._.relations for doc in corpus(vocab, n)]


def test_training_twice_gives_the_same_bytes(trained, component):
    assert trained_on(corpus(trained.vocab)).to_bytes() == component.to_bytes()


def test_another_seed_gives_other_bits(trained, component):
    other = trained_on(corpus(trained.vocab), seed=1)
    assert (other.hashing.subsets_ != component.hashing.subsets_).any()


def test_training_leaves_the_references_as_they_were(trained):
    docs = corpus(trained.vocab)
    before = [doc.to_bytes() for doc in docs]
    trained_on(docs)
    assert [doc.to_bytes() for doc in docs] == before


def test_training_again_forgets_the_first_time(copied):
    component = copied.get_pipe("klsh_relations")
    docs = [annotated(copied.vocab, i) for i in (0, 1, 3, 4, 5, 0)]
    component.initialize(lambda: examples(docs), nlp=copied)
    assert component.labels == ("FOUNDED",)
    assert set(component.thresholds) == {"FOUNDED"}
    assert component.to_bytes() == trained_on(docs).to_bytes()


def test_labels_of_the_reference_set_are_those_of_the_training_pairs(component):
    assert len(component.reference_labels) == len(component.hashing.reference_["path"])
    labels = component.reference_labels
    assert [name for name in ([], ["FOUNDED"], ["WORKS_FOR"]) if name not in labels] == []
    assert all(len(names) <= 1 for names in labels)


def test_the_chosen_threshold_is_one_probability_for_all_labels(component):
    (threshold,) = set(component.thresholds.values())
    assert 0 < threshold < 1
    assert component.effective_thresholds == component.thresholds


def test_a_number_in_the_config_is_kept_as_the_threshold(trained):
    component = trained_on(corpus(trained.vocab), threshold=0.75)
    assert component.thresholds == {"FOUNDED": 0.75, "WORKS_FOR": 0.75}


def unannotated(vocab):
    return [bare(doc) for doc in corpus(vocab, 3)]


def annotated_with_nothing(vocab):
    docs = unannotated(vocab)
    for doc in docs:
        doc._.relations = []
    return docs


def without_entities(vocab):
    docs = corpus(vocab, 3)
    for doc in docs:
        doc.ents = []
    return docs


def beside_the_entities(vocab):
    docs = unannotated(vocab)
    for doc in docs:
        doc._.relations = [Relation("FOUNDED", head=doc[0:2], tail=doc[2:3])]
    return docs


def all_related(vocab):
    return [annotated(vocab, i) for i in (0, 2, 4, 6)]


def one_sentence(vocab):
    return [annotated(vocab, 0)] * 3


@pytest.mark.parametrize(
    ("make", "config", "found", "advice"),
    [
        (unannotated, {}, "3 training Docs hold 0 gold relations and 12", "store_user_data=True"),
        (annotated_with_nothing, {}, "3 training Docs hold 0 gold relations and 12", "_.relations"),
        (lambda vocab: [], {}, "0 training Docs hold 0 gold relations and 0", "_.relations"),
        (
            without_entities,
            {},
            "3 training Docs hold 3 gold relations and 0 candidates, 0 .*'unreachable': 3",
            "give gold entities",
        ),
        (
            beside_the_entities,
            {},
            "3 gold relations and 12 candidates, 0 of them.*'cross_sentence': 12",
            "check spans_key",
        ),
        (
            all_related,
            {"direction": "label"},
            "4 gold relations and 4 candidates, 4 of them",
            "entities that are not related",
        ),
        (one_sentence, {}, "hold 2 distinct ones with a path", "add examples"),
    ],
    ids=["unannotated", "nothing", "no Docs", "no entities", "no positive", "no negative", "few"],
)
def test_training_data_that_teach_nothing_are_refused_with_counts(make, config, found, advice):
    nlp = build(**config)
    with pytest.raises(ValueError, match=found) as caught:
        sentences.train(nlp, make(nlp.vocab))
    assert advice in str(caught.value)


def test_after_a_failed_training_it_counts_as_untrained():
    nlp = build()
    with pytest.raises(ValueError, match="add examples"):
        sentences.train(nlp, one_sentence(nlp.vocab))
    assert nlp.get_pipe("klsh_relations").labels == ()
    with pytest.raises(ValueError, match="spacy train"):
        nlp(parsed(nlp.vocab, PATTERNS[0][0]))


def test_a_failed_training_leaves_what_was_learned_before(copied, docs):
    component = copied.get_pipe("klsh_relations")
    before = component.to_bytes()
    for make in (unannotated, without_entities, one_sentence):
        with pytest.raises(ValueError, match=r"gold relations|add examples"):
            component.initialize(lambda make=make: examples(make(copied.vocab)), nlp=copied)
    assert component.to_bytes() == before


def test_lost_gold_relations_are_reported(trained):
    docs = corpus(trained.vocab)
    first, *_ = docs
    person, firm, other, _ = first.ents
    first._.relations = [
        *first._.relations,
        Relation("WORKS_FOR", head=person, tail=firm),
        Relation("WORKS_FOR", head=person, tail=other),
    ]
    report = trained_on(docs).report
    assert report == {"cross_sentence": 56, "second_label": 1, "unreachable": 1}


def test_references_without_a_parse_and_without_a_pipeline_ask_for_a_parser(trained):
    component = build().get_pipe("klsh_relations")
    with pytest.raises(ValueError, match="add a parser"):
        component.initialize(lambda: examples([flat(doc) for doc in corpus(trained.vocab)]))


def flat(doc):
    """The Doc with its entities and relations but without its parse."""
    plain = Doc(doc.vocab, words=[t.text for t in doc], spaces=[bool(t.whitespace_) for t in doc])
    plain.ents = [Span(plain, s.start, s.end, label=s.label_, span_id=s.id_) for s in doc.ents]
    plain.user_data = doc.user_data
    return plain


NAMES = [("Maria Lopez", "Acme"), ("John Smith", "Google"), ("Peter Braun", "Siemens")]
SENTENCES = [
    ("{P} founded {O} in 1998.", "FOUNDED"),
    ("{P} visited {O} on Monday.", None),
    ("{O} was founded by {P}.", "FOUNDED"),
    ("{P} has sued {O} again.", None),
]


def in_plain_english(nlp):
    """Tokenized texts with gold entities of our own labels, and relations."""
    docs = []
    for person, firm in NAMES:
        for text, label in SENTENCES:
            doc = nlp.make_doc(text.format(P=person, O=firm))
            start = {name: doc.text.index(name) for name in (person, firm)}
            head, tail = (
                doc.char_span(start[name], start[name] + len(name), label=kind, span_id=kind)
                for name, kind in ((person, "FOUNDER"), (firm, "FIRM"))
            )
            doc.ents = [head, tail]
            doc._.relations = [Relation(label, head=head, tail=tail)] if label else []
            docs.append(doc)
    return docs


@pytest.fixture
def upstream(english):
    """An English pipeline with an untrained component at its end, the rest disabled."""
    english.add_pipe("klsh_relations", config=sentences.SMALL)
    frozen = [name for name in english.pipe_names if name != "klsh_relations"]
    with english.select_pipes(disable=frozen):
        yield english
    english.remove_pipe("klsh_relations")


def initialize(nlp, docs):
    component = nlp.get_pipe("klsh_relations")
    component.initialize(lambda: examples(docs), nlp=nlp)
    return component


def test_unparsed_references_are_parsed_by_the_frozen_components_before_it(upstream):
    docs = in_plain_english(upstream)
    before = [doc.to_bytes() for doc in docs]
    component = initialize(upstream, docs)
    symbols = component.hashing.reference_["path"].symbols
    assert {"label=FOUNDER", "label=FIRM", "dep=nsubj<"} <= set(symbols)
    assert not {"label=PERSON", "label=ORG"} & set(symbols)  # gold entities, not those of NER
    assert component.report.get("unreachable", 0) == 0
    assert [doc.to_bytes() for doc in docs] == before
    assert "parser" not in upstream.pipe_names


def test_parsed_and_unparsed_references_teach_the_same(upstream):
    docs = in_plain_english(upstream)
    component = initialize(upstream, docs)
    expected = component.to_bytes()
    for doc in docs[::2]:
        entities = list(doc.ents)
        for name, pipe in upstream.components:
            if name in ("tok2vec", "tagger", "parser", "attribute_ruler", "lemmatizer"):
                pipe(doc)
        doc.ents = entities
    assert docs[0].has_annotation("DEP") and not docs[1].has_annotation("DEP")
    assert initialize(upstream, docs).to_bytes() == expected


@pytest.mark.parametrize("has_group", [True, False])
def test_the_gold_span_group_stands_whatever_the_components_before_it_find(has_group):
    candidates = {"@misc": "spacy-klsh.entity_pairs.v1", "spans_key": "names"}
    nlp = build(candidates=candidates)

    @Language.component("wrong_spans")
    def wrong_spans(doc):
        heads = [max(token.i - 1, 0) for token in doc]
        parsed = Doc(doc.vocab, words=[t.text for t in doc], heads=heads, deps=["dep"] * len(doc))
        doc.from_array(["HEAD", "DEP"], parsed.to_array(["HEAD", "DEP"]))
        doc.spans["names"] = [doc[0:1], doc[1:2], doc[2:3]]
        return doc

    nlp.add_pipe("wrong_spans", first=True)
    docs = [flat(doc) for doc in corpus(nlp.vocab)]
    for i, doc in enumerate(docs):
        if has_group or i:
            doc.spans["names"] = doc.ents
        doc.ents = []
    component = initialize(nlp, docs)
    assert component.entity_labels == {"PERSON", "ORG"}
    n_lost = 0 if has_group else len(docs[0]._.relations)
    assert component.report["unreachable"] == n_lost


def test_a_trained_pipeline_goes_from_text_to_relations(upstream):
    initialize(upstream, in_plain_english(upstream))
    for name in ("tok2vec", "tagger", "parser", "attribute_ruler", "lemmatizer", "ner"):
        upstream.enable_pipe(name)
    texts = ["Ann Miller founded Lumen Labs in 2001.", "It rains in Paris.", ""]
    docs = list(upstream.pipe(texts, batch_size=2))
    assert [doc.text for doc in docs] == texts
    assert all(read_records(doc) is not None for doc in docs)
    assert answers(docs) == answers([upstream(text) for text in texts])


class Replay:
    """A classifier that answers what its input says, and notes what it was fitted on."""

    fits = ()

    def fit(self, x, y, n_labels):
        Replay.fits = (*Replay.fits, set(x[:, -1].tolist()))
        self.seen = set(x[:, -1].tolist())
        return self

    def predict_proba(self, x):
        assert not self.seen & set(x[:, -1].tolist()), "a Doc is on both sides"
        return x[:, :-1]


def threshold_of(scores, y, groups, n_unreachable=0):
    """Threshold for one label, with these probabilities of it."""
    groups, scores = np.array(groups, np.int64), np.array(scores, np.float32)
    scheme = LabelScheme(("X",))
    data = TrainingSet(
        candidates=(),
        views={},
        y=np.array(y)[:, None] == np.arange(2),
        groups=groups,
        lost_gold=Counter({("unreachable", "X"): n_unreachable}),
        scheme=scheme,
    )
    Replay.fits = ()
    hashing = SimpleNamespace(kernel=None)
    component = SimpleNamespace(scheme=scheme, new_classifier=Replay, hashing=hashing)
    rows = np.stack([1 - scores, scores, groups], axis=1)
    probabilities = out_of_fold(component, rows, data)
    return choose_thresholds(scheme, probabilities, data.y, data.lost_gold)["X"]


def test_the_threshold_comes_from_docs_left_out_of_training():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(12), 3)
    y = np.tile([0, 1, 0], 12)
    scores = np.where(y, rng.uniform(0.4, 0.9, 36), rng.uniform(0.1, 0.6, 36)).astype(np.float32)
    found = threshold_of(scores, y, groups)
    assert found == best_threshold(scores, y == 1, n_gold=12)
    assert len(Replay.fits) == 5 and set.union(*Replay.fits) == set(range(12))


def test_unreachable_gold_relations_lower_the_threshold():
    scores, y, groups = [0.9, 0.8, 0.3, 0.2], [1, 0, 0, 1], [0, 0, 1, 1]
    few, many = (threshold_of(scores, y, groups, n) for n in (0, 9))
    assert many < few


def test_of_one_doc_nothing_can_be_left_out():
    assert threshold_of([0.9, 0.1], [1, 0], [0, 0]) == 0.5
    assert Replay.fits == ()


def test_a_document_is_in_one_of_five_folds():
    groups = np.repeat([2, 3, 5, 8, 9, 11, 40], 3)
    folds = document_folds(groups)
    assert [len(set(folds[groups == i])) for i in np.unique(groups)] == [1] * 7
    assert sorted(np.bincount(folds)) == [3, 3, 3, 6, 6]
    assert set(document_folds(groups[:6])) == {0, 1}
    assert len(document_folds(groups[:0])) == 0


def test_folds_that_cannot_be_trained_do_not_make_every_pair_a_relation():
    scores, y, groups = [0.9, 0.2, 0.8, 0.8], [1, 0, 0, 0], [0, 0, 1, 1]
    assert threshold_of(scores, y, groups) == 0.5
    assert len(Replay.fits) == 1


def test_a_corpus_whose_relations_are_in_one_doc_gives_a_usable_threshold():
    nlp = build()
    docs = [annotated(nlp.vocab, 0, 4), annotated(nlp.vocab, 1, 3, 5)]
    component = sentences.train(nlp, docs).get_pipe("klsh_relations")
    assert component.thresholds == {"FOUNDED": 0.5}
