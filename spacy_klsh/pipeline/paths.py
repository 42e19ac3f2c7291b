"""The views path and dependents: the ways in the dependency tree between entities."""

from __future__ import annotations

import numpy as np

from ..structures import Int32, Int64, Structures
from ..trees import tree_paths
from .candidates import Candidates
from .contexts import spread
from .token_table import Layout, TokenTable


class Paths:
    """Paths from heads to tails, as rows of the symbols of `table`.

    Parameters
    ----------
    table : TokenTable
    pairs : Candidates
        Heads and tails among the entities of the table.

    Attributes
    ----------
    tokens : int64 array (n_nodes,)
    offsets : int64 array (n + 1,)
    """

    def __init__(self, table: TokenTable, pairs: Candidates) -> None:
        self._table, self._arguments = table, pairs.arguments
        ends = table.roots[pairs.arguments.T]
        self.tokens, self._arcs, self.offsets = tree_paths(table.governors, *ends)

    def layout(self, *, blind: bool) -> Layout:
        """The nodes of the paths; the edge is the arc by which each is entered."""
        return Layout(self.tokens, self._edges(), self.labels(blind=blind), self.offsets)

    def _edges(self) -> Int32:
        down, start = self._arcs == self.tokens, self._arcs < 0
        out = np.full(len(down), self._table.row("dep="), np.int32)
        for mark, chosen in ((">", down), ("<", ~(down | start))):
            out[chosen] = self._table.rows("dep", self._arcs[chosen], "dep={}" + mark)
        return out

    def dependents(self, *, blind: bool) -> Layout:
        """Nodes of the tokens that hang on each path, not of its own entities.

        In the order of the path, and those of one governor in that of the text.
        """
        table = self._table
        children = np.argsort(table.governors, kind="stable")
        children = children[table.governors[children] != children]  # a root hangs on nothing
        above = table.governors[children]
        places, steps, _ = spread(
            *(np.searchsorted(above, self.tokens, s) for s in ("left", "right"))
        )
        tokens = children[places]
        owners = np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))[steps]
        hangs = np.ones(len(tokens), bool)
        for step in (steps - 1, steps + 1):  # a child on the path stands beside its governor
            step = np.clip(step, self.offsets[owners], self.offsets[owners + 1] - 1)
            hangs &= tokens != self.tokens[step]
        for entity in self._arguments[owners].T:
            hangs &= (tokens < table.starts[entity]) | (tokens >= table.ends[entity])
        tokens, owners = tokens[hangs], owners[hangs]
        labels = table.shown_labels(tokens, blind=blind)
        offsets = np.searchsorted(owners, np.arange(len(self.offsets))).astype(np.int64)
        return Layout(tokens, table.rows("dep", tokens, "dep={}>"), labels, offsets)

    def labels(self, *, blind: bool) -> Int64:
        """Symbol of the entity that a node shows, int64 (n_nodes,); -1: its own words.

        At the ends of a path that is the candidate's own entity, elsewhere the first one that
        holds the token.
        """
        out = self._table.shown_labels(self.tokens, blind=blind)
        if blind:
            filled = np.diff(self.offsets) > 0
            heads, tails = self._table.labels[self._arguments[filled].T]
            out[self.offsets[:-1][filled]], out[self.offsets[1:][filled] - 1] = heads, tails
        return out


class RolePaths:
    """The paths that lead from the first entity of each candidate to its others.

    A candidate with two roles is one path, from head to tail. One with more roles is a
    path that goes nowhere, which shows the first role that is there, and a path from
    there to each further role: a trigger, then the way to each participant.

    Parameters
    ----------
    table : TokenTable
        With the candidates; more than two roles become symbols of it.

    Attributes
    ----------
    pairs : Candidates
        The ends of all paths as heads and tails, each once.
    """

    def __init__(self, table: TokenTable) -> None:
        candidates, n = table.candidates, len(table.candidates)
        self._names = np.zeros(0, np.int32)
        self.pairs = candidates
        self._rows, self._owners = np.arange(n), np.arange(n)
        self._roles = np.zeros(n, np.int64)
        if len(candidates.roles) > 2:
            self._names = table.roles
            self._set_paths(candidates)
        self._bounds = np.searchsorted(self._owners, np.arange(n + 1))

    def _set_paths(self, candidates: Candidates) -> None:
        ends, size = candidates.arguments.astype(np.int64), max(len(candidates.entities), 1)
        first = (ends >= 0).argmax(axis=1)
        ends[:, 0] = np.take_along_axis(ends, first[:, None], axis=1)[:, 0]
        self._owners, self._roles = np.nonzero(ends >= 0)
        pairs = ends[self._owners, 0] * size + ends[self._owners, self._roles]
        pairs, self._rows = np.unique(pairs, return_inverse=True)
        arguments = np.stack(np.divmod(pairs, size), axis=1).astype(np.int32)
        self.pairs = Candidates(("head", "tail"), candidates.entities, arguments)

    def steps(self, offsets: Int64) -> tuple[Int64, Int64]:
        """Nodes of the paths of each candidate one behind the other.

        Parameters
        ----------
        offsets : int64 array (n_pairs + 1,)
            Starts of the paths of `pairs`.

        Returns
        -------
        steps : int64 array (n_nodes,)
            Rows of the nodes of these paths; none of a candidate where a path is missing.
        offsets : int64 array (n + 1,)
        """
        steps, ends = self._steps(offsets)
        return steps, ends[self._bounds]

    def _steps(self, offsets: Int64) -> tuple[Int64, Int64]:
        """The nodes of `steps`, and where each path begins among them, int64 (n_paths + 1,)."""
        starts, lengths = offsets[self._rows], np.diff(offsets)[self._rows]
        broken = np.zeros(len(self._bounds) - 1, bool)
        broken[self._owners[lengths == 0]] = True
        lengths[broken[self._owners]] = 0
        steps, _, begins = spread(starts, starts + lengths)
        return steps, begins

    def path(self, paths: Structures) -> Structures:
        """The paths of each candidate one behind the other.

        Parameters
        ----------
        paths : Structures
            The paths of `pairs`.

        Returns
        -------
        Structures
            With more than two roles the edge of the node at which the path of a role
            begins is ``role=`` and its name. No node where a path is missing.
        """
        if not len(self._names):
            return paths
        steps, begins = self._steps(paths.offsets)
        nodes, marked = paths.nodes[steps], (self._roles > 0) & (np.diff(begins) > 0)
        nodes[begins[:-1][marked], 0] = self._names[self._roles[marked]]
        return Structures(nodes, begins[self._bounds], paths.symbols, paths.vectors)

    def joined(self, structures: Structures) -> Structures:
        """Structures of `pairs`, those of each candidate one behind the other."""
        starts, ends = structures.offsets[self._rows], structures.offsets[self._rows + 1]
        steps, _, offsets = spread(starts, ends)
        return Structures(
            structures.nodes[steps],
            offsets[self._bounds],
            structures.symbols,
            structures.vectors,
        )
