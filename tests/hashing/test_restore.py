"""A stored state that does not fit is refused before numba reads past an array."""

import numpy as np
import pytest

from spacy_klsh import KLSH, Structures, SubsequenceKernel

VIEWS = {"path": Structures.from_symbols([[("dep=", f"lemma={word}")] for word in "abcdefgh"])}


def fitted(family="kulis"):
    return KLSH(SubsequenceKernel(), family=family, n_bits=70).fit(VIEWS)


def state(klsh):
    return [
        klsh.reference_rows_.copy(),
        klsh.subsets_.copy(),
        klsh.weights_.copy(),
        klsh.biases_.copy(),
    ]


@pytest.mark.parametrize("family", ["kulis", "rmm", "rknn"])
def test_the_same_state_gives_the_same_codes(family):
    klsh = fitted(family)
    again = KLSH(SubsequenceKernel(), family=family, n_bits=70)
    again.restore(klsh.reference_, *state(klsh))
    assert np.array_equal(again.transform(VIEWS).words, klsh.transform(VIEWS).words)


@pytest.mark.parametrize("number", [-1, 8, 2**30])
def test_members_outside_the_reference_set_are_refused(number):
    klsh = fitted()
    arrays = state(klsh)
    arrays[1][3, 0, 1] = number
    with pytest.raises(ValueError, match="damaged"):
        klsh.restore(klsh.reference_, *arrays)


@pytest.mark.parametrize("which", range(4))
def test_arrays_of_another_length_or_dtype_are_refused(which):
    klsh = fitted()
    shorter, other = state(klsh), state(klsh)
    shorter[which] = shorter[which][:-1]
    other[which] = other[which].astype(np.float64)
    for arrays in (shorter, other):
        with pytest.raises(ValueError, match="damaged"):
            klsh.restore(klsh.reference_, *arrays)


@pytest.mark.parametrize("which", range(4))
@pytest.mark.parametrize(
    "change", [lambda a: a[:0], lambda a: a.astype("U9"), lambda a: a[..., None]]
)
def test_empty_arrays_texts_and_other_dimensions_are_refused(which, change):
    klsh = fitted()
    arrays = state(klsh)
    arrays[which] = change(arrays[which])
    with pytest.raises(ValueError, match=r"the stored hashing has .*damaged"):
        klsh.restore(klsh.reference_, *arrays)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("which", [2, 3])
def test_weights_and_biases_that_are_not_finite_are_refused(which, value):
    klsh = fitted()
    arrays = state(klsh)
    arrays[which][-1] = value
    with pytest.raises(ValueError, match="NaN or infinite"):
        klsh.restore(klsh.reference_, *arrays)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_word_vectors_that_are_not_finite_are_refused(value):
    klsh = fitted()
    path = klsh.reference_["path"]
    vectors = np.full((len(path.symbols), 1), value, np.float32)
    changed = Structures(path.nodes, path.offsets, path.symbols, vectors)
    with pytest.raises(ValueError, match="NaN or infinite"):
        klsh.restore({"path": changed}, *state(klsh))


def test_rows_below_minus_one_are_refused():
    klsh = fitted()
    arrays = state(klsh)
    arrays[0][:] = -1
    klsh.restore(klsh.reference_, *arrays)
    arrays[0][2] = -2
    with pytest.raises(ValueError, match="rows from -2"):
        klsh.restore(klsh.reference_, *arrays)


class TwoViews(SubsequenceKernel):
    views = ("path", "tree")


def test_views_of_different_lengths_are_refused():
    views = {**VIEWS, "tree": VIEWS["path"]}
    klsh = KLSH(TwoViews(), n_bits=70).fit(views)
    klsh.restore(klsh.reference_, *state(klsh))
    longer = Structures.concat([klsh.reference_["tree"], VIEWS["path"][:1]])
    with pytest.raises(ValueError, match=r"references \{'path': 8, 'tree': 9\}"):
        klsh.restore({**klsh.reference_, "tree": longer}, *state(klsh))


def test_a_refused_state_changes_nothing():
    """Not even one that only the kernel refuses: nodes that have no attribute."""
    klsh = fitted()
    before = dict(vars(klsh))
    edges = Structures.from_symbols([[("dep=",)]] * 8)
    with pytest.raises(ValueError, match="at least one attribute"):
        klsh.restore({"path": edges}, *state(klsh))
    assert vars(klsh).keys() == before.keys()
    assert all(vars(klsh)[name] is value for name, value in before.items())


def test_a_reference_so_long_that_it_fills_the_memory_is_refused():
    klsh = fitted()
    long = Structures.from_symbols([[("dep=", "lemma=a")]] * 7 + [[("dep=", "lemma=a")] * 12_000])
    with pytest.raises(ValueError, match="144000007 pairs of nodes"):
        klsh.restore({"path": long}, *state(klsh))
