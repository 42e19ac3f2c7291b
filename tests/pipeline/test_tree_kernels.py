"""Components whose kernel compares trees, or paths place by place."""

import pytest
import spacy
from pipeline.sentences import answers, bare, build, corpus, examples, train

KERNELS = {
    "graph": {"@misc": "spacy-klsh.graph_kernel.v1"},
    "contiguous": {"@misc": "spacy-klsh.graph_kernel.v1", "contiguous": True, "view": "sentence"},
    "chain": {"@misc": "spacy-klsh.graph_kernel.v1", "view": "path"},
    "shortest path": {"@misc": "spacy-klsh.shortest_path_kernel.v1"},
}
VIEWS = {
    "@misc": "spacy-klsh.views.v1",
    "names": ["path", "subtree", "sentence"],
    "depth": 1,
}


@pytest.mark.parametrize("kernel", KERNELS)
def test_it_finds_what_it_was_taught_and_the_same_when_loaded(kernel, tmp_path):
    nlp = train(build(kernel=KERNELS[kernel], views=VIEWS, features=None))
    assert nlp.evaluate(examples(corpus(nlp.vocab)))["rel_micro_f"] > 0.9
    nlp.to_disk(tmp_path)
    found, again = (
        answers(pipeline.pipe(map(bare, corpus(pipeline.vocab))))
        for pipeline in (nlp, spacy.load(tmp_path))
    )
    assert again == found
    assert sum(len(relations) for relations, _ in found) > 5
