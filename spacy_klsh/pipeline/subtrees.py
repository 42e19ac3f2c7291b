"""Views of candidates with any number of roles, put together from paths between two."""

from __future__ import annotations

import numpy as np

from ..structures import Int64, Structures
from ..trees import join_paths
from .candidates import Candidates
from .contexts import spread
from .token_table import TokenTable


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
        lengths = paths.lengths[self._rows]
        broken = np.zeros(len(self._bounds) - 1, bool)
        broken[self._owners[lengths == 0]] = True
        lengths[broken[self._owners]] = 0
        starts = paths.offsets[self._rows]
        steps, _, offsets = spread(starts, starts + lengths)
        nodes, marked = paths.nodes[steps], (self._roles > 0) & (lengths > 0)
        nodes[offsets[:-1][marked], 0] = self._names[self._roles[marked]]
        return Structures(nodes, offsets[self._bounds], paths.symbols, paths.vectors)

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

    def subtree(self, paths: Structures, tokens: Int64) -> Structures:
        """The union of the paths of each candidate, a tree with the first entity as its root.

        Parameters
        ----------
        paths : Structures
            The paths of `pairs`.
        tokens : int64 array (n_steps,)
            Token at each of their nodes.

        Returns
        -------
        Structures
            With parents. Nodes stand in the order in which the paths come to them, and
            show what the first of these shows there. With more than two roles, below the
            node of each role but the first hangs a leaf ``role=`` with its name. No node
            where a path is missing.
        """
        marks = np.where(self._roles > 0, len(tokens) + self._roles, -1)
        steps, parents, offsets = join_paths(tokens, paths.offsets, self._rows, self._bounds, marks)
        leaves = np.repeat(self._names[:, None], paths.nodes.shape[1], axis=1)
        nodes = np.concatenate([paths.nodes, leaves])[steps]
        return Structures(nodes, offsets, paths.symbols, paths.vectors, parents)
