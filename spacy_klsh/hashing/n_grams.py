"""From views to sparse features: n-grams and skip-bigrams of items, hashed to a fixed width."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from ..compiled import compiled
from ..structures import Int32, Int64, Structures
from ..views import Views
from .default_n_grams import ENDS, LENGTHS, SKIPS
from .features import Features
from .merging import merge_rows

Uint64 = NDArray[np.uint64]
Uint8 = NDArray[np.uint8]

SKIPPED, OWN, JOINED = 0, 1, 2  # an edge that says nothing; an item of its own; part of its node
MAX_WIDTH = 2**24  # of `merging`; and classifiers have arrays of one number a column
SKIP = 2**40  # beyond every scale of a length


@dataclass(frozen=True, kw_only=True)
class NGramFeatures:
    """Hashed n-grams of the items of each view, and how long each view is.

    An item is an edge or an attribute of a node, in the order of the path: edge, node, edge,
    node. Empty edges are left out, and ``role=`` is one item with its node. Each attribute has
    n-grams of its own. Beside them stand each view as a whole and its length on a scale of
    powers of 2.

    Parameters
    ----------
    max_lengths : mapping of view to int
        Longest n-grams, in items.
    with_ends : list of str
        Views of which the first and the last item are a feature together, and with each item
        between them: the arguments of ``between`` and the words that they have there. Those that
        `max_lengths` lacks are not looked at.
    max_skips : mapping of view to int
        Pairs of items with at least 1 and at most so many others between them are features too,
        whatever stands there. Views that `max_lengths` lacks are not looked at.
    width : int
        Columns of the features, at most 2**24; n-grams that fall into one column are not told
        apart.

    Raises
    ------
    ValueError
        If the width is out of range, or no view, a length below 1 or skips below 0 are given.

    References
    ----------
    Weinberger et al. 2009, section 2 (without signs: a feature is there or not); Guthrie et al.
    2006, section 2 (skip-grams).
    """

    max_lengths: Mapping[str, int] = field(default_factory=lambda: dict(LENGTHS))
    with_ends: Sequence[str] = tuple(ENDS)
    max_skips: Mapping[str, int] = field(default_factory=lambda: dict(SKIPS))
    width: int = 2**20

    def __post_init__(self) -> None:
        if not 1 <= self.width <= MAX_WIDTH:
            raise ValueError(f"width is {self.width}; give one in 1..{MAX_WIDTH}.")
        if not self.max_lengths or min(self.max_lengths.values()) < 1:
            raise ValueError(
                f"max_lengths are {dict(self.max_lengths)}; give a view or more, with at least 1 "
                "item each."
            )
        if min(self.max_skips.values(), default=0) < 0:
            raise ValueError(f"max_skips are {dict(self.max_skips)}; give at least 0 items each.")

    @property
    def views(self) -> tuple[str, ...]:
        """Names of the views that it looks at."""
        return tuple(self.max_lengths)

    def __call__(self, views: Views) -> Features:
        """Features (n, width) of the n candidates of `views`.

        Raises
        ------
        ValueError
            If a view is missing.
        """
        missing = [name for name in self.views if name not in views]
        if missing:
            raise ValueError(
                f"the features look at the views {missing}, but only {list(views)} were "
                "extracted; add them to the names of the views block."
            )
        columns, offsets = merge_rows(*self._stacked(views))
        return Features(columns, offsets, self.width)

    def _stacked(self, views: Views) -> tuple[Int32, Int64]:
        """Columns of all views, one view behind the other, and where the rows of each begin."""
        symbols = {id(views[name].symbols): views[name].symbols for name in self.views}
        tables = {number: _table(each) for number, each in symbols.items()}
        with np.errstate(over="ignore"):  # products of hashes wrap around, also without numba
            parts = [
                self._hashed(name, views[name], *tables[id(views[name].symbols)])
                for name in self.views
            ]
        ends = np.cumsum([len(columns) for columns, _ in parts])
        starts = [
            offsets + end - offsets[-1] for (_, offsets), end in zip(parts, ends, strict=True)
        ]
        return np.concatenate([columns for columns, _ in parts]), np.stack(starts)

    def _hashed(
        self, name: str, structures: Structures, hashes: Uint64, kinds: Uint8
    ) -> tuple[Int32, Int64]:
        return _hash_n_grams(
            structures.nodes,
            structures.offsets,
            hashes,
            kinds,
            self.max_lengths[name],
            name in self.with_ends,
            self.max_skips.get(name, 0),
            np.uint64(_hash(f"view={name}")),
            self.width,
        )


def _table(symbols: Sequence[str]) -> tuple[Uint64, Uint8]:
    """Hash and kind of each symbol; the views of a batch share their symbols."""
    known = [_known(symbol) for symbol in symbols]
    hashes, kinds = zip(*known, strict=True) if known else ((), ())
    return np.array(hashes, np.uint64), np.array(kinds, np.uint8)


@lru_cache(maxsize=2**16)
def _known(symbol: str) -> tuple[int, int]:
    """Hash and kind of a symbol."""
    kind = JOINED if symbol.startswith("role=") else SKIPPED if symbol == "dep=" else OWN
    return _hash(symbol), kind


def _hash(symbol: str) -> int:
    """The same in every process, and on every machine."""
    digest = blake2b(symbol.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little")


@compiled
def _mixed(state: np.uint64, value: np.uint64) -> np.uint64:
    """The finalizer of MurmurHash3 over both."""
    state = (state ^ value) * np.uint64(0x9E3779B97F4A7C15)
    state = (state ^ (state >> np.uint64(33))) * np.uint64(0xFF51AFD7ED558CCD)
    state = (state ^ (state >> np.uint64(33))) * np.uint64(0xC4CEB9FE1A85EC53)
    return state ^ (state >> np.uint64(33))


@compiled
def _column(state: np.uint64, width: int) -> np.int32:
    """The remainder; of powers of 2 without a division, which takes ten times as long."""
    if width & (width - 1) == 0:
        return np.int32(state & np.uint64(width - 1))
    return np.int32(state % np.uint64(width))


@compiled
def _items(nodes: Int32, column: int, hashes: Uint64, kinds: Uint8, out: Uint64) -> int:
    """Write the items of one structure, with one attribute of its nodes; how many there are."""
    n = 0
    for k in range(len(nodes)):
        edge, item = nodes[k, 0], hashes[nodes[k, column]]
        if kinds[edge] == OWN:
            out[n] = hashes[edge]
            n += 1
        elif kinds[edge] == JOINED:
            item = _mixed(hashes[edge], item)
        out[n] = item
        n += 1
    return n


@compiled
def _write_n_grams(items: Uint64, longest: int, seed: np.uint64, width: int, out: Int32) -> int:
    """Write the column of each n-gram, and of the whole if it is longer; how many there are."""
    n = 0
    for start in range(len(items)):
        state = seed
        for k in range(start, min(start + longest, len(items))):
            state = _mixed(state, items[k])
            out[n] = _column(state, width)
            n += 1
    if len(items) > longest:
        state = seed
        for item in items:
            state = _mixed(state, item)
        out[n] = _column(state, width)
        n += 1
    size, scale = len(items), np.uint64(0)
    while size > 0:
        size, scale = size // 2, scale + np.uint64(1)
    out[n] = _column(_mixed(~seed, scale), width)
    return n + 1


@compiled
def _write_ends(items: Uint64, seed: np.uint64, width: int, out: Int32) -> int:
    """Write the column of both ends together, and with each item between; how many there are."""
    if len(items) < 2:
        return 0
    ends = _mixed(_mixed(~seed, items[0]), items[-1])
    out[0] = _column(ends, width)
    for k in range(1, len(items) - 1):
        out[k] = _column(_mixed(ends, items[k]), width)
    return len(items) - 1


@compiled
def _write_skips(items: Uint64, most: int, seed: np.uint64, width: int, out: Int32) -> int:
    """Write the column of each pair with 1 to `most` items between; how many there are."""
    n = 0
    for i in range(len(items)):
        state = _mixed(_mixed(~seed, np.uint64(SKIP)), items[i])
        for k in range(i + 2, min(i + 2 + most, len(items))):
            out[n] = _column(_mixed(state, items[k]), width)
            n += 1
    return n


@compiled
def _hash_n_grams(
    nodes: Int32,
    offsets: Int64,
    hashes: Uint64,
    kinds: Uint8,
    longest: int,
    with_ends: bool,
    most_skipped: int,
    seed: np.uint64,
    width: int,
) -> tuple[Int32, Int64]:
    """The columns of each structure in no order, some of them twice, and their offsets."""
    n, n_attributes = len(offsets) - 1, nodes.shape[1] - 1
    starts = np.zeros(n + 1, np.int64)
    most = 0
    for i in range(n):
        size = 2 * (offsets[i + 1] - offsets[i])
        most = max(most, size)
        of_item = min(size, longest) + min(size, most_skipped) + 1
        starts[i + 1] = starts[i] + n_attributes * (size * of_item + 2)
    columns, items = np.empty(starts[n], np.int32), np.empty(most, np.uint64)
    end = 0
    for i in range(n):
        starts[i] = end
        own = nodes[offsets[i] : offsets[i + 1]]
        for a in range(n_attributes):
            size = _items(own, a + 1, hashes, kinds, items)
            end += _write_n_grams(items[:size], longest, seed, width, columns[end:])
            if with_ends:
                end += _write_ends(items[:size], seed, width, columns[end:])
            end += _write_skips(items[:size], most_skipped, seed, width, columns[end:])
    starts[n] = end
    return columns[:end].copy(), starts
