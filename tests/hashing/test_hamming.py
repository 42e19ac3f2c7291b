import pickle
import sys

import naive
import naive_neighbors
import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

from spacy_klsh.hashing import hamming
from spacy_klsh.hashing.buckets import Buckets
from spacy_klsh.hashing.codes import Codes
from spacy_klsh.hashing.faiss_index import FaissIndex

N_STORED = 700 if strategies.JIT else 90  # several blocks of codes, if compiled


def random_bits(n, n_bits, seed=0, repeats=3):
    """Random codes, each `repeats` times or so."""
    rng = np.random.default_rng(seed)
    distinct = rng.integers(2, size=(max(1, n // repeats), n_bits), dtype=np.uint8)
    return distinct[rng.integers(len(distinct), size=n)]


@pytest.fixture(scope="module")
def faiss():
    return pytest.importorskip("faiss", reason="faiss is not installed: pip install faiss-cpu")


@pytest.mark.parametrize("word", [0, 1, 2**63, 2**64 - 1, 0x5555555555555555, 0xF0F0])
def test_ones_are_counted(word):
    x, y = np.array([[word]], np.uint64), np.zeros((1, 1), np.uint64)
    assert hamming.all_distances(x, y).tolist() == [[bin(word).count("1")]]
    assert hamming.count_ones(np.uint64(word)) == bin(word).count("1")


@given(st.integers(1, 130), st.integers(1, 9), st.integers(1, 12), st.integers(0, 2**32 - 1))
@strategies.THOROUGH
def test_the_nearest_are_those_that_sorting_finds(n_bits, n, k, seed):
    x, y = random_bits(5, n_bits, seed), random_bits(n, n_bits, seed + 1)
    found = Codes.pack(x).nearest(Codes.pack(y), k)
    assert found.rows.shape == found.distances.shape == (5, k)
    expected, distances = naive_neighbors.nearest(x, y, k), np.array(naive.hamming(x, y))
    assert found.rows[:, : min(k, n)].tolist() == expected
    assert (found.rows[:, n:] == -1).all()
    assert (found.distances[:, :n] == np.take_along_axis(distances, found.rows[:, :n], 1)).all()


@pytest.mark.parametrize("n_bits", [1, 64, 1000])
def test_blocks_of_stored_codes_change_nothing(n_bits):
    x, y = random_bits(3, n_bits), random_bits(N_STORED, n_bits, seed=1)
    assert not strategies.JIT or n_bits < 100 or 8 * y.size > hamming.BLOCK_BYTES * n_bits / 8
    found = Codes.pack(x).nearest(Codes.pack(y), 20)
    assert found.rows.tolist() == naive_neighbors.nearest(x, y, 20)


def test_the_nearest_of_no_codes_and_for_no_codes():
    codes, none = Codes.pack(random_bits(3, 70)), Codes.pack(random_bits(3, 70)[:0])
    assert codes.nearest(none, 2).rows.tolist() == [[-1, -1]] * 3
    assert none.nearest(codes, 2).rows.shape == (0, 2)


def test_nearest_refuses_another_number_of_bits():
    with pytest.raises(ValueError, match="codes have 70 and 71 bits; compare codes of one model"):
        Codes.pack(random_bits(2, 70)).nearest(Codes.pack(random_bits(2, 71)), 1)


@given(st.data(), st.integers(1, 70), st.integers(1, 30), st.integers(0, 2**32 - 1))
@strategies.THOROUGH
def test_buckets_hold_the_codes_that_agree_in_the_bits_of_a_table(data, n_bits, n, seed):
    x, y = random_bits(4, n_bits, seed), random_bits(n, n_bits, seed)
    size = st.integers(1, min(n_bits, 4))
    bit = st.integers(0, n_bits - 1)
    n_tables, width = data.draw(st.integers(1, 3)), data.draw(size)
    tables = data.draw(st.lists(st.lists(bit, min_size=width, max_size=width), min_size=n_tables))
    k, least = data.draw(st.integers(1, n)), data.draw(st.integers(1, n))
    buckets = Buckets(Codes.pack(y), np.array(tables, np.int32))
    found = buckets.nearest(Codes.pack(x), k, least=least)
    for code, rows in zip(x, found.rows.tolist(), strict=True):
        expected = naive_neighbors.neighborhood(code, y, tables, k, least)
        assert rows == expected + [-1] * (k - len(expected))


def test_all_codes_are_scanned_where_a_bucket_holds_too_few():
    stored = Codes.pack(np.array([[0, 1, 1], [1, 0, 0], [0, 0, 0]], np.uint8))
    buckets, code = Buckets(stored, np.array([[0]], np.int32)), stored[1]
    assert buckets.nearest(code, 3, least=1).rows.tolist() == [[1, -1, -1]]
    assert buckets.nearest(code, 3, least=2).rows.tolist() == [[1, 2, 0]]


def test_tables_of_32_bits_tell_all_of_them():
    bits = np.zeros((33, 40), np.uint8)
    bits[np.arange(32), np.arange(32) + 5] = 1
    buckets = Buckets(Codes.pack(bits), np.arange(5, 37, dtype=np.int32)[None])
    found = buckets.nearest(Codes.pack(bits), 2, least=1)
    assert found.rows.tolist() == [[i, -1] for i in range(33)]
    assert found.distances[:, 0].tolist() == [0] * 33


@pytest.mark.parametrize("n_bits", [1, 64, 70, 1000])
@pytest.mark.parametrize("k", [1, 7, 100])
def test_faiss_finds_the_same(faiss, n_bits, k):
    x, y = (Codes.pack(random_bits(n, n_bits, n)) for n in (40, 90))
    found, expected = FaissIndex(y).nearest(x, k), x.nearest(y, k)
    assert found.rows.tolist() == expected.rows.tolist()
    assert found.distances.tolist() == expected.distances.tolist()


def test_a_pickled_index_finds_the_same_and_leaves_the_threads_of_faiss_alone(faiss):
    codes, n_threads = Codes.pack(random_bits(50, 70)), faiss.omp_get_max_threads()
    index = pickle.loads(pickle.dumps(FaissIndex(codes)))
    assert index.nearest(codes, 3).rows.tolist() == codes.nearest(codes, 3).rows.tolist()
    assert faiss.omp_get_max_threads() == n_threads


def test_without_faiss_the_error_tells_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(ModuleNotFoundError, match=r'pip install "spacy-klsh\[faiss\]"'):
        FaissIndex(Codes.pack(random_bits(3, 70)))
