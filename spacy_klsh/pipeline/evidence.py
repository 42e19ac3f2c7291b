"""Why a relation was predicted: its path, the vote, and the references most like it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple, TypeAlias

Path: TypeAlias = tuple[tuple[str, ...], ...]
EvidenceData: TypeAlias = Mapping[str, Any]  # plain lists and dicts, see `Evidence.from_data`


SEPARATOR = "\t"


class Match(NamedTuple):
    """Two similar items: the places of their nodes in the own and in the reference path.

    `part` tells what of the nodes is similar: the ``node`` itself, the ``edge`` that
    enters it, or ``both`` where the kernel takes the two as one item.
    """

    own: int
    reference: int
    similarity: float
    part: str


class Neighbour(NamedTuple):
    """A reference and what it has in common with a candidate.

    `label` is what it was in training (``""``: no relation; None: it had no label),
    `similarity` its kernel value, `path` its nodes as tuples of symbols, the edge first.
    `matches` are the items that it shares with the candidate. If trees are compared, `parents`
    has the place of the parent of each node, -1 for the root.
    """

    label: str | None
    similarity: float
    path: Path
    matches: tuple[Match, ...]
    parents: tuple[int, ...] = ()

    @property
    def best_matches(self) -> dict[tuple[int, str], Match]:
        """The best match of each place of the path and part (``node`` or ``edge``)."""
        best = {}
        for match in sorted(self.matches, key=lambda match: match.similarity):
            for part in ("node", "edge") if match.part == "both" else (match.part,):
                best[match.reference, part] = match
        return best


class Evidence(NamedTuple):
    """What the prediction for one candidate rests on.

    `path` holds the candidate's nodes as tuples of symbols, the edge first; with more than
    two roles the edge ``role=Theme`` begins the way to the argument in that role; `parents`
    as in `Neighbour`, if trees are compared. `vote` maps
    labels to probabilities, the likeliest first, ``""`` being no relation; labels
    without any vote are left out. With direction ``label``, ``X (reversed)`` is the
    label with head and tail exchanged. `nearest` are the most similar references, and in
    any case the most similar one of the predicted label; none without any similarity.

    Printed, it is a few lines for people to read.
    """

    path: Path
    vote: Mapping[str, float]
    nearest: tuple[Neighbour, ...]
    parents: tuple[int, ...] = ()

    @classmethod
    def from_data(cls, data: EvidenceData) -> Evidence:
        """The evidence that a Doc stores, in few lists for the sake of the garbage collector.

        Paths are their symbols parted by tabs, ``width`` of them a node, and matches are
        their values parted by tabs. Only trees have ``parents``.
        """
        width = data["width"]
        nearest = tuple(
            Neighbour(
                near["label"],
                near["similarity"],
                _rows(near["path"], width),
                tuple(
                    Match(int(own), int(reference), float(similarity), part)
                    for own, reference, similarity, part in _rows(near["matches"], 4)
                ),
                tuple(near.get("parents", ())),
            )
            for near in data["nearest"]
        )
        path, parents = _rows(data["path"], width), tuple(data.get("parents", ()))
        return cls(path, dict(data["vote"]), nearest, parents)

    def to_json(self) -> dict[str, Any]:
        """What it says in words and numbers, as plain dicts and lists."""
        nearest = [
            {
                "label": near.label,
                "similarity": round(near.similarity, 4),
                "path": path_words(near.path, near.parents),
            }
            for near in self.nearest
        ]
        vote = {label: round(p, 4) for label, p in self.vote.items()}
        return {"path": path_words(self.path, self.parents), "vote": vote, "nearest": nearest}

    def vote_words(self) -> list[str]:
        """Labels with their probabilities, without those that would read 0.00."""
        return [f"{label_words(label)} {p:.2f}" for label, p in self.vote.items() if p >= 0.005]

    def likeness(self, near: Neighbour, i: int) -> str:
        """The other word that node `i` of a neighbour is similar to, and how much; or nothing."""
        match = near.best_matches.get((i, "node"))
        own = node_words(self.path[match.own]) if match else ""
        if match is None or own == node_words(near.path[i]):
            return ""
        return f"{own} {match.similarity:.2f}"

    def __str__(self) -> str:
        lines = [path_words(self.path, self.parents), f"vote: {', '.join(self.vote_words())}"]
        for near in self.nearest:
            words = path_words(near.path, near.parents)
            lines.append(f"{near.similarity:.2f} {label_words(near.label)}: {words}")
        return "\n".join(lines)


def _rows(text: str, width: int) -> Path:
    values = text.split(SEPARATOR) if text else []
    return tuple(tuple(values[i : i + width]) for i in range(0, len(values), width))


def label_words(label: str | None) -> str:
    """The label, or that there is no relation, or that nobody knows."""
    return "not labelled" if label is None else label or "no relation"


def node_words(node: Sequence[str]) -> str:
    """The values of a node's symbols, each of them once: ``found``, ``found/VERB``, ``ORG``.

    The leaf of a tree that names the role of the word above it: ``(tail)``.
    """
    if _is_leaf(node):
        return f"({node[0].partition('=')[2]})"
    values = (symbol.partition("=")[2] for symbol in node[1:])
    return "/".join(dict.fromkeys(filter(None, values)))


def edge_words(node: Sequence[str], line: str = "-", left: str = "<-", right: str = "->") -> str:
    """The edge that enters a node as an arrow from governor to child, or the role that begins.

    Nothing where words have no edges, and before the leaf of a tree that names a role.
    """
    kind, _, edge = node[0].partition("=")
    if not edge or _is_leaf(node):
        return ""
    if kind == "role":
        return f"| {edge}:"
    return f"{line}{edge[:-1]}{right}" if edge.endswith(">") else f"{left}{edge[:-1]}{line}"


def argument_words(arguments: Mapping[str, str]) -> tuple[str, str]:
    """The head or first argument, and the others, with their roles unless head and tail."""
    ordered = sorted(arguments.items(), key=lambda argument: argument[0] != "head")
    first, *others = (
        text if role in ("head", "tail") else f"{role}: {text}" for role, text in ordered
    )
    return first, ", ".join(others)


def _is_leaf(node: Sequence[str]) -> bool:
    return node[0].startswith("role=") and node[0] == node[1]


def brackets(path: Path, parents: Sequence[int]) -> list[tuple[str, str]]:
    """What opens before each node of a tree and closes behind it: ``[`` and some ``]``.

    The nodes stand in preorder. All below a node but its last branch is in brackets; a path,
    which has no `parents`, needs none.
    """
    marks = [["", ""] for _ in path]
    n_children = Counter(parents)
    for i, parent in enumerate(parents):
        n_children[parent] -= 1
        if i and n_children[parent]:
            inside = (k for k in range(i + 1, len(parents)) if parents[k] < i)
            marks[i][0] = "["
            marks[next(inside) - 1][1] += "]"
    return [(before, behind) for before, behind in marks]


def path_steps(path: Path, parents: Sequence[int] = ()) -> list[tuple[str, str]]:
    """The edge that enters each node, see `edge_words`, and its words, with `brackets`."""
    steps = []
    for i, (node, (before, behind)) in enumerate(zip(path, brackets(path, parents), strict=True)):
        edge, words = edge_words(node) if i else "", node_words(node) + behind
        steps.append((before + edge, words) if edge else ("", before + words))
    return steps


def path_words(path: Path, parents: Sequence[int] = ()) -> str:
    """A path or a tree on one line.

    Examples
    --------
    >>> path_words((("dep=", "label=PERSON"), ("dep=nsubj<", "lemma=run")))
    'PERSON <-nsubj- run'
    """
    steps = path_steps(path, parents)
    return " ".join(filter(None, chain.from_iterable(steps))) or "(no path)"
