import pytest
import tiny
from benchmark_component import measured
from spacy.training import Example

STAGES = {"candidates", "extraction", "features", "classifier", "annotation", "evidence", "ours"}


@pytest.mark.parametrize("inputs", ["features", "both"])
def test_the_stages_find_what_predict_finds(inputs):
    nlp = tiny.base()
    docs = tiny.gold_docs(nlp)
    classifier = {"@misc": "spacy-klsh.linear.v1", "inputs": inputs}
    extractor = nlp.create_pipe(
        "klsh_relations", config={**tiny.SETTINGS, "classifier": classifier}
    )
    extractor.initialize(lambda: [Example(nlp.make_doc(doc.text), doc) for doc in docs])
    assert measured(nlp, extractor, docs).keys() >= STAGES  # it compares both
