"""Views of candidates: structures of several kinds, one of each for every candidate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from .structures import Index, Int64, Structures

Views: TypeAlias = Mapping[str, Structures]


def take(views: Views, index: Index) -> dict[str, Structures]:
    """The same choice of candidates from every view."""
    return {name: structures[index] for name, structures in views.items()}


def concat_views(parts: Sequence[Views]) -> dict[str, Structures]:
    """The candidates of all parts, view by view; `parts` must share their view names."""
    if not parts:
        raise ValueError("concat_views() got no parts; pass at least one dict of views.")
    names = list(parts[0])
    for part in parts:
        if list(part) != names:
            raise ValueError(
                f"a part has the views {list(part)} but the first has {names}; extract alike."
            )
    return {name: Structures.concat([part[name] for part in parts]) for name in names}


def distinct(views: Views) -> tuple[Int64, Int64]:
    """First row of each distinct candidate, and for every row its place among those.

    Returns
    -------
    first : int64 array (n_distinct,)
        Rising; ``take(views, first)`` are the distinct candidates.
    rows : int64 array (n,)
        ``take(views, first[rows])`` are all of them again.
    """
    keys = zip(*(_keys(structures) for structures in views.values()), strict=True)
    places: dict[tuple[bytes, ...], int] = {}
    rows = np.array([places.setdefault(key, len(places)) for key in keys], np.int64)
    return np.unique(rows, return_index=True)[1], rows


def _keys(structures: Structures) -> list[bytes]:
    """Bytes that are equal for two structures of one object if and only if they are."""
    columns = [structures.nodes]
    if structures.parents is not None:
        columns.append(structures.parents[:, None])
    content = np.concatenate(columns, axis=1).tobytes()
    width = sum(column.shape[1] for column in columns) * structures.nodes.itemsize
    bounds = (structures.offsets * width).tolist()
    return [content[a:b] for a, b in pairwise(bounds)]
