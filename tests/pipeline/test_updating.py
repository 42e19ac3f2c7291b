"""The component with a classifier that goes on learning."""

import json
import re
from collections import Counter

import numpy as np
import pytest
import spacy
from pipeline import sentences
from pipeline.sentences import answers, bare, examples
from spacy.cli._util import app
from spacy.language import Language
from spacy.tokens import DocBin
from spacy.training import Example
from spacy.training.initialize import init_nlp
from typer.testing import CliRunner

from spacy_klsh import Relation, RelationExtractor
from spacy_klsh.pipeline.training import fit_classifier
from spacy_klsh.pipeline.updating import OnlineRelationExtractor

ONLINE = {"classifier": {"@misc": "spacy-klsh.perceptron.v1", "inputs": "codes"}}
LATER = {"classifier": {**ONLINE["classifier"], "max_passes": 0}}


def build(name="klsh_relations", config=ONLINE, nlp=None, **settings):
    nlp = nlp or spacy.blank("xx")
    nlp.add_pipe(
        "klsh_relations",
        name=name,
        config={"hashing": sentences.SMALL["hashing"], **config, **settings},
    )
    return nlp


def few(vocab):
    """One Doc of each of the first patterns: not all ways to say something."""
    return [sentences.annotated(vocab, i) for i in range(4)]


def more(vocab, n=40):
    return sentences.corpus(vocab, n)


def f1(nlp, docs, name="klsh_relations"):
    component = nlp.get_pipe(name)
    found = [Example(component(bare(doc)), doc) for doc in docs]
    return component.score(found)[
        f"{'rel' if component.attr == 'relations' else component.attr}_micro_f"
    ]


@pytest.fixture(scope="module")
def started():
    nlp = build()
    return sentences.train(nlp, few(nlp.vocab))


def again(nlp, **settings):
    """The same component in a pipeline of its own."""
    other = build(**settings)
    other.get_pipe("klsh_relations").from_bytes(nlp.get_pipe("klsh_relations").to_bytes())
    return other


def test_only_an_online_classifier_makes_a_component_that_spacy_updates(trained, started):
    other, online = trained.get_pipe("klsh_relations"), started.get_pipe("klsh_relations")
    assert not hasattr(other, "update") and not other.is_trainable
    assert type(other) is RelationExtractor and type(online) is OnlineRelationExtractor
    assert online.is_trainable and online.model is None
    assert not trained.update(examples(few(trained.vocab)))  # no loss of anybody


def test_updates_improve_it_without_another_fit(started):
    nlp = again(started)
    component, docs = nlp.get_pipe("klsh_relations"), more(nlp.vocab)
    before, weights = f1(nlp, docs), component.classifier.weights_
    codes, thresholds = component.hashing.weights_.copy(), dict(component.thresholds)
    for _ in range(5):
        losses = nlp.update(examples(docs))
    assert losses.keys() == {"klsh_relations"} and isinstance(losses["klsh_relations"], float)
    assert f1(nlp, docs) > before + 0.1
    assert component.classifier.weights_ is weights  # no other fit
    assert (component.hashing.weights_ == codes).all() and component.thresholds == thresholds


def test_an_update_is_training_on_the_same_sequence(started):
    nlp, twin = again(started), again(started)
    docs = more(nlp.vocab, 9)
    losses = {}
    for example in examples(docs):
        nlp.update([example], losses=losses)
    assert twin.update(examples(docs))["klsh_relations"] == losses["klsh_relations"] > 0
    found, expected = (n.get_pipe("klsh_relations").classifier for n in (nlp, twin))
    assert found.weights_.mean.tobytes() == expected.weights_.mean.tobytes()


def test_losses_are_there_whatever_the_examples_hold(started):
    nlp = again(started)
    empty = sentences.parsed(nlp.vocab, "P:ROOT:0")
    for given in ([], examples([empty]), [Example(empty.copy(), empty)]):
        assert nlp.get_pipe("klsh_relations").update(given) == {"klsh_relations": 0.0}
    losses = {"klsh_relations": 2.0, "other": 1.0}
    assert nlp.get_pipe("klsh_relations").update([], losses=losses) is losses
    assert losses == {"klsh_relations": 2.0, "other": 1.0}


def test_several_components_learn_each_its_own():
    nlp = build("first", attr="relations")
    build("second", nlp=nlp, attr="links")
    build("third", config=sentences.SMALL, nlp=nlp, attr="ties")
    docs = more(nlp.vocab)
    for doc in docs:
        doc._.ties = doc._.relations
        doc._.links = [
            Relation("FOUNDED" if r.label == "WORKS_FOR" else "WORKS_FOR", arguments=r.arguments)
            for r in doc._.relations
        ]
    nlp.initialize(lambda: examples(docs[:5]))
    before = {name: f1(nlp, docs, name) for name in ("first", "second")}
    third = nlp.get_pipe("third").to_bytes()
    losses = {}
    for _ in range(4):
        nlp.update(examples(docs), losses=losses)
    assert losses.keys() == {"first", "second"}
    for name, reached in before.items():
        assert f1(nlp, docs, name) > reached
    assert nlp.get_pipe("third").to_bytes() == third
    swap = {"FOUNDED": "WORKS_FOR", "WORKS_FOR": "FOUNDED"}
    doc = nlp(bare(docs[0]))
    assert {swap[r.label] for r in doc._.links} == {r.label for r in doc._.relations}


def test_a_parse_and_entities_come_from_wherever_they_are(started):
    nlp = again(started)
    doc = more(nlp.vocab, 2)[1]
    unparsed = spacy.tokens.Doc(nlp.vocab, words=[token.text for token in doc])
    unparsed.ents = [spacy.tokens.Span(unparsed, s.start, s.end, s.label_) for s in doc.ents]
    unparsed._.relations_data = doc._.relations_data
    predicted = bare(doc)
    predicted.ents = []
    twins = [again(started) for _ in range(2)]
    twins[0].get_pipe("klsh_relations").update([Example(predicted, unparsed)])
    twins[1].get_pipe("klsh_relations").update([Example(nlp.make_doc("nothing"), doc)])
    first, second = (twin.get_pipe("klsh_relations").to_bytes() for twin in twins)
    assert first == second != started.get_pipe("klsh_relations").to_bytes()
    assert not predicted.ents  # it was only looked at
    with pytest.raises(ValueError, match="parse"):
        nlp.get_pipe("klsh_relations").update([Example(unparsed.copy(), unparsed)])


def test_what_cannot_be_learned_is_counted(started):
    component = again(started).get_pipe("klsh_relations")
    doc = sentences.annotated(component.vocab, 0)
    doc._.relations = [Relation("NEW", arguments=doc._.relations[0].arguments)]
    component.update([Example(bare(doc), doc)])
    assert component.report == Counter(unreachable=1)


def test_before_training_an_update_says_so():
    nlp = build()
    with pytest.raises(ValueError, match="not trained"):
        nlp.get_pipe("klsh_relations").update(examples(few(nlp.vocab)))


@pytest.mark.parametrize("calibration", [None, "platt"])
@pytest.mark.parametrize("exclusive", [True, False])
def test_a_saved_one_answers_and_goes_on_the_same(exclusive, calibration, tmp_path):
    nlp = build(exclusive_classes=exclusive, calibration=calibration)
    docs = more(nlp.vocab, 20)
    sentences.train(nlp, docs[:7])
    for _ in range(2):
        nlp.to_disk(tmp_path / "model")
        other = spacy.load(tmp_path / "model")
        found, expected = (answers(map(n, map(bare, docs))) for n in (other, nlp))
        assert found == expected
        assert other.update(examples(docs)) == nlp.update(examples(docs))
    assert other.get_pipe("klsh_relations").to_bytes() == nlp.get_pipe("klsh_relations").to_bytes()


def test_probabilities_before_and_after_do_not_depend_on_the_batch(started):
    nlp = again(started)
    docs = more(nlp.vocab, 12)
    nlp.update(examples(docs))
    alone = answers(map(nlp, map(bare, docs)))
    assert answers(nlp.pipe(map(bare, docs), batch_size=5)) == alone


HIERARCHY = {"FOUNDED": "BOSS", "WORKS_FOR": "BOSS", "SUED": "OTHER"}


class Seen:
    """A classifier that shows what it was given."""

    strategy, hierarchy = "given", HIERARCHY

    def arrange(self, names, above):
        self.arranged = names, above

    def fit(self, x, y, n_labels):
        return self


def arranged(component, **scheme):
    component.new_classifier = Seen
    scheme = component.scheme.__class__(labels=("FOUNDED", "SUED", "WORKS_FOR"), **scheme)
    return fit_classifier(component, None, np.eye(4, dtype=bool), scheme).arranged


def test_the_classifier_gets_the_names_of_its_classes():
    component = build().get_pipe("klsh_relations")
    assert arranged(component) == (["", "FOUNDED", "SUED", "WORKS_FOR"], HIERARCHY)
    doubled = ["", "FOUNDED", "FOUNDED", "SUED", "SUED", "WORKS_FOR", "WORKS_FOR"]
    assert arranged(component, direction="label") == (doubled, HIERARCHY)


def hierarchical(hierarchy, **settings):
    classifier = {**ONLINE["classifier"], "strategy": "given", "hierarchy": hierarchy}
    return build(config={"classifier": classifier}, **settings)


def test_a_hierarchy_may_stand_in_a_file_that_only_training_reads(tmp_path):
    path = tmp_path / "labels.json"
    path.write_text(json.dumps(HIERARCHY))
    inline, nlp = hierarchical(HIERARCHY), hierarchical(str(path))
    for each in (inline, nlp):
        sentences.train(each)
    path.unlink()
    nlp.to_disk(tmp_path / "model")
    docs = more(nlp.vocab, 9)
    found = answers(map(spacy.load(tmp_path / "model"), map(bare, docs)))
    assert found == answers(map(inline, map(bare, docs)))


@pytest.mark.parametrize("content", [None, "{", "[1]", '{"A": 1}', b"\xff"])
def test_a_file_without_a_hierarchy_is_refused(content, tmp_path):
    path = tmp_path / "labels.json"
    if content is not None:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ValueError, match=f"hierarchy '{re.escape(str(path))}' .*; give"):
        sentences.train(hierarchical(str(path)))


def test_a_hierarchy_wants_exclusive_classes():
    with pytest.raises(ValueError, match='strategy is "given", but with exclusive_classes = false'):
        sentences.train(hierarchical(HIERARCHY, exclusive_classes=False))


def test_names_that_training_lacks_are_told(caplog):
    sentences.train(hierarchical({**HIERARCHY, "FOUNDDE": "BOSS"}))
    assert "the hierarchy names ['FOUNDDE', 'SUED']" in caplog.text


def test_all_can_be_left_to_updates():
    nlp = build(config=LATER)
    docs = more(nlp.vocab)
    sentences.train(nlp, docs)
    component = nlp.get_pipe("klsh_relations")
    assert component.labels == ("FOUNDED", "WORKS_FOR") and component.reference_labels
    assert component.thresholds == {"FOUNDED": 0.5, "WORKS_FOR": 0.5}
    assert not f1(nlp, docs)
    for _ in range(5):
        nlp.update(examples(docs))
    assert f1(nlp, docs) > 0.8


CONFIG = """
[nlp]
lang = "xx"
pipeline = ["known_parse", "klsh_relations"]
[components]
[components.known_parse]
factory = "known_parse"
[components.klsh_relations]
factory = "klsh_relations"
[components.klsh_relations.hashing]
@misc = "spacy-klsh.klsh.v1"
n_references = 20
n_bits = 128
[components.klsh_relations.classifier]
@misc = "spacy-klsh.perceptron.v1"
inputs = "codes"
max_passes = 0
[corpora]
[corpora.train]
@readers = "spacy-klsh.RelationCorpus.v1"
path = {path}
[corpora.dev]
@readers = "spacy-klsh.RelationCorpus.v1"
path = {path}
[training]
max_epochs = 6
eval_frequency = 10
frozen_components = ["known_parse"]
annotating_components = ["known_parse"]
[training.batcher]
@batchers = "spacy.batch_by_sequence.v1"
size = 8
"""


PARSES = {}


@Language.component("known_parse")
def known_parse(doc):
    for token, (head, dep) in zip(doc, PARSES[doc.text], strict=True):
        token.head, token.dep_ = doc[head], dep
    return doc


def test_spacy_train_uses_all_epochs(tmp_path):
    nlp = build()
    docs = more(nlp.vocab)
    PARSES.update({doc.text: [(token.head.i, token.dep_) for token in doc] for doc in docs})
    DocBin(docs=docs, store_user_data=True).to_disk(tmp_path / "docs.spacy")
    (tmp_path / "base.cfg").write_text(
        CONFIG.replace("{path}", json.dumps(str(tmp_path / "docs.spacy")))
    )

    def run(*arguments):
        found = CliRunner().invoke(app, [str(argument) for argument in arguments])
        assert found.exit_code == 0, found.output
        return found.output

    run("init", "fill-config", tmp_path / "base.cfg", tmp_path / "full.cfg")
    printed = run("train", tmp_path / "full.cfg", "--output", tmp_path / "out")
    assert "LOSS KLSH_" in printed
    trained = spacy.load(tmp_path / "out" / "model-best")
    untrained = init_nlp(spacy.util.load_config(tmp_path / "full.cfg"))
    assert f1(trained, docs) > 0.8 and not f1(untrained, docs)
