"""The views subtree and sentence: trees of tokens with the first argument as their root."""

from __future__ import annotations

import numpy as np

from ..structures import Int32, Int64
from ..trees import rooted_trees
from .paths import Paths, RolePaths
from .token_table import Layout, TokenTable

NAMES = ("subtree", "sentence")


class Trees:
    """The tokens on the paths between the entities of each candidate, and those around them.

    The root is the token of the first entity that is there. A parent stands before its
    children, and these in the order of the text. Below the node of each role but the first
    hangs a leaf, before the node's other children, all of whose symbols are ``role=`` and its
    name. Tokens of the candidate's own entities that are on no path are left out, and what
    hangs on them alone goes with them.

    Parameters
    ----------
    table : TokenTable
        With the candidates; their roles become symbols of it.
    paths : Paths
        The paths of ``role_paths.pairs``.
    role_paths : RolePaths
    blind : bool
        Show tokens of entities as their label.
    depth : int
        How many arcs below the paths a token of a subtree may be.
    """

    def __init__(
        self,
        table: TokenTable,
        paths: Paths,
        role_paths: RolePaths,
        *,
        blind: bool,
        depth: int,
    ) -> None:
        self._table, self._paths, self._role_paths = table, paths, role_paths
        self._blind, self._depth = blind, depth

    def layout(self, name: str) -> Layout:
        """The nodes of one of `NAMES`; none where a path is missing."""
        table, whole = self._table, name == "sentence"
        on_paths, ends = self._role_paths.steps(self._paths.offsets)
        arguments = table.candidates.arguments
        owners, roles = np.nonzero(arguments >= 0)
        tokens, steps, leaves, parents, offsets = rooted_trees(
            table.governors,
            *_neighbours(table.governors),
            self._paths.tokens[on_paths],
            ends,
            self._spans(arguments[owners, roles], roles),
            np.searchsorted(owners, np.arange(len(arguments) + 1)),
            len(table.governors) if whole else self._depth,
            whole,
        )
        labels, met = table.shown_labels(tokens, blind=self._blind), steps >= 0
        labels[met] = self._paths.labels(blind=self._blind)[on_paths[steps[met]]]
        edges, is_leaf = self._edges(tokens, parents, offsets), leaves >= 0
        edges[is_leaf] = labels[is_leaf] = table.roles[roles[leaves[is_leaf]]]
        return Layout(tokens, edges, labels, offsets, parents)

    def _spans(self, entities: Int32, roles: Int64) -> Int64:
        """Start, end and where the leaf hangs of each argument, int64 (n_arguments, 3)."""
        table = self._table
        bearers = np.where(roles > 0, table.roots[entities], -1)
        return np.stack([table.starts[entities], table.ends[entities], bearers], axis=1)

    def _edges(self, tokens: Int64, parents: Int32, offsets: Int64) -> Int32:
        """The edge by which each token is entered from its parent, int32 (n_nodes,)."""
        table, below = self._table, parents >= 0
        above = tokens[(np.repeat(offsets[:-1], np.diff(offsets)) + parents)[below]]
        down = table.governors[tokens[below]] == above
        edges = np.empty(len(above), np.int32)
        edges[down] = table.rows("dep", tokens[below][down], "dep={}>")
        edges[~down] = table.rows("dep", above[~down], "dep={}<")
        out = np.full(len(tokens), table.row("dep="), np.int32)
        out[below] = edges
        return out


def _neighbours(governors: Int64) -> tuple[Int64, Int64]:
    """What each token governs and is governed by, in the order of the text, and their bounds."""
    children = np.flatnonzero(governors != np.arange(len(governors)))
    above = governors[children]
    owners, others = np.concatenate([above, children]), np.concatenate([children, above])
    order = np.lexsort((others, owners))
    bounds = np.searchsorted(owners[order], np.arange(len(governors) + 1))
    return others[order], bounds.astype(np.int64)
