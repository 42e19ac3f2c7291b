"""Registered makers of classifiers; like `factory`, it imports spaCy alone."""

from collections.abc import Callable
from functools import partial
from typing import Any, Dict  # noqa: UP035

from spacy.util import registry

Maker = Callable[..., Any]

NO_HIERARCHY: Dict[str, str] = {}  # noqa: UP006


@registry.misc("spacy-klsh.subspace.v1")
def make_subspace(
    n_members: int = 250,
    bits_per_member: int | None = 30,
    min_samples_leaf: int = 1,
    class_weight: str | None = None,
    inputs: str = "codes",
    n_features_kept: int = 2000,
    base: Any = None,
) -> Maker:
    """Random subspace ensemble without its seed, see `spacy_klsh.classifiers.subspace`."""
    from ..classifiers.subspace import SubspaceClassifier

    settings = {
        "n_members": n_members,
        "bits_per_member": bits_per_member,
        "min_samples_leaf": min_samples_leaf,
        "class_weight": class_weight,
        "inputs": inputs,
        "n_features_kept": n_features_kept,
        "base": base,
    }
    return partial(SubspaceClassifier, **settings)


@registry.misc("spacy-klsh.logistic.v1")
def make_logistic(strength: float = 1.0, class_weight: str | None = None) -> Any:
    """Logistic regression of scikit-learn as the base of a random subspace ensemble."""
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=strength, class_weight=class_weight)


@registry.misc("spacy-klsh.extra_trees.v1")
def make_extra_trees(
    n_trees: int = 250,
    bits_per_split: int | None = None,
    min_samples_leaf: int = 1,
    class_weight: str | None = None,
    inputs: str = "both",
    n_features_kept: int = 2000,
) -> Maker:
    """Extra trees without their seed, see `spacy_klsh.classifiers.extra_trees`."""
    from ..classifiers.extra_trees import ExtraTrees

    settings = {
        "n_trees": n_trees,
        "bits_per_split": bits_per_split,
        "min_samples_leaf": min_samples_leaf,
        "class_weight": class_weight,
        "inputs": inputs,
        "n_features_kept": n_features_kept,
    }
    return partial(ExtraTrees, **settings)  # type: ignore[arg-type]


@registry.misc("spacy-klsh.hamming_knn.v1")
def make_hamming_knn(
    k: int = 30,
    weights: str = "uniform",
    index: str = "scan",
    smoothing: float = 1.0,
) -> Maker:
    """Nearest codes without their seed, see `spacy_klsh.classifiers.neighbors`."""
    from ..classifiers.neighbors import HammingNeighbors

    settings = {"k": k, "weights": weights, "index": index, "smoothing": smoothing}
    return partial(HammingNeighbors, **settings)  # type: ignore[arg-type]


@registry.misc("spacy-klsh.klsh_knn.v1")
def make_klsh_knn(
    k: int = 15,
    n_tables: int = 8,
    bits_per_table: int = 12,
    neighborhood: int = 64,
    weights: str = "distance",
    smoothing: float = 1.0,
) -> Maker:
    """KLSH-kNN without its seed, see `spacy_klsh.classifiers.kernel_neighbors`."""
    from ..classifiers.kernel_neighbors import KernelNeighbors

    settings = {
        "k": k,
        "n_tables": n_tables,
        "bits_per_table": bits_per_table,
        "neighborhood": neighborhood,
        "weights": weights,
        "smoothing": smoothing,
    }
    return partial(KernelNeighbors, **settings)  # type: ignore[arg-type]


@registry.misc("spacy-klsh.polynomial.v1")
def make_polynomial(
    degree: int = 2,
    C: float = 1.0,
    class_weight: str | None = None,
    inputs: str = "features",
    method: str = "index",
    sigma: float = 0.0005,
    max_sets: int = 5_000_000,
    n_folds: int = 3,
    max_training_candidates: int = 30_000,
) -> Maker:
    """Polynomial kernel machines without their seed, see `spacy_klsh.classifiers.polynomial`."""
    from ..classifiers.polynomial import PolynomialClassifier

    settings = {
        "degree": degree,
        "C": C,
        "class_weight": class_weight,
        "inputs": inputs,
        "method": method,
        "sigma": sigma,
        "max_sets": max_sets,
        "n_folds": n_folds,
        "max_training_candidates": max_training_candidates,
    }
    return partial(PolynomialClassifier, **settings)  # type: ignore[arg-type]


@registry.misc("spacy-klsh.linear.v1")
def make_linear(
    C: float = 10.0,
    min_count: int = 2,
    class_weight: str | None = None,
    inputs: str = "features",
) -> Maker:
    """Logistic regression without its seed, see `spacy_klsh.classifiers.linear`."""
    from ..classifiers.linear import LinearClassifier

    settings = {"C": C, "min_count": min_count, "class_weight": class_weight, "inputs": inputs}
    return partial(LinearClassifier, **settings)  # type: ignore[arg-type]


@registry.misc("spacy-klsh.ensemble.v1")
def make_ensemble(
    members: Dict[str, Any],  # noqa: UP006
    weights: Dict[str, float] | None = None,  # noqa: UP006
) -> Maker:
    """Classifiers that answer together, see `spacy_klsh.classifiers.ensemble`.

    The members are blocks of classifiers; spaCy checks their types before it resolves them.
    """
    return partial(_ensemble, members, weights)  # a closure would not reach spawned processes


def _ensemble(members: dict[str, Maker], weights: dict[str, float] | None, *, seed: int) -> Any:
    from ..classifiers.ensemble import Ensemble

    made = {name: member(seed=seed) for name, member in members.items()}
    return Ensemble(members=made, weights=weights)


@registry.misc("spacy-klsh.perceptron.v1")
def make_perceptron(
    strategy: str = "flat",
    hierarchy: Dict[str, str] | str = NO_HIERARCHY,  # noqa: UP006
    max_passes: int = 10,
    n_averaged: int = 5,
    n_replicates: int = 10,
    inputs: str = "both",
) -> Maker:
    """Perceptrons without their seed, see `spacy_klsh.classifiers.perceptron`."""
    from ..classifiers.perceptron import PerceptronClassifier

    settings = {
        "strategy": strategy,
        "hierarchy": hierarchy,
        "max_passes": max_passes,
        "n_averaged": n_averaged,
        "n_replicates": n_replicates,
        "inputs": inputs,
    }
    return partial(PerceptronClassifier, **settings)  # type: ignore[arg-type]
