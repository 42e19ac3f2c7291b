"""Structures as plain arrays, their symbols too: what a classifier that compares them saves."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..hashing.klsh import MAX_PAIRS
from ..structures import Structures, Views

Arrays = dict[str, NDArray[Any]]

LONGEST = int(MAX_PAIRS**0.5)


def to_arrays(views: Views) -> Arrays:
    """The arrays of each view, ``path/nodes`` …; symbols as UTF-8 bytes with their offsets."""
    arrays: Arrays = {}
    for view, structures in views.items():
        symbols = [symbol.encode() for symbol in structures.symbols]
        parts: Arrays = {
            "nodes": structures.nodes,
            "offsets": structures.offsets,
            "vectors": structures.vectors,
            "symbols": np.frombuffer(b"".join(symbols), np.uint8),
            "symbol_offsets": np.cumsum([0, *map(len, symbols)], dtype=np.int64),
        }
        if structures.parents is not None:
            parts["parents"] = structures.parents
        arrays |= {f"{view}/{name}": array for name, array in parts.items()}
    return arrays


def from_arrays(arrays: Mapping[str, NDArray[Any]]) -> dict[str, Structures]:
    """The views that `to_arrays` took apart.

    Raises
    ------
    ValueError
        If there is no view, an array is missing or added or does not fit the others, a
        symbol is not UTF-8, or a vector is longer than 1.
    """
    parts: dict[str, Arrays] = {}
    for name, array in arrays.items():
        view, _, part = name.rpartition("/")
        parts.setdefault(view, {})[part] = np.asarray(array, order="C")
    views = {view: _structures(view, part) for view, part in parts.items()}
    sizes = {view: len(structures) for view, structures in views.items()}
    if len(set(sizes.values())) != 1:
        raise ValueError(
            f"the stored views hold {sizes} structures, but one view and as many in each are "
            "needed; the file is damaged, train again."
        )
    return views


def _structures(view: str, part: Arrays) -> Structures:
    try:
        raw, offsets = part.pop("symbols"), part.pop("symbol_offsets")
        structures = Structures(symbols=_symbols(raw, offsets), **part)
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(
            f"the stored structures of the view {view!r} do not fit together ({error}); the file "
            "is damaged, train again."
        ) from error
    norms = np.linalg.norm(structures.vectors.astype(np.float64), axis=1)
    longest = int(structures.lengths.max(initial=0))
    if not (norms < 1.001).all() or longest > LONGEST:
        raise ValueError(
            f"the stored structures of the view {view!r} have up to {longest} nodes and vectors "
            f"up to {norms.max(initial=0)} long, but at most {LONGEST} and 1 are expected; the "
            "file is damaged, train again."
        )
    return structures


def _symbols(raw: NDArray[Any], offsets: NDArray[Any]) -> tuple[str, ...]:
    kinds = [f"{array.dtype} {array.ndim}d" for array in (raw, offsets)]
    if kinds != ["uint8 1d", "int64 1d"]:
        raise ValueError(f"symbols and their offsets are {kinds}, not uint8 1d and int64 1d")
    if (
        len(offsets) == 0
        or (offsets[0], offsets[-1]) != (0, len(raw))
        or (np.diff(offsets) < 0).any()
    ):
        raise ValueError(f"offsets of symbols do not rise from 0 to {len(raw)}")
    content = raw.tobytes()
    return tuple(content[a:b].decode() for a, b in pairwise(offsets.tolist()))
