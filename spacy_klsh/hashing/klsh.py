"""Kernelized locality-sensitive hashing: a reference set and a family of bits."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernels.kernel import Kernel, learns
from ..structures import Float32, Int32, Int64
from ..views import Views, concat_views, distinct, take
from .codes import Codes
from .families import FAMILIES, Family, fit_bits, hash_bits

MAX_PAIRS = 2**27  # kernels hold a number or more for each; a path of 10,000 nodes has 10**8
BLOCK = 2**22  # pairs of nodes that are compared at a time


class KLSH:
    """Codes from kernel similarities to a reference set.

    A code depends on its own structures and on the reference set alone: it is bit
    for bit the same in any batch, order, thread or process.

    Parameters
    ----------
    kernel : Kernel
    family : {"kulis", "rmm", "rknn"}
        See `spacy_klsh.hashing.families`.
    n_references : int
        M, size of the reference set; where the training structures hold fewer
        distinct ones, all of those.
    n_bits : int
        H, bits of a code.
    subset_size : int
        alpha, references on each side of a bit.
    seed : int
        Chooses the references and the subsets.

    Attributes
    ----------
    reference_ : Views
        The stored reference set, M structures in each view that the kernel uses.
    reference_rows_ : int64 array (M,)
        Their rows in the training structures; -1 where `replace` was not told.
    subsets_ : int32 array (n_bits, 2, subset_size)
        Members S1 and S2 of each bit.
    weights_ : float32 array (n_bits, 2 * subset_size), or (n_bits, 0) for rknn
    biases_ : float32 array (n_bits,)

    References
    ----------
    Garg et al. 2019, section 2.1, equations 1 and 2.
    """

    reference_: Views
    reference_rows_: Int64
    subsets_: Int32
    weights_: Float32
    biases_: Float32

    def __init__(
        self,
        kernel: Kernel,
        *,
        family: Family = "kulis",
        n_references: int = 100,
        n_bits: int = 1000,
        subset_size: int = 2,
        seed: int = 0,
    ) -> None:
        if family not in FAMILIES:
            raise ValueError(f"family is {family!r}; choose one of {', '.join(FAMILIES)}.")
        if subset_size < 1 or n_bits < 1 or n_references < 2 * subset_size:
            raise ValueError(
                f"n_references = {n_references}, n_bits = {n_bits}, subset_size = {subset_size}: "
                "use at least 1 bit, 1 member a subset and 2 * subset_size references."
            )
        self.kernel = kernel
        self.family = family
        self.n_references = n_references
        self.n_bits = n_bits
        self.subset_size = subset_size
        self.seed = seed

    def fit(self, views: Views, y: NDArray[Any] | None = None) -> KLSH:
        """Draw the reference set from `views` and build the bits on it.

        References are distinct and not empty, so that none of them is wasted. The labels `y`
        teach a kernel that learns from labels; they are not used otherwise.

        Raises
        ------
        ValueError
            If there are fewer than ``2 * subset_size`` distinct structures.
        """
        used = self._used(views)
        first, _ = distinct(used)
        first = first[self.comparable(used)[first]]
        if len(first) < 2 * self.subset_size:
            raise ValueError(
                f"the training structures hold {len(first)} distinct ones with a path, but "
                f"subset_size = {self.subset_size} needs {2 * self.subset_size}; add examples."
            )
        if y is not None and learns(self.kernel):
            self.kernel = self.kernel.fit(used, y)
        rng = np.random.default_rng(self.seed)
        size = min(self.n_references, len(first))
        rows = first[np.sort(rng.permutation(len(first))[:size])]
        self.fit_reference(take(views, rows))
        self.reference_rows_ = rows
        return self

    def fit_reference(self, reference: Views) -> KLSH:
        """Build the bits on a given reference set."""
        reference = self._used(reference)
        compare = self.kernel.against(reference)
        gram = compare(reference)
        if len(gram) < 2 * self.subset_size:
            raise ValueError(
                f"the reference set has {len(gram)} structures, but subset_size = "
                f"{self.subset_size} needs {2 * self.subset_size}; add some."
            )
        rng = np.random.default_rng([self.seed, 1])
        order = rng.random((self.n_bits, len(gram))).argsort(axis=1, kind="stable")
        subsets = order[:, : 2 * self.subset_size].astype(np.int32)
        self.subsets_ = np.ascontiguousarray(subsets).reshape(self.n_bits, 2, self.subset_size)
        self.weights_, self.biases_ = fit_bits(gram, self.subsets_, self.family)
        self.reference_, self._compare, self._gram = reference, compare, gram
        self.reference_rows_ = np.full(len(gram), -1, np.int64)
        return self

    def restore(
        self,
        reference: Views,
        rows: Int64,
        subsets: Int32,
        weights: Float32,
        biases: Float32,
    ) -> KLSH:
        """Take over a fitted state, as `fit` once left it in the attributes.

        Raises
        ------
        ValueError
            If the arrays do not fit together or to the settings.
        """
        reference = self._used(reference)
        sizes = {name: len(structures) for name, structures in reference.items()}
        size = min(sizes.values())
        width = 0 if self.family == "rknn" else 2 * self.subset_size
        expected = {
            "rows": ("int64", (size,)),
            "subsets": ("int32", (self.n_bits, 2, self.subset_size)),
            "weights": ("float32", (self.n_bits, width)),
            "biases": ("float32", (self.n_bits,)),
        }
        arrays: dict[str, NDArray[Any]] = {
            "rows": rows,
            "subsets": subsets,
            "weights": weights,
            "biases": biases,
        }
        found = {name: (str(array.dtype), array.shape) for name, array in arrays.items()}
        if found != expected or size < max(sizes.values()):
            raise ValueError(
                f"the stored hashing has {found} and references {sizes}, expected {expected}; the "
                "file is damaged, train again."
            )
        if subsets.min() < 0 or subsets.max() >= size or rows.min(initial=0) < -1:
            raise ValueError(
                f"the stored hashing has members {subsets.min()}..{subsets.max()} of {size} "
                f"references and rows from {rows.min(initial=0)}, expected members that exist and "
                "rows from -1; the file is damaged, train again."
            )
        vectors = [structures.vectors for structures in reference.values()]
        if not all(np.isfinite(array).all() for array in (weights, biases, *vectors)):
            raise ValueError(
                "the stored hashing has weights, biases or word vectors that are NaN or infinite, "
                "expected finite ones; the file is damaged, train again."
            )
        pairs = max(int((structures.lengths**2).sum()) for structures in reference.values())
        if pairs > MAX_PAIRS:
            raise ValueError(
                f"the stored references hold {pairs} pairs of nodes of one structure, expected at "
                f"most {MAX_PAIRS}; the file is damaged, or train again with shorter paths."
            )
        compare = self.kernel.against(reference)
        self.reference_, self.reference_rows_ = reference, rows
        self.subsets_, self.weights_, self.biases_ = subsets, weights, biases
        self._compare, self._gram = compare, None
        return self

    def comparable(self, views: Views) -> NDArray[np.bool_]:
        """Which candidates have a node at all in what the kernel compares, bool (n,)."""
        return reduce(np.logical_or, (s.lengths > 0 for s in self._used(views).values()))

    def transform(self, views: Views) -> Codes:
        """Codes of all candidates in `views`; equal ones are compared once."""
        used = self._used(views)
        first, places = distinct(used)
        return self.encode(self.similarities(take(used, first)))[places]

    def similarities(self, views: Views) -> Float32:
        """Kernel values to the reference set, float32 (n, n_references).

        Long structures are compared in blocks, to spare memory.
        """
        self._check_fitted()
        used = self._used(views)
        blocks: list[Views] = [take(used, rows) for rows in _blocks(used)]
        return np.concatenate([self._compare(block) for block in blocks or [used]])

    def encode(self, gram: Float32) -> Codes:
        """Codes of rows of kernel values to the reference set."""
        self._check_fitted()
        words = hash_bits(gram, self.subsets_, self.weights_, self.biases_, self.family)
        return Codes(words, self.n_bits)

    def replace(self, j: int, views: Views, row: int = -1) -> None:
        """Put the one candidate of `views`, a training `row`, in the place of reference `j`.

        Costs one row and column of the reference gram and the bits whose subsets
        hold `j`; equals `fit_reference` on the changed set bit for bit.
        """
        self._check_fitted()
        new = self._used(views)
        size = len(self.reference_rows_)
        if not 0 <= j < size or any(len(structures) != 1 for structures in new.values()):
            raise ValueError(
                f"replace({j}, …) with {[len(s) for s in new.values()]} structures a view: give a "
                f"reference in 0..{size - 1} and views of exactly one candidate."
            )
        old = self.reference_
        gram = self._compare(old) if self._gram is None else self._gram.copy()
        reference = concat_views([take(old, slice(j)), new, take(old, slice(j + 1, None))])
        compare = self.kernel.against(reference)
        gram[:, j : j + 1] = self.kernel.against(new)(reference)
        gram[j] = compare(new)[0]
        bits = np.flatnonzero((self.subsets_ == j).any(axis=(1, 2)))
        self.weights_, self.biases_ = self.weights_.copy(), self.biases_.copy()
        self.weights_[bits], self.biases_[bits] = fit_bits(
            gram, np.ascontiguousarray(self.subsets_[bits]), self.family
        )
        self.reference_, self._compare, self._gram = reference, compare, gram
        self.reference_rows_ = np.where(np.arange(size) == j, row, self.reference_rows_)

    def _check_fitted(self) -> None:
        if not hasattr(self, "reference_"):
            raise ValueError("this KLSH has no reference set, one is expected; call fit() first.")

    def _used(self, views: Views) -> Views:
        missing = [name for name in self.kernel.views if name not in views]
        if missing:
            raise ValueError(
                f"the kernel compares the views {missing}, but only {list(views)} were extracted; "
                "add them to the names of the views block."
            )
        return {name: views[name] for name in self.kernel.views}

    _gram: Float32 | None
    _compare: Callable[[Views], Float32]


def _blocks(views: Views) -> list[Int64]:
    """Rows of consecutive candidates with about `BLOCK` pairs of nodes; [] where one would do."""
    pairs = np.cumsum(sum(structures.lengths**2 for structures in views.values()))
    cuts = np.searchsorted(pairs, np.arange(BLOCK, pairs[-1:].sum(), BLOCK))
    return np.split(np.arange(len(pairs)), cuts) if len(cuts) else []
