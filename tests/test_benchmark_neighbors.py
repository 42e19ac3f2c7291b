import benchmark_neighbors as benchmark
import numpy as np
import pytest


@pytest.fixture
def small(monkeypatch):
    for name, value in {"N_STORED": 80, "N_QUERIES": 40, "REPEATS": 1}.items():
        monkeypatch.setattr(benchmark, name, value)


def test_all_find_equally_near_codes_and_ours_is_measured(small):
    figures = benchmark.neighbors()
    assert figures["hamming_gbit_per_s"] > 0
    assert figures["hamming_speedup"] == figures["hamming_gbit_per_s"] / figures["numpy_gbit_per_s"]


def test_a_wrong_answer_is_noticed(small, monkeypatch):
    monkeypatch.setattr(
        benchmark, "numpy_nearest", lambda x, y: np.tile(np.arange(benchmark.K), (len(x), 1))
    )
    with pytest.raises(RuntimeError, match="find codes of other distances"):
        benchmark.neighbors()


def test_numpy_counts_ones_with_and_without_its_own_function(monkeypatch):
    words = np.random.default_rng(0).integers(2**64, size=(3, 5), dtype=np.uint64)
    expected = [[bin(word).count("1") for word in row] for row in words.tolist()]
    assert benchmark.count_ones(words).tolist() == expected
    monkeypatch.delattr(np, "bitwise_count", raising=False)
    assert benchmark.count_ones(words).tolist() == expected
