"""What every classifier asks of its targets, and of the weights of their labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..structures import Int64

ClassWeight = Literal["balanced"] | Mapping[int, float] | None


def check_class_weight(class_weight: ClassWeight) -> None:
    """Refuse other words than "balanced", and weights that are not finite or not above 0.

    Raises
    ------
    ValueError
    """
    if isinstance(class_weight, str) and class_weight != "balanced":
        raise ValueError(f'class_weight = {class_weight!r}; give "balanced", weights or none.')
    weights = class_weight.values() if isinstance(class_weight, Mapping) else ()
    if not all(0 < weight < np.inf for weight in weights):
        raise ValueError(f"class_weight holds {list(weights)}; give finite weights above 0.")


def checked_targets(y: NDArray[np.integer[Any]], n_labels: int | None) -> tuple[Int64, int]:
    """The label ids that occur, rising, and the number of all labels.

    Parameters
    ----------
    y : int array (n,)
        Label ids, 0 for "no relation".
    n_labels : int, optional
        Default ``max(y) + 1``.

    Raises
    ------
    ValueError
        If `y` holds one label only, or labels outside ``0 .. n_labels - 1``.
    """
    labels = np.unique(y).astype(np.int64)
    if len(labels) < 2:
        raise ValueError(
            f"all {len(y)} training candidates have one label (ids {labels.tolist()}); at "
            "least two are needed, so annotate relations and unrelated pairs."
        )
    n_labels = int(labels[-1]) + 1 if n_labels is None else n_labels
    if labels[0] < 0 or labels[-1] >= n_labels:
        raise ValueError(f"labels {labels.tolist()} exceed 0..{n_labels - 1}; set n_labels.")
    return labels, n_labels


def one_against_rest(labels: Int64) -> Int64:
    """The labels that have a machine: each, but of two only the second."""
    return labels[1:] if len(labels) == 2 else labels
