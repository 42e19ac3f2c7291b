"""How fast the nearest codes are found, beside numpy, and faiss where it is installed."""

from __future__ import annotations

import json
from collections.abc import Callable
from statistics import median
from time import process_time

import numpy as np
from numpy.typing import NDArray

from spacy_klsh.hashing.codes import Codes
from spacy_klsh.hashing.faiss_index import FaissIndex

N_STORED, N_QUERIES, N_BITS, K, REPEATS = 50_000, 128, 1000, 30, 5
BLOCK = 16  # queries that numpy compares at a time, lest its matrices outgrow the caches

Rows = NDArray[np.int64]


def random_codes(n: int, seed: int) -> Codes:
    """Codes of random bits."""
    bits = np.random.default_rng(seed).integers(2, size=(n, N_BITS), dtype=np.uint8)
    return Codes.pack(bits)


def count_ones(words: NDArray[np.uint64]) -> NDArray[np.uint8]:
    """Bits that are 1 in each word, by numpy alone."""
    if hasattr(np, "bitwise_count"):  # from numpy 2
        return np.bitwise_count(words)
    bits = np.unpackbits(words.view(np.uint8), axis=-1)
    return bits.reshape(*words.shape, 64).sum(axis=-1, dtype=np.uint8)


def numpy_nearest(x: Codes, y: Codes) -> Rows:
    """Rows of the `K` nearest codes by numpy alone; of equally near ones any."""
    found = []
    for start in range(0, len(x), BLOCK):
        block = x.words[start : start + BLOCK, None]
        distances = sum(
            count_ones(block[..., k] ^ y.words[:, k]).astype(np.uint16)
            for k in range(y.words.shape[1])
        )
        found.append(np.argpartition(distances, K, axis=1)[:, :K])
    return np.concatenate(found)


def searchers(x: Codes, y: Codes) -> dict[str, Callable[[], Rows]]:
    """What finds the rows of the nearest codes."""
    found: dict[str, Callable[[], Rows]] = {
        "hamming": lambda: x.nearest(y, K).rows,
        "numpy": lambda: numpy_nearest(x, y),
    }
    try:
        index = FaissIndex(y)
    except ModuleNotFoundError:
        return found
    return {**found, "faiss": lambda: index.nearest(x, K).rows}


def neighbors() -> dict[str, float]:
    """`searched` for codes of random bits."""
    return searched(random_codes(N_QUERIES, 0), random_codes(N_STORED, 1))


def searched(x: Codes, y: Codes) -> dict[str, float]:
    """Gigabits compared in a second of one processor, and how many times as fast as numpy ours is.

    All take turns, and must find codes of `y` that are equally near to those of `x`.
    """
    tasks = searchers(x, y)
    distances = x.hamming(y)
    nearest = {
        name: np.sort(np.take_along_axis(distances, task(), axis=1)) for name, task in tasks.items()
    }
    if any((found != nearest["hamming"]).any() for found in nearest.values()):
        raise RuntimeError(f"{', '.join(nearest)} find codes of other distances; mend ours.")
    times: dict[str, list[float]] = {name: [] for name in tasks}
    for _ in range(REPEATS):
        for name, task in tasks.items():
            begin = process_time()
            task()
            times[name].append(process_time() - begin)
    n_gbit = len(x) * len(y) * x.n_bits / 1e9
    figures = {f"{name}_gbit_per_s": n_gbit / median(taken) for name, taken in times.items()}
    return {
        **figures,
        "hamming_speedup": figures["hamming_gbit_per_s"] / figures["numpy_gbit_per_s"],
    }


if __name__ == "__main__":
    print(json.dumps(neighbors(), indent=2))
