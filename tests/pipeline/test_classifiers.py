"""Every classifier that a config can select, within the component."""

import json
import pickle

import pytest
import spacy
from confection import Config
from pipeline import sentences
from pipeline.forgery import files

LOGISTIC = {"@misc": "spacy-klsh.logistic.v1", "strength": 0.5}
BLOCKS = {
    "forest": {"@misc": "spacy-klsh.subspace.v1", "n_members": 10, "bits_per_member": None},
    "linear": {"@misc": "spacy-klsh.subspace.v1", "n_members": 10, "base": LOGISTIC},
    "extra trees": {"@misc": "spacy-klsh.extra_trees.v1", "n_trees": 10, "inputs": "codes"},
    "default": {"@misc": "spacy-klsh.linear.v1"},
    "ensemble": {
        "@misc": "spacy-klsh.ensemble.v1",
        "weights": {"trees": 0.5},
        "members": {
            "linear": {"@misc": "spacy-klsh.linear.v1", "C": 2.0, "inputs": "features"},
            "trees": {"@misc": "spacy-klsh.extra_trees.v1", "n_trees": 10},
        },
    },
}
BLOCKS["ensemble"] = {
    "@misc": "spacy-klsh.ensemble.v1",
    "members": {"linear": {"@misc": "spacy-klsh.linear.v1"}, "trees": BLOCKS["extra trees"]},
    "weights": {"linear": 0.7, "trees": 0.3},
}


@pytest.fixture(scope="module", params=BLOCKS)
def trained(request):
    return sentences.train(sentences.build(classifier=BLOCKS[request.param]))


def test_it_learns_and_answers_the_same_after_saving(trained):
    other = type(trained).from_config(Config().from_str(trained.config.to_str()))
    content = trained.get_pipe("klsh_relations").to_bytes()
    other.get_pipe("klsh_relations").from_bytes(content)
    docs = sentences.corpus(trained.vocab)
    found = sentences.answers(trained.pipe(map(sentences.bare, docs)))
    assert found == sentences.answers(other.pipe(map(sentences.bare, docs)))
    right = [
        {r.label for r in doc._.relations} == {r.label for r in gold._.relations}
        for doc, gold in zip(trained.pipe(map(sentences.bare, docs)), docs, strict=True)
    ]
    assert sum(right) > 0.7 * len(right)


def test_another_base_than_in_training_is_refused():
    linear = BLOCKS["linear"]
    content = sentences.train(sentences.build(classifier=linear)).get_pipe("klsh_relations")
    other = {**linear, "base": {**LOGISTIC, "strength": 2.0}}
    component = sentences.build(classifier=other).get_pipe("klsh_relations")
    with pytest.raises(
        ValueError, match=r"other settings: classifier was .*'C': 0.5.* is .*'C': 2.0"
    ):
        component.from_bytes(content.to_bytes())


ENSEMBLE = """
[nlp]
lang = "xx"
pipeline = ["klsh_relations"]
[components]
[components.klsh_relations]
factory = "klsh_relations"
exclusive_classes = EXCLUSIVE
[components.klsh_relations.hashing]
@misc = "spacy-klsh.klsh.v1"
n_references = 20
n_bits = 128
[components.klsh_relations.classifier]
@misc = "spacy-klsh.ensemble.v1"
weights = {"linear": 2.0}
[components.klsh_relations.classifier.members]
[components.klsh_relations.classifier.members.linear]
@misc = "spacy-klsh.linear.v1"
inputs = "features"
[components.klsh_relations.classifier.members.perceptron]
@misc = "spacy-klsh.perceptron.v1"
strategy = "STRATEGY"
hierarchy = HIERARCHY
n_replicates = 2
"""


def from_text(exclusive="true", strategy="flat"):
    above = {"FOUNDED": "WORK", "WORKS_FOR": "WORK"} if strategy == "given" else {}
    text = ENSEMBLE.replace("EXCLUSIVE", exclusive).replace("STRATEGY", strategy)
    text = text.replace("HIERARCHY", json.dumps(above))
    return spacy.util.load_model_from_config(Config().from_str(text), auto_fill=True)


@pytest.mark.parametrize(
    ("exclusive", "strategy"), [("true", "flat"), ("true", "given"), ("false", "flat")]
)
def test_blocks_of_members_make_an_ensemble(tmp_path, exclusive, strategy):
    nlp = sentences.train(from_text(exclusive, strategy))
    component = nlp.get_pipe("klsh_relations")
    docs = [sentences.bare(doc) for doc in sentences.corpus(nlp.vocab)]
    expected = sentences.answers(nlp.pipe(doc.copy() for doc in docs))
    assert any(found for found, _ in expected)
    nlp.to_disk(tmp_path)
    for other in (
        spacy.load(tmp_path),
        from_text(exclusive, strategy).from_bytes(nlp.to_bytes()),
        pickle.loads(pickle.dumps(nlp)),
    ):
        assert sentences.answers(other.pipe(doc.copy() for doc in docs)) == expected
        assert other.get_pipe("klsh_relations").to_bytes() == component.to_bytes()


def test_settings_of_members_are_described_to_the_bottom():
    content = from_text(strategy="given").get_pipe("klsh_relations").to_bytes()
    settings = json.loads(files(content)["meta.json"])["settings"]
    assert settings["classifier"] == {
        "class": "Ensemble",
        "weights": {"linear": 2.0},
        "members": {
            "linear": {
                "class": "LinearClassifier",
                "C": 10.0,
                "min_count": 2,
                "class_weight": None,
                "inputs": "features",
                "seed": 0,
            },
            "perceptron": {
                "class": "PerceptronClassifier",
                "strategy": "given",
                "hierarchy": {"FOUNDED": "WORK", "WORKS_FOR": "WORK"},
                "max_passes": 10,
                "n_averaged": 5,
                "n_replicates": 2,
                "inputs": "both",
                "seed": 0,
            },
        },
    }
    assert settings["features"]["width"] == 2**20


@pytest.mark.parametrize("block", BLOCKS.values(), ids=BLOCKS)
def test_no_address_in_memory_is_stored(block):
    meta = files(sentences.build(classifier=block).get_pipe("klsh_relations").to_bytes())
    assert b" at 0x" not in meta["meta.json"] and b"object" not in meta["meta.json"]


@pytest.mark.parametrize(
    "changed",
    [
        {"weights": {"linear": 3.0}},
        {"members": {"linear": {"@misc": "spacy-klsh.linear.v1", "C": 1.0}}},
    ],
)
def test_another_ensemble_than_in_training_is_refused(changed):
    block = {
        "@misc": "spacy-klsh.ensemble.v1",
        "members": {"linear": {"@misc": "spacy-klsh.linear.v1"}},
    }
    content = sentences.build(classifier=block).get_pipe("klsh_relations").to_bytes()
    component = sentences.build(classifier={**block, **changed}).get_pipe("klsh_relations")
    with pytest.raises(ValueError, match="trained with other settings: classifier was"):
        component.from_bytes(content)
