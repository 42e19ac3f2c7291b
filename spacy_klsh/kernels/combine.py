"""One kernel of several: their weighted sum or product, each on a view of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from ..structures import Float32, Int64
from ..views import Views
from .kernel import Float64, Kernel, inverse_roots, learns, pair_values
from .nodes import MAX_WEIGHT, Matches

FIRST = "path"  # what people are shown


class Part(Kernel, Protocol):
    """What can be combined."""

    def self_values(self, x: Views) -> Float64:
        """K(x, x) before normalization, float64 (n,)."""

    def matches(self, x: Views, y: Views) -> Matches:
        """What each structure of `x` and the one of `y` in the same place have in common."""


@dataclass(frozen=True, kw_only=True)
class CombinedKernel:
    """Weighted sum or product of the normalized values of other kernels.

    With ``k_i`` these values and ``w_i`` the weights,

    .. code-block:: text

        sum:      K(s, t) = sum_i w_i k_i(s, t)
        product:  K(s, t) = prod_i (1 + w_i k_i(s, t)) - 1

    normalized again: ``K(s,t) / sqrt(K(s,s) K(t,t))``, where ``k_i(s, s)`` is 0 for an empty
    view and 1 otherwise. The product is the sum over all choices of one kernel or more of the
    product of their ``w_i k_i``: what is alike in two views at once counts on top. A view that
    is empty on one side takes its kernel out of both, but does not make the others 0.

    Both are positive semi-definite if the kernels are.

    Parameters
    ----------
    kernels : mapping of name to kernel
        One or more, no slash in a name; may be combined ones themselves.
    weights : mapping of name to float > 0, optional
        Of each kernel; those that are not named weigh 1.
    operation : {"sum", "product"}

    References
    ----------
    Haussler 1999, section 2.2; Bunescu & Mooney 2005 (NIPS), section 3, sums kernels of the
    words before, between and after the entities.
    """

    kernels: Mapping[str, Part]
    weights: Mapping[str, float] | None = None
    operation: Literal["sum", "product"] = "sum"

    def __post_init__(self) -> None:
        if not self.kernels or any("/" in name for name in self.kernels):
            raise ValueError(
                f"the kernels are {list(self.kernels)}; name one or more, without a slash."
            )
        if self.operation not in ("sum", "product"):
            raise ValueError(f"operation is {self.operation!r}; choose sum or product.")
        for name, weight in (self.weights or {}).items():
            if name not in self.kernels or not 0 < weight <= MAX_WEIGHT:
                raise ValueError(
                    f"weights[{name!r}] is {weight}; give numbers > 0 to some of the kernels "
                    f"{', '.join(self.kernels)}, and leave out kernels that are not to count."
                )

    @property
    def views(self) -> tuple[str, ...]:
        """Names of the views that it compares, the path first if it is one of them."""
        return tuple(dict.fromkeys(view for kernel, _ in self._parts for view in kernel.views))

    def gram(self, x: Views, y: Views) -> Float32:
        """Normalized kernel values, float32 (len x, len y); 0 where a norm is 0."""
        return self.against(y)(x)

    def against(self, y: Views) -> Callable[[Views], Float32]:
        """``gram(·, y)`` with everything that depends on `y` alone computed once."""
        compare = [kernel.against(y) for kernel, _ in self._parts]
        y_scale = inverse_roots(self.self_values(y))

        def gram(x: Views) -> Float32:
            x_scale = inverse_roots(self.self_values(x))
            values = self._combined(part(x) for part in compare)
            return (values * x_scale[:, None] * y_scale).astype(np.float32)

        return gram

    def pairs(self, x: Views, y: Views, own: Int64, other: Int64) -> Float32:
        """Normalized values of structures ``own[i]`` of `x` and ``other[i]`` of `y`.

        Returns
        -------
        float32 array (n_pairs,)
            Bit for bit those of `gram`.
        """
        x_scale, y_scale = (inverse_roots(self.self_values(views)) for views in (x, y))
        values = self._combined(pair_values(part, x, y, own, other) for part, _ in self._parts)
        return (values * x_scale[own] * y_scale[other]).astype(np.float32)

    def self_values(self, x: Views) -> Float64:
        """K(x, x) before normalization, float64 (n,)."""
        return self._combined(kernel.self_values(x) > 0 for kernel, _ in self._parts)

    def matches(self, x: Views, y: Views) -> Matches:
        """What the first kernel, that of the path if there is one, finds alike."""
        kernel, _ = self._parts[0]
        return kernel.matches(x, y)

    @property
    def learns(self) -> bool:
        """Whether one of the kernels does."""
        return bool(self._learning)

    def fit(self, views: Views, y: NDArray[Any]) -> CombinedKernel:
        """The kernel with what those that learn from labels learned."""
        learned = {name: kernel.fit(views, y) for name, kernel in self._learning.items()}
        return replace(self, kernels={**self.kernels, **learned})

    def state(self) -> dict[str, NDArray[Any]]:
        """What was learned, as arrays: ``NAME/…`` of each kernel that learns."""
        return {
            f"{name}/{key}": array
            for name, kernel in self._learning.items()
            for key, array in kernel.state().items()
        }

    def restore(self, state: Mapping[str, NDArray[Any]]) -> CombinedKernel:
        """The kernel with what `state` holds; a ValueError if that is damaged."""
        states: dict[str, dict[str, NDArray[Any]]] = {name: {} for name in self._learning}
        for key, array in state.items():
            name, _, rest = key.partition("/")
            if name not in states:
                raise ValueError(
                    f"the stored kernel has the array {key!r}, but only {list(states)} learn; the "
                    "file is damaged, train again."
                )
            states[name][rest] = array
        learned = {name: kernel.restore(states[name]) for name, kernel in self._learning.items()}
        return replace(self, kernels={**self.kernels, **learned})

    @property
    def _learning(self) -> dict[str, Any]:
        return {n: k for n, k in self.kernels.items() if learns(k)}

    @property
    def _parts(self) -> list[tuple[Part, float]]:
        """Kernels with their weights, in an order that saving does not change."""
        names = sorted(self.kernels, key=lambda name: (FIRST not in self.kernels[name].views, name))
        return [(self.kernels[name], (self.weights or {}).get(name, 1.0)) for name in names]

    def _combined(self, values: Iterable[NDArray[Any]]) -> Float64:
        """K of the values of each kernel, before normalization; float64 of their shape."""
        pairs = zip(self._parts, values, strict=True)
        terms = (weight * value.astype(np.float64) for (_, weight), value in pairs)
        if self.operation == "sum":
            return reduce(np.add, terms)
        return reduce(np.multiply, (1.0 + term for term in terms)) - 1.0
