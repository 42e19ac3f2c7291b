"""What can be learned of a kernel: its parameters by name, and the values that they may take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from ..structures import Structures
from ..views import Views

SHARES = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0)  # one against another
TOKENS: dict[str, tuple[str, tuple[float, ...]]] = {  # what tells words alike
    "cosine": ("threshold", (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)),
    "gaussian": ("bandwidth", (0.25, 0.5, 1.0, 2.0, 4.0)),
}
LADDERS: dict[str, dict[str, tuple[float, ...]]] = {  # by class: no kernel is imported here
    "SubsequenceKernel": {
        "decay": (0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 1.0),
        "max_length": (1, 2, 3, 4, 5, 6),
    },
    "GraphKernel": {"decay": (0.05, 0.1, 0.2, 0.3, 0.4, 0.5)},
    "CommonPathsKernel": {"alpha": (0.05, 0.1, 0.25, 0.5, 0.75, 1.0)},
    "ShortestPathKernel": {},
}
VECTORS, MAPPINGS = ("attribute_weights", "length_weights"), ("sigma", "weights")
LEARNED = ("decay", "max_length", "alpha", "threshold", "bandwidth", *VECTORS, *MAPPINGS)
MAX_LENGTH = 100  # of what a file may claim to be learned


class Slot(NamedTuple):
    """One number of a kernel and the values that it may take, rising.

    Parameters
    ----------
    name : str
        ``decay``; ``sigma/LABEL``; ``length_weights/K``; of a part of a combined kernel
        ``PART/decay``, and ``weights/PART`` what the part counts.
    ladder : tuple of float
    """

    name: str
    ladder: tuple[float, ...]


def parameter_slots(kernel: Any, views: Views) -> list[Slot]:
    """All that can be learned of `kernel` but for sigma.

    What cannot matter is left out: the similarity of words without word vectors, and weights
    where there is one attribute alone.
    """
    if _is_combined(kernel):
        names = sorted(kernel.kernels)
        slots = [Slot(f"weights/{name}", SHARES[1:]) for name in names[1:]]  # of one to another
        return slots + _of_parts(kernel, views, parameter_slots)
    structures = views[kernel.view]
    slots = [Slot(name, ladder) for name, ladder in _ladders(kernel).items()]
    if structures.vectors.any() and kernel.tokens in TOKENS:
        slots.append(Slot(*TOKENS[kernel.tokens]))
    n_attributes = structures.nodes.shape[1] - 1
    if n_attributes > 1:
        slots += [Slot(f"attribute_weights/{k}", SHARES) for k in range(n_attributes)]
    weights = getattr(kernel, "length_weights", None)
    if weights is not None:
        slots += [Slot(f"length_weights/{k}", SHARES) for k in range(len(weights))]
        slots = [slot for slot in slots if slot.name != "max_length"]  # they say it already
    return slots


def sigma_slots(kernel: Any, views: Views) -> list[Slot]:
    """Sigma, 0 or 1, of every edge label that `views` have."""
    if _is_combined(kernel):
        return _of_parts(kernel, views, sigma_slots)
    return [Slot(f"sigma/{label}", (0.0, 1.0)) for label in edge_labels(views[kernel.view])]


def edge_labels(structures: Structures) -> list[str]:
    """Labels of the arcs of a dependency parse, sorted."""
    edges = {symbol for symbol in structures.symbols if symbol.startswith("dep=")}
    return sorted({edge.removeprefix("dep=").rstrip("<>") for edge in edges} - {""})


def value_of(kernel: Any, name: str) -> float:
    """The number that stands there, 1 where a weight or sigma is not given."""
    head, _, rest = name.partition("/")
    if _is_combined(kernel):
        if head == "weights":
            return float((kernel.weights or {}).get(rest, 1.0))
        return value_of(kernel.kernels[head], rest)
    value = getattr(kernel, head)
    if head == "sigma":
        return float((value or {}).get(rest, 1.0))
    if head in VECTORS:
        return 1.0 if value is None else float(value[int(rest)])
    return float(value)


def changed(kernel: Any, name: str, value: float, views: Views) -> Any:
    """The kernel with another number there.

    Raises
    ------
    ValueError
        If the kernel cannot have it.
    """
    head, _, rest = name.partition("/")
    if _is_combined(kernel):
        if head == "weights":
            return replace(kernel, weights={**(kernel.weights or {}), rest: value})
        part = changed(kernel.kernels[head], rest, value, views)
        return replace(kernel, kernels={**kernel.kernels, head: part})
    if head == "sigma":
        sigma = {**(kernel.sigma or {}), rest: value}
        return replace(kernel, sigma={k: v for k, v in sigma.items() if v != 1} or None)
    if head == "attribute_weights":
        n = views[kernel.view].nodes.shape[1] - 1
        return replace(kernel, attribute_weights=_put(kernel.attribute_weights, n, rest, value))
    if head == "length_weights":
        weights = _put(kernel.length_weights, kernel.max_length, rest, value)
        return replace(kernel, length_weights=weights)
    return replace(kernel, **{head: int(value) if head == "max_length" else value})


def learned(given: Any, kernel: Any) -> dict[str, Any]:
    """What `kernel` has that `given` has not, plain values by name; see `with_learned`."""
    found = {
        name: _plain(getattr(kernel, name))
        for name in LEARNED
        if hasattr(kernel, name) and _plain(getattr(kernel, name)) != _plain(getattr(given, name))
    }
    if _is_combined(kernel):
        for part in sorted(kernel.kernels):
            below = learned(given.kernels[part], kernel.kernels[part])
            found |= {f"{part}/{name}": value for name, value in below.items()}
    return found


def with_learned(given: Any, values: Mapping[str, Any]) -> Any:
    """The kernel that `learned` told from `given`.

    Raises
    ------
    ValueError
        If it cannot have one of the values.
    """
    own: dict[str, Any] = {}
    parts: dict[str, dict[str, Any]] = {}
    for name, value in values.items():
        part, slash, rest = name.rpartition("/")
        if slash and _is_combined(given) and part.partition("/")[0] in given.kernels:
            head, _, middle = part.partition("/")
            parts.setdefault(head, {})[f"{middle}/{rest}" if middle else rest] = value
        elif slash or name not in LEARNED or not hasattr(given, name):
            raise ValueError(f"{type(given).__name__} has no {name!r} that can be learned.")
        elif not _is_possible(name, value):
            raise ValueError(f"{name} was never learned as {value!r}.")
        else:
            own[name] = tuple(value) if name in VECTORS and value is not None else value
    if parts:
        below = {part: with_learned(given.kernels[part], own) for part, own in parts.items()}
        own["kernels"] = {**given.kernels, **below}
    return replace(given, **own)


def _is_possible(name: str, value: Any) -> bool:
    """Whether a value has the type of a parameter; whether it is in range, the kernel knows."""
    if name == "max_length":
        return type(value) is int and value <= MAX_LENGTH
    if name in VECTORS:
        return value is None or (isinstance(value, list) and all(map(_is_number, value)))
    if name in MAPPINGS:
        return value is None or (isinstance(value, dict) and all(map(_is_number, value.values())))
    return _is_number(value)


def _is_number(value: Any) -> bool:
    return type(value) in (int, float)


def _is_combined(kernel: Any) -> bool:
    return hasattr(kernel, "kernels")


def _ladders(kernel: Any) -> dict[str, tuple[float, ...]]:
    """Of the kernel's own class, or the one that it is made from; none for one of your own."""
    names = [kind.__name__ for kind in type(kernel).__mro__]
    return next((LADDERS[name] for name in names if name in LADDERS), {})


def _of_parts(kernel: Any, views: Views, slots: Any) -> list[Slot]:
    return [
        Slot(f"{name}/{slot.name}", slot.ladder)
        for name in sorted(kernel.kernels)
        for slot in slots(kernel.kernels[name], views)
    ]


def _put(weights: Sequence[float] | None, n: int, place: str, value: float) -> tuple[float, ...]:
    values = list(weights or (1.0,) * n)
    values[int(place)] = value
    return tuple(values)


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return list(value)
    return dict(value) if isinstance(value, Mapping) else value
