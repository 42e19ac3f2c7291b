"""Every classifier that a config can select, within the component."""

import pytest
from confection import Config
from pipeline import sentences

LOGISTIC = {"@misc": "spacy-klsh.logistic.v1", "strength": 0.5}
BLOCKS = {
    "forest": {"@misc": "spacy-klsh.subspace.v1", "n_members": 10, "bits_per_member": None},
    "linear": {"@misc": "spacy-klsh.subspace.v1", "n_members": 10, "base": LOGISTIC},
    "extra trees": {"@misc": "spacy-klsh.extra_trees.v1", "n_trees": 10, "inputs": "codes"},
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
