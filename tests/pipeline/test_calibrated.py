"""The component with calibrated probabilities."""

import pytest
from pipeline import sentences
from pipeline.sentences import build, corpus

from spacy_klsh.classifiers.calibration import METHODS


@pytest.mark.parametrize("exclusive", [True, False])
@pytest.mark.parametrize("method", METHODS)
def test_a_component_calibrates_before_it_chooses_thresholds(method, exclusive, docs):
    config = {"calibration": method, "exclusive_classes": exclusive}
    nlp = build(**config)
    sentences.train(nlp, corpus(nlp.vocab, 28))
    component = nlp.get_pipe("klsh_relations")
    found = sentences.answers([component(doc.copy()) for doc in docs])
    assert any(relations for relations, _ in found)
    plain = build(exclusive_classes=exclusive)
    sentences.train(plain, corpus(plain.vocab, 28))
    plain = plain.get_pipe("klsh_relations")
    assert component.thresholds != plain.thresholds
    assert found != sentences.answers([plain(doc.copy()) for doc in docs])
    loaded = build(**config).get_pipe("klsh_relations").from_bytes(component.to_bytes())
    assert sentences.answers([loaded(doc.copy()) for doc in docs]) == found
    assert loaded.to_bytes() == component.to_bytes()
    with pytest.raises(ValueError, match=f"other settings: calibration was '{method}'"):
        build(exclusive_classes=exclusive).get_pipe("klsh_relations").from_bytes(
            component.to_bytes()
        )


def test_a_component_with_a_threshold_is_calibrated_too():
    nlp = build(calibration="platt", threshold=0.25)
    component = sentences.train(nlp).get_pipe("klsh_relations")
    assert component.classifier.curves_
    assert set(component.thresholds.values()) == {0.25}


def test_one_training_doc_cannot_calibrate():
    nlp = build(calibration="platt")
    with pytest.raises(ValueError, match="train on more Docs, or set calibration = null"):
        sentences.train(nlp, [sentences.annotated(nlp.vocab, 0, 1, 3, 6)])


def test_a_component_refuses_other_methods():
    with pytest.raises(ValueError, match="calibration is 'beta'"):
        build(calibration="beta")
