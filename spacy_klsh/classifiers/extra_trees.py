"""Extra trees: decision trees on all candidates, with few random bits at each split."""

from __future__ import annotations

from math import isqrt

from ..hashing.codes import Uint64
from ..structures import Int64
from .bit_ensemble import BitEnsemble, check_settings
from .encoded import Inputs
from .forest import Forest
from .growing import Float64
from .targets import ClassWeight


class ExtraTrees(BitEnsemble):
    """Mean probability of extremely randomized trees over bits and features.

    A bit has one threshold only, so what is left of their randomness is the choice of
    the bits that a split may use. No candidate is left out of a tree.

    Parameters
    ----------
    n_trees : int
    bits_per_split : int, optional
        Random bits among which a split chooses; None: the square root of all.
    min_samples_leaf : int
        Training candidates that a leaf must hold.
    class_weight, inputs, n_features_kept
        See `SubspaceClassifier`.
    seed : int

    References
    ----------
    Geurts et al. 2006.
    """

    def __init__(
        self,
        *,
        n_trees: int = 250,
        bits_per_split: int | None = None,
        min_samples_leaf: int = 1,
        class_weight: ClassWeight = None,
        inputs: Inputs = "both",
        n_features_kept: int = 2000,
        seed: int = 0,
    ) -> None:
        check_settings(
            class_weight,
            inputs,
            n_trees=n_trees,
            bits_per_split=bits_per_split,
            min_samples_leaf=min_samples_leaf,
            n_features_kept=n_features_kept,
        )
        self.n_trees = n_trees
        self.bits_per_split = bits_per_split
        self.min_samples_leaf = min_samples_leaf
        self.class_weight = class_weight
        self.inputs = inputs
        self.n_features_kept = n_features_kept
        self.seed = seed

    @property
    def n_members(self) -> int:  # type: ignore[override]
        """Another word for `n_trees`."""
        return self.n_trees

    def _train(self, words: Uint64, y: Int64, weights: Float64) -> Forest:
        n_bits = len(self.inputs_)
        return Forest.grown(
            words,
            y,
            weights,
            n_trees=self.n_trees,
            n_bits=n_bits,
            n_own=n_bits,
            n_tried=min(self.bits_per_split or isqrt(n_bits), n_bits),
            min_leaf=self.min_samples_leaf,
            bootstrap=False,
            seed=self.seed,
        )
