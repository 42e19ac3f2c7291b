"""Structures as plain arrays, their symbols too: what a classifier that compares them saves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..hashing.klsh import MAX_PAIRS
from ..structures import Structures
from ..symbols import pack_symbols, unpack_symbols
from ..views import Views

Arrays = dict[str, NDArray[Any]]

LONGEST = int(MAX_PAIRS**0.5)


def to_arrays(views: Views) -> Arrays:
    """The arrays of each view, ``path/nodes`` …; symbols as UTF-8 bytes with their offsets."""
    arrays: Arrays = {}
    for view, structures in views.items():
        symbols, symbol_offsets = pack_symbols(structures.symbols)
        parts: Arrays = {
            "nodes": structures.nodes,
            "offsets": structures.offsets,
            "vectors": structures.vectors,
            "symbols": symbols,
            "symbol_offsets": symbol_offsets,
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
        structures = Structures(symbols=unpack_symbols(raw, offsets), **part)
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
