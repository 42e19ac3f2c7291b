"""Trees turned so that governors stand above their dependents."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..compiled import compiled
from ..structures import Int32, Int64, Structures
from ..trees import chains

ARC, ROLE = "dep=", "role="
SECOND = "role=tail"  # the last node of a path

Bool = NDArray[np.bool_]


class GovernedTrees(NamedTuple):
    """Trees in which every arc leads from a governor down to its dependent.

    Parameters
    ----------
    structures : Structures
        Nodes stand breadth first, `parents` are their governors. Column 0 is the arc from the
        governor, ``dep=LABEL>``, or ``dep=`` at the top. Arcs have no vectors.
    children : int32 array (n_nodes, 2)
        Place of the first child of each node in its structure, and of the one behind the last.
    """

    structures: Structures
    children: Int32


def governed(structures: Structures, *, anchored: bool) -> GovernedTrees:
    """The trees of `structures`, their arcs turned round where they lead up to a governor.

    Parameters
    ----------
    structures : Structures
        Trees rooted at the first argument, or, without parents, paths from the first argument
        to the second one. ``dep=LABEL>`` enters a dependent, ``dep=LABEL<`` a governor.
    anchored : bool
        Only the nodes that govern an argument, directly or not, and the arguments are left.
        Below each of these hangs a leaf ``role=NAME``, ``role=`` below the first one. False:
        all nodes, but no leaves.

    Raises
    ------
    ValueError
        If an arc has no direction, or a node two governors.
    """
    is_path, lengths = structures.parents is None, structures.lengths
    parents = chains(structures.offsets) if structures.parents is None else structures.parents
    _check_edges(structures, parents, is_path)
    if anchored and is_path:
        structures, parents = _with_leaves(structures, parents, lengths - 1, SECOND)
    if anchored:
        structures, parents = _with_leaves(structures, parents, np.zeros_like(lengths), ROLE)
    upward = _entered_by(structures, lambda symbol: symbol.endswith("<"))
    above, arcs, fault = _governors(parents, upward, structures.offsets)
    if fault >= 0:
        raise ValueError(
            f"a node of structure {fault} has two governors, expected one at most; build the view "
            "from one dependency parse."
        )
    left_out = _left_out(above, is_role(structures), anchored)
    rows, parents, children, offsets = _breadth_first(above, left_out, structures.offsets)
    names = {symbol: row for row, symbol in enumerate(structures.symbols)}
    turned = [names.setdefault(_turned(s), len(names)) for s in structures.symbols]
    nodes = structures.nodes[rows]
    nodes[:, 0] = np.array(turned, np.int32)[structures.nodes[arcs[rows], 0]]
    nodes[parents < 0, 0] = names.setdefault(ARC, len(names))
    vectors = np.pad(structures.vectors, ((0, len(names) - len(turned)), (0, 0)))
    vectors[[name.startswith(ARC) for name in names]] = 0.0
    return GovernedTrees(Structures(nodes, offsets, tuple(names), vectors, parents), children)


def is_role(structures: Structures) -> Bool:
    """Which nodes are leaves that mark an argument, bool (n_nodes,)."""
    return _entered_by(structures, lambda symbol: symbol.startswith(ROLE))


def _entered_by(structures: Structures, kind: Callable[[str], bool]) -> Bool:
    """Which nodes have an edge of some kind, bool (n_nodes,)."""
    return np.array([kind(symbol) for symbol in structures.symbols], bool)[structures.nodes[:, 0]]


def _turned(symbol: str) -> str:
    """The symbol of an arc that leads down, of any other symbol itself."""
    if not symbol.startswith(ARC) or symbol[-1] not in "<>":
        return symbol
    return f"{symbol[:-1]}>"


def _with_leaves(
    structures: Structures, parents: Int32, below: Int64, symbol: str
) -> tuple[Structures, Int32]:
    """Every structure with nodes, and a leaf `symbol` below its node ``below[i]``; parents."""
    filled = structures.lengths > 0
    ends = structures.offsets[1:][filled]
    symbols = tuple(dict.fromkeys([*structures.symbols, symbol]))
    nodes = np.insert(structures.nodes, ends, symbols.index(symbol), axis=0)
    offsets = structures.offsets + np.cumsum([0, *filled])
    vectors = np.pad(structures.vectors, ((0, len(symbols) - len(structures.symbols)), (0, 0)))
    return Structures(nodes, offsets, symbols, vectors), np.insert(parents, ends, below[filled])


def _check_edges(structures: Structures, parents: Int32, is_path: bool) -> None:
    """Raise a ValueError if an edge does not tell which of its two nodes governs the other."""
    directed = _entered_by(structures, lambda s: s.startswith(ARC) and s[-1] in "<>")
    marked = is_role(structures) & (not is_path)
    at_root = _entered_by(structures, lambda symbol: symbol == ARC)
    wrong = np.where(parents < 0, ~at_root, ~(directed | marked))
    if wrong.any():
        row = int(wrong.argmax())
        i = int(np.searchsorted(structures.offsets, row, side="right")) - 1
        raise ValueError(
            f"node {row - structures.offsets[i]} of structure {i} is entered by "
            f"{structures.symbols[structures.nodes[row, 0]]!r}, expected dep= for a root and "
            "dep=LABEL> or dep=LABEL< for others; compare a tree, such as the view subtree, or "
            "the view path of two arguments."
        )


@compiled
def _governors(parents: Int32, upward: Bool, offsets: Int64) -> tuple[Int64, Int64, int]:
    """Row of each node's governor, row whose edge is the arc between them, and a faulty tree.

    -1 at the top, and where no tree has a node with two governors.
    """
    above, arcs = np.full(len(parents), -1), np.full(len(parents), -1)
    for i in range(len(offsets) - 1):
        for row in range(offsets[i], offsets[i + 1]):
            if parents[row] < 0:
                continue
            upper, lower = offsets[i] + parents[row], row
            if upward[row]:
                upper, lower = lower, upper
            if above[lower] >= 0:
                return above, arcs, i
            above[lower], arcs[lower] = upper, row
    return above, arcs, -1


@compiled
def _left_out(above: Int64, leaves: Bool, anchored: bool) -> Bool:
    """The leaves; if anchored, instead all that leads down to no leaf, bool (n_nodes,)."""
    if not anchored:
        return leaves
    out = np.ones(len(above), np.bool_)
    for leaf in range(len(above)):
        row = leaf if leaves[leaf] else -1
        while row >= 0 and out[row]:
            out[row], row = False, above[row]
    return out


@compiled
def _breadth_first(
    above: Int64, left_out: Bool, offsets: Int64
) -> tuple[Int64, Int32, Int32, Int64]:
    """Rows breadth first, siblings in their old order, without what is left out.

    Returns
    -------
    rows : int64 array (n_kept,)
    parents : int32 array (n_kept,)
        Places in the new order within each structure, -1 at the top.
    children : int32 array (n_kept, 2)
    offsets : int64 array (n + 1,)
    """
    first, following = np.full(len(above), -1), np.full(len(above), -1)
    for row in range(len(above) - 1, -1, -1):
        if above[row] >= 0 and not left_out[row]:
            following[row], first[above[row]] = first[above[row]], row
    n_kept = len(above) - left_out.sum()
    rows, parents = np.empty(n_kept, np.int64), np.full(n_kept, -1, np.int32)
    children, starts = np.empty((n_kept, 2), np.int32), np.zeros_like(offsets)
    for i in range(len(offsets) - 1):
        start = end = starts[i]
        for row in range(offsets[i], offsets[i + 1]):
            if above[row] < 0 and not left_out[row]:
                rows[end], end = row, end + 1
        place = start
        while place < end:
            children[place, 0] = end - start
            child = first[rows[place]]
            while child >= 0:
                rows[end], parents[end], end = child, place - start, end + 1
                child = following[child]
            children[place, 1] = end - start
            place += 1
        starts[i + 1] = end
    return rows, parents, children, starts
