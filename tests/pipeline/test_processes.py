"""The same answers in other processes: forked, spawned, with other hashes of strings."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from pipeline import sentences

TESTS = Path(__file__).parents[1]


def run(code, *arguments, **environment):
    """What Python code prints in a process of its own, read as JSON."""
    path = os.pathsep.join(filter(None, [str(TESTS), os.environ.get("PYTHONPATH")]))
    result = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": path, **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


ELSEWHERE = """
import hashlib, json, multiprocessing, sys
import spacy

heavy = ("numba", "sklearn", "spacy_klsh.pipeline.component")
spacy.blank("en")
imports = [name in sys.modules for name in ("spacy_klsh.pipeline.factory", *heavy)]
from pipeline import sentences

nlp = spacy.load(sys.argv[1])
docs = [sentences.bare(doc) for doc in sentences.corpus(nlp.vocab, 9)]
found = {"parent": sentences.answers(nlp(sentences.bare(doc)) for doc in docs)}
found |= {"blank imports": imports, "predicting imports sklearn": "sklearn" in sys.modules}
for method in ("fork", "spawn"):
    multiprocessing.set_start_method(method, force=True)
    stream = nlp.pipe(map(sentences.bare, docs), n_process=2, batch_size=2)
    found[method] = sentences.answers(stream)
content = sentences.train(sentences.build()).get_pipe("klsh_relations").to_bytes()
print(json.dumps({**found, "sha256": hashlib.sha256(content).hexdigest()}))
"""


@pytest.fixture(scope="module")
def elsewhere(trained, tmp_path_factory):
    """What happens to the saved pipeline in a fresh process with another hash seed."""
    path = tmp_path_factory.mktemp("model")
    trained.to_disk(path)
    return run(ELSEWHERE, path, PYTHONHASHSEED="12345")


@pytest.mark.parametrize("place", ["parent", "fork", "spawn"])
def test_other_processes_give_the_same_relations_and_counts(trained, elsewhere, place):
    docs = map(sentences.bare, sentences.corpus(trained.vocab, 9))
    expected = sentences.answers(trained.pipe(docs))
    assert any(relations for relations, _ in expected) and all(skipped for _, skipped in expected)
    assert elsewhere[place] == json.loads(json.dumps(expected))


def test_the_hash_seed_does_not_change_what_is_learned(component, elsewhere):
    assert elsewhere["sha256"] == hashlib.sha256(component.to_bytes()).hexdigest()


def test_a_blank_pipeline_imports_the_factory_and_nothing_heavy(elsewhere):
    assert elsewhere["blank imports"] == [True, False, False, False]


def test_predicting_needs_no_scikit_learn(elsewhere):
    assert not elsewhere["predicting imports sklearn"]
