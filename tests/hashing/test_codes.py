import naive
import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from sklearn.model_selection import train_test_split

from spacy_klsh.hashing.codes import Codes


def bits(n_bits):
    """Up to six codes of `n_bits` bits."""
    shapes = st.integers(0, 6).map(lambda n: (n, n_bits))
    return arrays.arrays(np.uint8, shapes, elements=st.integers(0, 1))


def random_bits(n, n_bits, seed=0):
    return np.random.default_rng(seed).integers(2, size=(n, n_bits), dtype=np.uint8)


@given(st.integers(1, 150).flatmap(bits))
@strategies.THOROUGH
def test_pack_sets_bit_l_mod_64_of_word_l_div_64(code_bits):
    codes = Codes.pack(code_bits)
    assert codes.words.dtype == np.uint64
    assert codes.words.tolist() == [naive.pack(code) for code in code_bits]


@given(st.integers(1, 150).flatmap(bits))
@strategies.THOROUGH
def test_bits_are_those_that_were_packed(code_bits):
    codes = Codes.pack(code_bits)
    assert naive.same_bits(codes.bits(), code_bits)
    assert (len(codes), codes.shape, codes.n_bits) == (
        len(code_bits),
        (len(code_bits),),
        code_bits.shape[1],
    )


@given(st.integers(1, 150).flatmap(lambda n: st.tuples(bits(n), bits(n))))
@strategies.THOROUGH
def test_hamming_counts_the_bits_that_differ(pair):
    x, y = pair
    found = Codes.pack(x).hamming(Codes.pack(y))
    assert found.dtype == np.int32
    assert found.shape == (len(x), len(y))
    assert found.tolist() == naive.hamming(x, y)


@pytest.mark.parametrize("n_bits", [1, 63, 64, 65, 1000])
def test_hamming_of_opposite_codes_is_the_number_of_bits(n_bits):
    zeros, ones = (Codes.pack(np.full((1, n_bits), value, np.uint8)) for value in (0, 1))
    assert zeros.hamming(ones).tolist() == [[n_bits]]
    assert ones.hamming(ones).tolist() == [[0]]


@pytest.mark.parametrize(
    "index",
    [
        2,
        -1,
        slice(None),
        slice(1, 4),
        slice(None, None, -2),
        [3, 0, 3],
        [],
        np.array([4, 1]),
        np.array([True, False, False, True, True]),
        (np.array([2, 0]), ...),
    ],
    ids=repr,
)
def test_a_choice_of_codes_is_a_choice_of_rows(index):
    code_bits = random_bits(5, 70)
    rows = np.atleast_1d(np.arange(5)[index[0] if isinstance(index, tuple) else index])
    chosen = Codes.pack(code_bits)[index]
    assert chosen.n_bits == 70
    assert naive.same_bits(chosen.bits(), code_bits[rows])


@pytest.mark.parametrize("index", [5, -6, [0, 5], np.zeros(4, bool)], ids=repr)
def test_an_index_out_of_range_is_an_error(index):
    with pytest.raises(IndexError):
        Codes.pack(random_bits(5, 70))[index]


def test_concat_of_slices_gives_back_the_whole():
    codes = Codes.pack(random_bits(5, 70))
    joined = Codes.concat([codes[:2], codes[2:2], codes[2:]])
    assert joined.n_bits == 70
    assert naive.same_bits(joined.words, codes.words)


@pytest.mark.parametrize(("widths", "found"), [((), r"\[\]"), ((70, 71), r"\[70, 71\]")])
def test_concat_refuses_nothing_and_other_numbers_of_bits(widths, found):
    parts = [Codes.pack(random_bits(2, n_bits)) for n_bits in widths]
    with pytest.raises(ValueError, match=rf"codes have {found} bits; .* at least one part"):
        Codes.concat(parts)


def test_hamming_refuses_another_number_of_bits():
    with pytest.raises(ValueError, match="codes have 70 and 71 bits; compare codes of one model"):
        Codes.pack(random_bits(2, 70)).hamming(Codes.pack(random_bits(2, 71)))


@pytest.mark.parametrize(
    ("words", "n_bits", "message"),
    [
        (np.zeros((3, 2), np.int64), 70, r"words is int64 \(3, 2\), but 70 bits need uint64"),
        (np.zeros(3, np.uint64), 70, r"words is uint64 \(3,\), .* \(n, 2\)"),
        (np.zeros((3, 1), np.uint64), 70, r"words is uint64 \(3, 1\), .* \(n, 2\)"),
        (np.zeros((3, 3), np.uint64), 128, r"words is uint64 \(3, 3\), .* \(n, 2\)"),
        (np.zeros((2, 3), np.uint64).T, 70, "words is not C-ordered; .*ascontiguousarray"),
        (np.full((3, 1), 8, np.uint64), 3, "a bit beyond n_bits = 3 is set"),
    ],
)
def test_words_that_are_no_codes_are_refused(words, n_bits, message):
    with pytest.raises(ValueError, match=message):
        Codes(words, n_bits)


def test_scikit_learn_splits_codes_with_their_labels():
    codes, labels = Codes.pack(random_bits(40, 70)), np.arange(40)
    train, test, train_rows, test_rows = train_test_split(codes, labels, random_state=0)
    for part, rows in ((train, train_rows), (test, test_rows)):
        assert naive.same_bits(part.bits(), codes.bits()[rows])
