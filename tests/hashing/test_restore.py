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
