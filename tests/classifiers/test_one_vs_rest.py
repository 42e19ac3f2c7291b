import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_klsh.classifiers.encoded import Encoded
from spacy_klsh.classifiers.linear import LinearClassifier
from spacy_klsh.classifiers.neighbors import HammingNeighbors
from spacy_klsh.classifiers.one_vs_rest import OneVsRest
from spacy_klsh.classifiers.subspace import SubspaceClassifier
from spacy_klsh.hashing.codes import Codes

MEMBER = SubspaceClassifier(n_members=5, bits_per_member=8)


def problem(n=80, seed=0):
    """Codes, and labels of which some rows have two, the third has all, the last has none."""
    bits = np.random.default_rng(seed).integers(2, size=(n, 40), dtype=np.uint8)
    y = np.zeros((n, 5), bool)
    y[:, 1], y[:, 2], y[:, 3] = bits[:, 0] == 1, bits[:, 1] == 1, True
    y[:, 0] = ~y[:, 1:].any(axis=1)
    return Encoded(Codes.pack(bits), None, {}), y


@pytest.fixture(scope="module")
def fitted():
    return OneVsRest(MEMBER).fit(*problem())


def test_each_label_has_the_probability_of_a_classifier_of_its_own(fitted):
    (x, y), (new, _) = problem(), problem(seed=1)
    found = fitted.predict_proba(new)
    assert found.dtype == np.float32 and found.shape == (80, 5)
    for k in (1, 2):
        alone = SubspaceClassifier(n_members=5, bits_per_member=8).fit(x, y[:, k].astype(int))
        assert (found[:, k] == alone.predict_proba(new)[:, 1]).all()
    assert (found[:, 3] == 1).all() and (found[:, 4] == 0).all()
    np.testing.assert_allclose(found[:, 0], (1 - found[:, 1:]).prod(axis=1), rtol=1e-6)


def test_the_member_that_it_was_given_stays_as_it_was(fitted):
    assert not hasattr(fitted.member, "nodes_")
    assert (fitted.widths_, fitted.n_labels_) == ((40, 0), 5)


def test_a_saved_one_answers_the_same(fitted):
    new, _ = problem(seed=1)
    again = OneVsRest(MEMBER).restore(fitted.state())
    assert (again.predict_proba(new) == fitted.predict_proba(new)).all()
    assert (again.widths_, again.n_labels_) == ((40, 0), 5)


@pytest.mark.parametrize(
    "member",
    [HammingNeighbors(), LinearClassifier(inputs="codes"), MEMBER],
    ids=lambda member: type(member).__name__,
)
@pytest.mark.parametrize("n_different", [1, 2])
def test_what_labels_have_alike_is_saved_once(member, n_different):
    x, y = problem()
    y[:, 3], y[:, 4] = y[:, 1], y[:, n_different]  # labels may also be quite the same
    fitted, (new, _) = OneVsRest(member).fit(x, y), problem(seed=1)
    state = fitted.state()
    states = [each.state() for each in fitted.members_]
    for name, array in states[0].items():
        alike = array.ndim and all(np.array_equal(array, each[name]) for each in states)
        kept = [f"all/{name}"] if alike else [f"{k}/{name}" for k in range(4)]
        assert [key for key in state if key.partition("/")[2] == name] == kept
    again = OneVsRest(member).restore(state).predict_proba(new)
    assert again.tobytes() == fitted.predict_proba(new).tobytes()


def test_nearest_neighbours_of_several_labels_store_their_codes_once():
    x, y = problem()
    state = OneVsRest(HammingNeighbors()).fit(x, y).state()
    assert sum(array.nbytes for array in state.values() if array.shape == x.codes.words.shape) == (
        x.codes.words.nbytes
    )


def test_what_labels_have_stored_is_looked_through_once(monkeypatch):
    (x, y), (new, _) = problem(), problem(seed=1)
    fitted = OneVsRest(HammingNeighbors(k=5)).fit(x, y)
    expected = [member.predict_proba(new)[:, 1] for member in fitted.members_[:2]]
    searches, nearest = [], Codes.nearest
    monkeypatch.setattr(Codes, "nearest", lambda *a: searches.append(0) or nearest(*a))
    assert (expected == fitted.predict_proba(new)[:, 1:3].T).all() and len(searches) == 1


def test_labels_that_stored_other_candidates_are_refused():
    state = OneVsRest(HammingNeighbors()).fit(*problem()).state()
    words = state.pop("all/words")
    with pytest.raises(ValueError, match="have stored other candidates each"):
        OneVsRest(HammingNeighbors()).restore({**state, "0/words": words, "1/words": words[::-1]})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: s.update({"all/nodes": s["0/nodes"]}), r"has \['nodes'\] for all labels, and"),
        (lambda s: s.pop("constants"), "stored constants are object 0d"),
        (lambda s: s.update(constants=s["constants"].astype(int)), "stored constants are int64"),
        (lambda s: s.update(constants=s["constants"] + np.float32(0.5)), "is not 0 or 1"),
        (lambda s: s.update({"9/nodes": s["0/nodes"]}), "array '9/nodes', but there are 4 labels"),
        (lambda s: s.update({"x": s["0/nodes"]}), "array 'x'"),
        (lambda s: s.update({"00/nodes": s["0/nodes"]}), "array '00/nodes'"),
        (lambda s: s.pop("1/nodes"), "the file is damaged"),
        (
            lambda s: s.update({"1/n_bits": np.array(41)}),
            "reads .41, 0. bits and features, but the first .40, 0.",
        ),
        (lambda s: s.update({"3/n_bits": s["0/n_bits"]}), "the file is damaged"),
    ],
)
def test_a_damaged_one_is_refused(fitted, change, message):
    state = dict(fitted.state())
    change(state)
    with pytest.raises(ValueError, match=message):
        OneVsRest(MEMBER).restore(state)


def test_a_member_with_other_labels_is_refused(fitted):
    x, y = problem()
    three = SubspaceClassifier(n_members=5, bits_per_member=8).fit(x, y[:, 1] + 2 * y[:, 2])
    state = fitted.state()
    own = {name: array for name, array in three.state().items() if f"all/{name}" not in state}
    state |= {f"0/{name}": array for name, array in own.items()}
    with pytest.raises(ValueError, match="a stored classifier tells 4 labels apart"):
        OneVsRest(MEMBER).restore(state)


@given(st.permutations(range(80)))
def test_a_row_does_not_care_about_the_others(order):
    new, _ = problem(seed=1)
    fitted = OneVsRest(MEMBER).fit(*problem())
    assert (fitted.predict_proba(new[order]) == fitted.predict_proba(new)[order]).all()


@pytest.mark.parametrize("call", [lambda c: c.predict_proba(problem()[0]), lambda c: c.state()])
def test_before_fit_every_use_says_so(call):
    with pytest.raises(ValueError, match=r"no members, .* call fit\(\)"):
        call(OneVsRest(MEMBER))
