"""Components whose kernel compares trees, or paths place by place."""

import pytest
import spacy
from pipeline.sentences import answers, bare, build, corpus, examples, train

KERNELS = {
    "graph": {"@misc": "spacy-klsh.graph_kernel.v1"},
    "contiguous": {"@misc": "spacy-klsh.graph_kernel.v1", "contiguous": True, "view": "sentence"},
    "chain": {"@misc": "spacy-klsh.graph_kernel.v1", "view": "path"},
    "shortest path": {"@misc": "spacy-klsh.shortest_path_kernel.v1"},
    "common paths": {"@misc": "spacy-klsh.common_paths_kernel.v1"},
    "arguments": {"@misc": "spacy-klsh.common_paths_kernel.v1", "anchors": "arguments"},
    "product": {
        "@misc": "spacy-klsh.combined_kernel.v1",
        "operation": "product",
        "kernels": {
            "path": {"@misc": "spacy-klsh.subsequence_kernel.v1"},
            "graph": {"@misc": "spacy-klsh.graph_kernel.v1"},
        },
    },
}
VIEWS = {
    "@misc": "spacy-klsh.views.v1",
    "names": ["path", "subtree", "sentence"],
    "depth": 1,
}


@pytest.mark.parametrize("kernel", KERNELS)
def test_it_finds_what_it_was_taught_and_the_same_when_loaded(kernel, tmp_path):
    # common paths of any words do not tell head and tail apart
    direction = "label" if kernel == "common paths" else "ordered"
    nlp = train(build(kernel=KERNELS[kernel], views=VIEWS, features=None, direction=direction))
    assert nlp.evaluate(examples(corpus(nlp.vocab)))["rel_micro_f"] > 0.9
    nlp.to_disk(tmp_path)
    found, again = (
        answers(pipeline.pipe(map(bare, corpus(pipeline.vocab))))
        for pipeline in (nlp, spacy.load(tmp_path))
    )
    assert again == found
    assert sum(len(relations) for relations, _ in found) > 5


def test_evidence_of_trees_says_where_their_branches_are():
    nlp = train(build(kernel=KERNELS["graph"], views=VIEWS, features=None))
    docs = list(nlp.pipe(map(bare, corpus(nlp.vocab))))
    found = [relation.evidence for doc in docs for relation in doc._.relations]
    assert len(found) > 5
    for shown in (each for evidence in found for each in (evidence, *evidence.nearest)):
        assert len(shown.parents) == len(shown.path) and shown.parents[0] == -1
        assert ("role=tail", "role=tail") in {node[:2] for node in shown.path}
        assert all(parent < i for i, parent in enumerate(shown.parents))
    assert all("(tail)" in str(evidence) for evidence in found)
