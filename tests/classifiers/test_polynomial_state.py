import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import strategies
from classifiers.item_samples import N_BITS, WIDTH, fitted, sample
from hypothesis import given
from hypothesis import strategies as st
from pipeline import sentences

from spacy_klsh.classifiers.polynomial import METHODS, PolynomialClassifier

PARTS = ("biases", "sigmoids", "labels", "n_labels", "widths")


@pytest.mark.parametrize("method", METHODS)
def test_restored_machines_predict_the_same_without_scikit_learn(method, tmp_path):
    settings = {"method": method, "sigma": 0.0, "inputs": "both"}
    classifier, (x, _) = fitted(7, **settings), sample(seed=1)
    state = {name: np.asarray(array, order="F") for name, array in classifier.state().items()}
    np.savez(tmp_path / "machines.npz", **state)
    columns, offsets = x.features.columns, x.features.offsets
    np.savez(tmp_path / "x.npz", words=x.codes.words, columns=columns, offsets=offsets)
    program = f"""if True:
        import sys, numpy as np
        from spacy_klsh.classifiers.encoded import Encoded
        from spacy_klsh.classifiers.polynomial import PolynomialClassifier
        from spacy_klsh.hashing.codes import Codes
        from spacy_klsh.hashing.features import Features
        state, x = np.load(sys.argv[1], allow_pickle=False), np.load(sys.argv[2])
        features = Features(x["columns"], x["offsets"], {WIDTH})
        x = Encoded(Codes(x["words"], {N_BITS}), features, {{}})
        classifier = PolynomialClassifier(**{settings!r}).restore(state)
        np.save(sys.argv[3], classifier.predict_proba(x))
        sys.exit("sklearn" in sys.modules)
    """
    files = [tmp_path / name for name in ("machines.npz", "x.npz", "found.npy")]
    root = Path(__file__).parents[2]
    subprocess.run([sys.executable, "-c", program, *map(str, files)], cwd=root, check=True)
    assert np.load(files[2]).tobytes() == classifier.predict_proba(x).tobytes()


def changed(array, place, value):
    array = array.copy()
    array[place] = value
    return array


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        *((name, lambda a: a.astype(np.int16), "consistent ones") for name in PARTS),
        *((name, lambda a: a[None], "consistent ones") for name in PARTS),
        ("biases", lambda a: a[:-1], "consistent ones"),
        ("biases", lambda a: a * np.nan, "consistent ones"),
        ("sigmoids", lambda a: a[:-1], "consistent ones"),
        ("sigmoids", lambda a: a[:, :1], "consistent ones"),
        ("sigmoids", lambda a: a * np.inf, "consistent ones"),
        ("labels", lambda a: a[::-1], "consistent ones"),
        ("labels", lambda a: a[:1], "consistent ones"),
        ("labels", lambda a: a[:0], "consistent ones"),
        ("labels", lambda a: a - 1, "consistent ones"),
        ("labels", lambda a: changed(a, -1, 3), "consistent ones"),
        ("n_labels", lambda a: a - 1, "consistent ones"),
        ("widths", lambda a: a[:1], "consistent ones"),
        ("widths", lambda a: -a, "consistent ones"),
        ("widths", lambda a: a[::-1], "consistent ones"),
        ("widths", lambda a: a + 2**25, "consistent ones"),
        ("widths", lambda a: a // 2, "set width"),
        ("other", lambda a: np.zeros(1), "consistent ones"),
        ("machines/other", lambda a: np.zeros(1), "are needed"),
        ("machines/weights", lambda a: a[:, :-1], "consistent ones"),
        ("machines/columns", lambda a: changed(a, 0, -1), "set width"),
        ("machines/offsets", lambda a: changed(a, -1, 2**40), "must rise from 0"),
    ],
)
@pytest.mark.parametrize("method", METHODS[:2])
def test_a_damaged_state_is_refused(name, change, message, method):
    classifier = fitted(method=method)
    state = classifier.state()
    state[name] = change(state.get(name))
    with pytest.raises(ValueError, match=f"(?s){message}.*he file is damaged, train again"):
        PolynomialClassifier(method=method).restore(state)


@pytest.mark.parametrize("method", METHODS)
def test_a_missing_array_is_refused(method):
    state = fitted(method=method, sigma=0.0).state()
    for name in state:
        part = {other: array for other, array in state.items() if other != name}
        with pytest.raises(ValueError, match="he file is damaged, train again"):
            PolynomialClassifier(method=method).restore(part)


def test_the_state_of_another_method_is_refused():
    with pytest.raises(ValueError, match="he file is damaged, train again"):
        PolynomialClassifier(method="expansion").restore(fitted().state())


FITTED = {method: fitted(method=method, sigma=0.0) for method in METHODS[1:]}


@given(st.sampled_from(METHODS[1:]), st.data())
@strategies.THOROUGH
def test_no_change_of_bytes_makes_it_read_outside(method, data):
    state = FITTED[method].state()
    name = data.draw(st.sampled_from(sorted(state)))
    content = bytearray(np.ascontiguousarray(state[name]).tobytes())
    content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    state[name] = np.frombuffer(content, state[name].dtype).reshape(state[name].shape)
    classifier = PolynomialClassifier(method=method)
    try:
        classifier.restore(state)
    except ValueError as error:
        assert "he file is damaged, train again" in str(error)
        return
    if classifier.widths_ == FITTED[method].widths_ and classifier.n_labels_ < 1000:
        found = classifier.predict_proba(sample(5)[0])
        np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-5)


@pytest.mark.parametrize(("method", "exclusive"), [("index", True), ("expansion", False)])
def test_a_component_with_it_answers_the_same_after_saving(method, exclusive):
    block = {"@misc": "spacy-klsh.polynomial.v1", "inputs": "codes", "C": 0.01}
    block |= {"method": method, "sigma": 1e-6}
    settings = {"classifier": block, "exclusive_classes": exclusive}
    nlp, again = sentences.build(**settings), sentences.build(**settings)
    sentences.train(nlp)
    gold = sentences.corpus(nlp.vocab, 10)
    again.get_pipe("klsh_relations").from_bytes(nlp.get_pipe("klsh_relations").to_bytes())
    answers = [
        sentences.answers(pipeline.get_pipe("klsh_relations").pipe(map(sentences.bare, gold)))
        for pipeline in (nlp, again)
    ]
    assert answers[0] == answers[1]
    assert sum(len(relations) for relations, _ in answers[0]) > 5
