"""The bits that candidates would have with another structure in the place of one reference."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..hashing.codes import Codes
from ..hashing.families import fit_bits, hash_bits
from ..hashing.klsh import KLSH
from ..kernels.kernel import pair_values
from ..structures import Float32, Int32, Int64
from ..views import Views
from .total_correlation import Bits


@dataclass(frozen=True, eq=False)
class Exchange:
    """Everything about `choices` for the place `j` of the reference set, compared once.

    Parameters
    ----------
    hashing : KLSH
    j : int
    subsets : int32 array (n_changing, 2, subset_size)
        Those that hold `j`.
    own : float32 array (n_references, n_references)
        Gram of the references.
    gram : float32 array (n, n_references)
        Of the candidates and the references.
    columns : float32 array (n_choices, n)
        Of the candidates and each choice.
    inner : float32 array (n_choices, n_references)
        Of the references and each choice, as a column of `own`.
    outer : float32 array (n_choices, n_references)
        The same as a row of `own`, with the choice's value to itself at `j`.
    """

    hashing: KLSH
    j: int
    subsets: Int32
    own: Float32
    gram: Float32
    columns: Float32
    inner: Float32
    outer: Float32

    @classmethod
    def of(
        cls, hashing: KLSH, j: int, changing: Int64, choices: Views, samples: Views, gram: Float32
    ) -> Exchange:
        """That of `samples`, whose similarities to the references are `gram`."""
        compare = hashing.kernel.against(choices)
        outer = hashing.similarities(choices)
        every = np.arange(len(outer))
        outer[:, j] = pair_values(hashing.kernel, choices, choices, every, every)
        return cls(
            hashing,
            j,
            np.ascontiguousarray(hashing.subsets_[changing]),
            hashing.similarities(hashing.reference_),
            gram,
            np.ascontiguousarray(compare(samples).T),
            np.ascontiguousarray(compare(hashing.reference_).T),
            outer,
        )

    def __len__(self) -> int:
        return len(self.outer)

    def bits(self, choice: int) -> Bits:
        """The changing bits with one choice, uint8 (n_changing, n): as `KLSH.replace` has them."""
        own, gram = self.own.copy(), self.gram.copy()
        own[:, self.j], own[self.j] = self.inner[choice], self.outer[choice]
        gram[:, self.j] = self.columns[choice]
        family = self.hashing.family
        weights, biases = fit_bits(own, self.subsets, family)
        words = hash_bits(gram, self.subsets, weights, biases, family)
        return np.ascontiguousarray(Codes(words, len(self.subsets)).bits().T)
