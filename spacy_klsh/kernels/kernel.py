"""What is asked of a kernel, and how its values are normalized."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeGuard, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ..structures import Float32, Int64
from ..views import Views

Float64 = NDArray[np.float64]


class Kernel(Protocol):
    """What a kernel must offer to be hashed."""

    @property
    def views(self) -> tuple[str, ...]:
        """Names of the views that it compares."""

    def against(self, y: Views) -> Callable[[Views], Float32]:
        """``gram(·, y)``, normalized, float32 (len x, len y), prepared once."""


@runtime_checkable
class PairKernel(Kernel, Protocol):
    """A kernel that compares chosen pairs alone; of others whole grams are computed."""

    def pairs(self, x: Views, y: Views, own: Int64, other: Int64) -> Float32:
        """Values of structures ``own[i]`` of `x` and ``other[i]`` of `y`, those of a gram."""


@runtime_checkable
class LearningKernel(Kernel, Protocol):
    """A kernel that learns from labels: these methods give a new one, it stays as it is."""

    @property
    def learns(self) -> bool:
        """Whether labels change it at all: a combination learns if a part of it does."""

    def fit(self, views: Views, y: NDArray[Any]) -> LearningKernel:
        """The kernel with what the labels of training structures teach."""

    def state(self) -> dict[str, NDArray[Any]]:
        """What was learned, as arrays."""

    def restore(self, state: Mapping[str, NDArray[Any]]) -> LearningKernel:
        """The kernel with what `state` holds; a ValueError if that is damaged."""


def learns(kernel: Kernel) -> TypeGuard[LearningKernel]:
    """Whether a kernel has to be fitted to labels."""
    return isinstance(kernel, LearningKernel) and kernel.learns


def pair_values(kernel: Kernel, x: Views, y: Views, own: Int64, other: Int64) -> Float32:
    """Kernel values of structures ``own[i]`` of `x` and ``other[i]`` of `y`, float32 (n_pairs,)."""
    if isinstance(kernel, PairKernel):
        return kernel.pairs(x, y, own, other)
    return kernel.against(y)(x)[own, other]


def inverse_roots(values: Float64) -> Float64:
    """``1 / sqrt(K(x, x))`` of each, 0 where that is 0: what normalizes."""
    roots = np.sqrt(values)
    return np.divide(1.0, roots, out=np.zeros_like(roots), where=roots > 0)
