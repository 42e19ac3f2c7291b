"""Random subspace ensemble: many decision trees or other models, each on a few bits of the code."""

from __future__ import annotations

from math import isqrt
from typing import Any

from ..hashing.codes import Uint64
from ..structures import Int64
from .bases import fit_base
from .bit_ensemble import BitEnsemble, check_settings
from .encoded import Inputs
from .forest import Forest
from .growing import Float64
from .linear_members import LinearMembers
from .targets import ClassWeight


class SubspaceClassifier(BitEnsemble):
    """Mean probability of members that each see `bits_per_member` random bits.

    Each member is trained on candidates drawn with replacement.

    Parameters
    ----------
    n_members : int
        R, number of trees.
    bits_per_member : int, optional
        eta, bits that one tree may use; None: a random forest, in which every split
        chooses among a random sqrt(n_bits) of all bits.
    min_samples_leaf : int
        Training candidates that a leaf must hold, each as often as drawn.
    class_weight : "balanced", mapping of label id to weight, optional
        Weights are finite and above 0; a label without one has 1. They count in gini
        and in leaves, not in what is drawn.
    inputs : "codes", "features" or "both"
        What members see. A feature is one more bit.
    n_features_kept : int
        Features that are bits: those of most mutual information with the label.
    base : scikit-learn classifier, optional
        Not fitted. A copy of it is trained by scikit-learn for each member, in place of
        a tree of our own; it must be a tree or linear with probabilities that are a
        softmax, such as LogisticRegression. It has its own leaves and class weights.
    seed : int

    References
    ----------
    Garg et al. 2019, section 3 ("Random Subspaces of Kernel Hashcodes"); Ho 1998.
    """

    def __init__(
        self,
        *,
        n_members: int = 250,
        bits_per_member: int | None = 30,
        min_samples_leaf: int = 1,
        class_weight: ClassWeight = None,
        inputs: Inputs = "codes",
        n_features_kept: int = 2000,
        base: Any = None,
        seed: int = 0,
    ) -> None:
        check_settings(
            class_weight,
            inputs,
            n_members=n_members,
            bits_per_member=bits_per_member,
            min_samples_leaf=min_samples_leaf,
            n_features_kept=n_features_kept,
        )
        if base is not None and (min_samples_leaf, class_weight) != (1, None):
            raise ValueError(
                f"min_samples_leaf = {min_samples_leaf} and class_weight = {class_weight} are for "
                f"own trees, but base = {base!r}; give such settings to the base."
            )
        self.n_members = n_members
        self.bits_per_member = bits_per_member
        self.min_samples_leaf = min_samples_leaf
        self.class_weight = class_weight
        self.inputs = inputs
        self.n_features_kept = n_features_kept
        self.base = base
        self.seed = seed

    def _train(self, words: Uint64, y: Int64, weights: Float64) -> Forest | LinearMembers:
        n_bits = len(self.inputs_)
        n_own = min(self.bits_per_member or n_bits, n_bits)
        if self.base is not None:
            return fit_base(self.base, words, n_bits, y, self.n_members, n_own, self.seed)
        return Forest.grown(
            words,
            y,
            weights,
            n_trees=self.n_members,
            n_bits=n_bits,
            n_own=n_own,
            n_tried=n_own if self.bits_per_member else isqrt(n_bits),
            min_leaf=self.min_samples_leaf,
            bootstrap=True,
            seed=self.seed,
        )
