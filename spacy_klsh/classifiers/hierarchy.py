"""A tree of classes: given, or joined from those with similar weights.

A tree is the parent of each class. Class 0 stands for all labels together, "related at
all"; class ``k`` for label ``k``; the classes behind the labels join some of them. A class
with the parent -1 has none.

References: Zhou et al. 2006, section 3.3.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

Tree = tuple[int, ...]


def flat(n_classes: int) -> Tree:
    """No class has a parent."""
    return (-1,) * n_classes


def given(names: Sequence[str], above: Mapping[str, str]) -> Tree:
    """The tree of labels with these names.

    A name that `above` does not mention stands below class 0. A label that others stand
    below is two classes: one joins them all, the label itself is the other, below it. What
    would join the same labels as a class below it is left out.

    Parameters
    ----------
    names : sequence of str
        Of each label id; that of 0 does not matter, two labels may have one name.
    above : mapping of name to name
        Parent of labels and of their parents.

    Raises
    ------
    ValueError
        If a name stands above itself.

    Examples
    --------
    >>> given(["", "ACTIVATOR", "AGONIST", "INHIBITOR"], {"ACTIVATOR": "UP", "AGONIST": "UP"})
    (-1, 4, 4, 0, 0)
    """
    chains = {k: _chain(name, above) for k, name in enumerate(names) if k}
    tree, rows = [-1] + [0] * len(chains), {frozenset(chains): 0}
    for k, chain in chains.items():
        child = k
        for name in chain:
            labels = frozenset(label for label in chains if name in chains[label])
            if len(labels) > 1:
                row = rows.setdefault(labels, len(tree))
                if row == len(tree):
                    tree.append(0)
                if row != child:
                    tree[child] = row
                child = row
    return tuple(tree)


def _chain(name: str, above: Mapping[str, str]) -> list[str]:
    """What stands above a label, from the bottom; the label first if it joins others."""
    chain = [name]
    while chain[-1] in above:
        chain.append(above[chain[-1]])
        if chain[-1] in chain[:-1]:
            raise ValueError(
                f"in the hierarchy {' < '.join(chain)}, but a class cannot stand above itself; "
                "remove one of these."
            )
    return chain if name in above.values() else chain[1:]


def joined(tree: Tree, n_labels: int, vectors: NDArray[np.floating], *, all_levels: bool) -> Tree:
    """The tree with more classes: siblings joined two by two, the most similar first.

    Two are joined as long as there is a third sibling. A new class has the sum of both vectors.

    Parameters
    ----------
    tree : Tree
    n_labels : int
        Classes that are no joins, class 0 included.
    vectors : float array (n_classes, width)
        Weights of each class, learned without a hierarchy.
    all_levels : bool
        Join all siblings; False: only labels.

    Examples
    --------
    >>> joined((-1, 0, 0, 0), 4, np.array([[0, 0], [1, 0], [-1, 1], [2, 1]]), all_levels=True)
    (-1, 4, 0, 4, 0)
    """
    parents, columns = list(tree), list(vectors.astype(np.float64))
    for parent in range(len(tree)):
        siblings = [k for k, above in enumerate(tree) if above == parent]
        free = [k for k in siblings if all_levels or 0 < k < n_labels]
        for _ in range(min(len(free) - 1, len(siblings) - 2)):
            first, second = _most_similar(free, columns)
            free = [k for k in free if k not in (first, second)] + [len(parents)]
            parents[first] = parents[second] = len(parents)
            parents.append(parent)
            columns.append(columns[first] + columns[second])
    return tuple(parents)


def _most_similar(classes: Sequence[int], columns: Sequence[NDArray[np.float64]]) -> Tree:
    units = [columns[k] / (np.linalg.norm(columns[k]) or 1.0) for k in classes]
    pairs = [(i, j) for i in range(len(classes)) for j in range(i + 1, len(classes))]
    i, j = max(pairs, key=lambda pair: float(units[pair[0]] @ units[pair[1]]))
    return classes[i], classes[j]


def top_down(tree: Tree) -> Iterator[int]:
    """All classes, each behind its parent."""
    level = [-1]
    while level:
        level = [k for k, parent in enumerate(tree) if parent in level]
        yield from level


def members(tree: Tree, n_labels: int) -> NDArray[np.bool_]:
    """Labels of each class, bool (n_classes, n_labels); class 0 has all but label 0.

    Where there is a single label, class 0 may be the only one.
    """
    found = np.zeros((len(tree), n_labels), bool)
    found[0, 1:] = True
    for label in range(1, min(n_labels, len(tree))):
        k = label
        while k > 0:
            found[k, label] = True
            k = tree[k]
    return found
