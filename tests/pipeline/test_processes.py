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
import hashlib, json, multiprocessing
from pipeline import sentences

nlp = sentences.train(sentences.build())
content = nlp.get_pipe("klsh_relations").to_bytes()
docs = [sentences.bare(doc) for doc in sentences.corpus(nlp.vocab, 9)]
found = {"parent": sentences.answers(nlp(sentences.bare(doc)) for doc in docs)}
for method in ("fork", "spawn"):
    multiprocessing.set_start_method(method, force=True)
    stream = nlp.pipe(map(sentences.bare, docs), n_process=2, batch_size=2)
    found[method] = sentences.answers(stream)
print(json.dumps({**found, "sha256": hashlib.sha256(content).hexdigest()}))
"""


@pytest.fixture(scope="module")
def elsewhere():
    """Training and answers under another hash seed, there and in worker processes."""
    return run(ELSEWHERE, PYTHONHASHSEED="12345")


@pytest.mark.parametrize("place", ["parent", "fork", "spawn"])
def test_other_processes_give_the_same_relations_and_counts(trained, elsewhere, place):
    docs = map(sentences.bare, sentences.corpus(trained.vocab, 9))
    expected = sentences.answers(trained.pipe(docs))
    assert any(relations for relations, _ in expected) and all(skipped for _, skipped in expected)
    assert elsewhere[place] == json.loads(json.dumps(expected))


def test_the_hash_seed_does_not_change_the_saved_model(component, elsewhere):
    assert elsewhere["sha256"] == hashlib.sha256(component.to_bytes()).hexdigest()


LOADED = """
import json, sys
import spacy

heavy = ("numba", "sklearn", "spacy_klsh.pipeline.component")
spacy.blank("en")
blank = [name for name in heavy if name in sys.modules]
factory = "spacy_klsh.pipeline.factory" in sys.modules
from pipeline import sentences

nlp = spacy.load(sys.argv[1])
doc = nlp(sentences.parsed(nlp.vocab, sentences.PATTERNS[0][0]))
loaded = {"n_found": len(doc._.relations), "sklearn": "sklearn" in sys.modules}
print(json.dumps({"blank": blank, "factory": factory, **loaded}))
"""


@pytest.fixture(scope="module")
def imported(trained, tmp_path_factory):
    path = tmp_path_factory.mktemp("model")
    trained.to_disk(path)
    return run(LOADED, path)


def test_a_blank_pipeline_imports_the_factory_and_nothing_heavy(imported):
    assert imported["factory"] and imported["blank"] == []


def test_predicting_needs_no_scikit_learn(imported):
    assert imported["n_found"] == 1 and not imported["sklearn"]
