"""KLSH-kNN: the most similar labelled structures, looked for near the code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..hashing.buckets import Buckets
from ..kernels.kernel import pair_values
from ..structures import Float32, Int32, Int64
from ..views import Views, distinct, take
from .encoded import Encoded
from .stored_views import from_arrays, to_arrays
from .votes import CODE_ARRAYS, LabelledCodes, Voters, Voting, Weights, check_fitted, check_voting

QUERIES = 256  # whose neighborhoods are compared at a time


class KernelNeighbors(Voting):
    """Votes of the `k` training structures that the kernel finds most similar: KLSH-kNN.

    The kernel is computed only within the neighborhood of a candidate: the stored codes
    that share a bucket with its own in one table or more, of these the `neighborhood` ones
    with the fewest differing bits. Of equally similar structures those that came first in
    training vote; equal structures share what is left of the `k` votes.

    All distinct training structures are kept, and saved with the model: about 115 bytes
    each with 1,000 bits and no word vectors, most of them the code (``training/growing.py``).

    Parameters
    ----------
    k : int
    n_tables : int
    bits_per_table : int
        Bits by which a table parts the codes into buckets, at most 32; more of them make
        smaller buckets. Where fewer than `k` codes share one, all stored codes are scanned.
    neighborhood : int
        Most structures that one candidate is compared with, `k` or more.
    weights : {"uniform", "distance"}
        Of a vote: 1, or the kernel value.
    smoothing : float
        Votes for the labels in their shares in training, whatever is near.
    seed : int
        Chooses the bits of the tables.

    Attributes
    ----------
    stored_ : LabelledCodes
        Codes of the distinct structures of training.
    views_ : Views
        Those structures, in each view that the kernel compares.
    table_bits_ : int32 array (n_tables, bits_per_table)
        Fewer columns if the codes have fewer bits.

    References
    ----------
    Garg et al. 2019, section 2.1; Kulis & Grauman 2012.
    """

    views_: Views
    table_bits_: Int32

    def __init__(
        self,
        *,
        k: int = 15,
        n_tables: int = 8,
        bits_per_table: int = 12,
        neighborhood: int = 64,
        weights: Weights = "distance",
        smoothing: float = 1.0,
        seed: int = 0,
    ) -> None:
        check_voting(k, weights, smoothing)
        if n_tables < 1 or not 1 <= bits_per_table <= 32 or neighborhood < k:
            raise ValueError(
                f"n_tables = {n_tables}, bits_per_table = {bits_per_table}, neighborhood = "
                f"{neighborhood}: use at least 1 table, 1 to 32 bits and k = {k} neighbours."
            )
        self.k = k
        self.n_tables = n_tables
        self.bits_per_table = bits_per_table
        self.neighborhood = neighborhood
        self.weights = weights
        self.smoothing = smoothing
        self.seed = seed

    def fit(
        self, x: Encoded, y: NDArray[np.integer[Any]], n_labels: int | None = None
    ) -> KernelNeighbors:
        """Store the distinct structures of `x` and how often each has which label.

        Parameters and errors are those of `HammingNeighbors.fit`; `x` also needs a kernel.
        """
        _, views = x.compared
        first, places = distinct(views)
        stored = LabelledCodes.count(x.codes, places, y, n_labels)
        rng, n_bits = np.random.default_rng(self.seed), x.codes.n_bits
        bits = [rng.permutation(n_bits)[: self.bits_per_table] for _ in range(self.n_tables)]
        return self._store(stored, take(views, first), np.array(bits, np.int32))

    def _store(self, stored: LabelledCodes, views: Views, table_bits: Int32) -> KernelNeighbors:
        self._buckets = Buckets(stored.codes, table_bits)
        self.stored_, self.views_, self.table_bits_ = stored, views, table_bits
        return self

    def voters(self, x: Encoded) -> Voters:
        """Rows of `stored_` near each candidate, the nearest first, and what a vote weighs."""
        rows, similarities = self.neighbors(x)
        uniform = self.weights == "uniform"
        return rows, np.ones(rows.shape) if uniform else similarities.clip(0, 1).astype(np.float64)

    def neighbors(self, x: Encoded) -> tuple[Int64, Float32]:
        """The neighborhood of each candidate, the most similar structures first.

        Returns
        -------
        rows : int64 array (n, at most neighborhood)
            Of `views_`; -1 where there are no more.
        similarities : float32 array of that shape
            Kernel values; -inf where there are no more.
        """
        check_fitted(self)
        self.stored_.check_width(x.codes)
        least, most = (min(size, len(self.stored_)) for size in (self.k, self.neighborhood))
        rows = np.sort(self._buckets.nearest(x.codes, most, least=least).rows, axis=1)
        similarities = self._similarities(x, rows)
        order = np.argsort(-similarities, axis=1, kind="stable")
        return np.take_along_axis(rows, order, 1), np.take_along_axis(similarities, order, 1)

    def _similarities(self, x: Encoded, rows: Int64) -> Float32:
        """Kernel values of each candidate and the stored structures `rows`; -inf for -1."""
        kernel, views = x.compared
        if views.keys() != self.views_.keys():
            raise ValueError(
                f"the kernel compares the views {sorted(views)}, but training had "
                f"{sorted(self.views_)}; use the kernel that this classifier was trained with."
            )
        out = np.full(rows.shape, -np.inf, np.float32)
        for start in range(0, len(rows), QUERIES):
            block = slice(start, start + QUERIES)
            found = rows[block] >= 0
            needed, places = np.unique(rows[block][found], return_inverse=True)
            stored, own = take(self.views_, needed), np.nonzero(found)[0]
            out[block][found] = pair_values(kernel, take(views, block), stored, own, places)
        return out

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that `predict_proba` needs, as arrays."""
        check_fitted(self)
        arrays = {**self.stored_.arrays(), "table_bits": self.table_bits_}
        return {**arrays, **to_arrays(self.views_)}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> KernelNeighbors:
        """Take over the arrays of `state`.

        Raises
        ------
        ValueError
            If one is missing or added, or they do not fit together or to the settings.
        """
        stored = LabelledCodes.restore(state)
        others = {*CODE_ARRAYS, "table_bits"}
        views = from_arrays({k: v for k, v in state.items() if k not in others})
        table_bits = np.asarray(state.get("table_bits"), order="C")
        n_bits = stored.codes.n_bits
        found = (str(table_bits.dtype), table_bits.shape, len(next(iter(views.values()))))
        shape = (self.n_tables, min(self.bits_per_table, n_bits))
        if found != ("int32", shape, len(stored)) or not (
            0 <= table_bits.min() <= table_bits.max() < n_bits
        ):
            raise ValueError(
                f"the stored tables and structures are {found}, but bits of {n_bits} in "
                f"{('int32', shape, len(stored))} are expected; the file is damaged, train again."
            )
        return self._store(stored, views, table_bits)
