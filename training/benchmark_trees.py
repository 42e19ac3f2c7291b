"""How fast the common-paths kernel is, beside the same recursion in NumPy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import spacy
from benchmark_kernel import (
    BASE,
    N_REFERENCES,
    N_SAMPLE,
    REPEATS,
    Array,
    Compare,
    inverse_roots,
    medians,
    padded,
    read,
    similarity,
)
from spacy.tokens import Doc, Span, Token

from spacy_klsh.kernels.common_paths import CommonPathsKernel
from spacy_klsh.kernels.governed import governed
from spacy_klsh.pipeline.candidates import Candidates, EntityPairs
from spacy_klsh.structures import Structures, Views, take

N_SIZES, N_PARTS = 8, 4
WHOLE = 1000  # deeper than any sentence


def common_paths(corpora: Path) -> dict[str, float]:
    """Kernel values a second of processor time on one core, normalization included.

    The trees are the paths between all pairs of proteins in a sentence of AIMed with the
    dependents of their words. NumPy meets a random sample of them, and so does our kernel
    for the comparison. All take turns, and times are medians. ``exponent`` tells how the
    time of one value grows with the product of the sizes of two trees, here of whole
    sentences, parted by size; ``exponent_all_match`` the same if all their words are alike.
    """
    nlp = spacy.load(BASE, exclude=["ner"])
    candidates = EntityPairs(spans_key="entities")
    docs = list(nlp.pipe(read(nlp, corpora, "AIMed")))
    found = [candidates(doc, ordered=False) for doc in docs]
    kernel, anchored = (CommonPathsKernel(anchors=choice) for choice in ("any", "arguments"))
    views, sentences = ({"subtree": trees(docs, found, depth)} for depth in (1, WHOLE))
    n = len(views["subtree"])
    order = np.random.default_rng(0).permutation(n)
    references, sample = take(views, order[:N_REFERENCES]), take(views, order[-N_SAMPLE:])
    ours, numpy = kernel.against(references), numpy_against(kernel, references)
    tasks = {
        "ours": (ours, views),
        "anchored": (anchored.against(references), views),
        "sample": (ours, sample),
        "numpy": (numpy, sample),
    }
    np.testing.assert_allclose(numpy(sample), ours(sample), rtol=0, atol=1e-5)
    rates = {
        name: len(tasks[name][1]["subtree"]) * N_REFERENCES / seconds
        for name, seconds in medians(tasks, REPEATS).items()
    }
    return {
        "evals_per_s": rates["ours"],
        "evals_per_s_anchored": rates["anchored"],
        "vs_numpy": rates["sample"] / rates["numpy"],
        "numpy_evals_per_s": rates["numpy"],
        "exponent": exponent(kernel, sentences),
        "exponent_all_match": exponent(kernel, all_alike(sentences)),
        "mean_nodes": float(views["subtree"].lengths.mean()),
        "n_candidates": n,
        "n_references": N_REFERENCES,
        "n_sample": N_SAMPLE,
    }


def exponent(kernel: CommonPathsKernel, views: Views) -> float:
    """Slope of the logarithm of time on that of the product of the sizes of two trees."""
    lengths = views["subtree"].lengths
    order = np.argsort(lengths, kind="stable")[np.count_nonzero(lengths == 0) :]
    groups = [take(views, rows) for rows in np.array_split(order, N_SIZES)]
    references = [take(group, np.arange(0, len(group["subtree"]), 7)) for group in groups]
    tasks = {
        str(k): (kernel.against(other), group)
        for k, (group, other) in enumerate(zip(groups, references, strict=True))
    }
    seconds = medians(tasks, REPEATS)
    sizes = [
        [side[k]["subtree"].lengths.mean() for side in (groups, references)] for k in range(N_SIZES)
    ]
    cells = [len(groups[k]["subtree"]) * len(references[k]["subtree"]) for k in range(N_SIZES)]
    times = [seconds[str(k)] / cells[k] for k in range(N_SIZES)]
    return float(np.polyfit(np.log(np.prod(sizes, axis=1)), np.log(times), 1)[0])


def all_alike(views: Views) -> Views:
    """Some of the trees, all of whose words are the same one."""
    some = views["subtree"][::16]
    nodes = some.nodes.copy()
    nodes[:, 1] = 0
    return {"subtree": replace(some, nodes=nodes)}


def trees(docs: Sequence[Doc], candidates: Sequence[Candidates], depth: int) -> Structures:
    """The path of each candidate with the dependents of its words down to a depth."""
    # the view `subtree` with `depth` of ViewExtractor, once it is there
    drawn = [
        list(tree(*(found.entities[row] for row in pair), depth))
        for found in candidates
        for pair in found.arguments.tolist()
    ]
    packed = Structures.from_symbols([[node for node, _ in nodes] for nodes in drawn])
    parents = np.array([parent for nodes in drawn for _, parent in nodes], np.int32)
    return Structures(packed.nodes, packed.offsets, packed.symbols, packed.vectors, parents)


def tree(head: Span, tail: Span, depth: int) -> Iterator[tuple[tuple[str, str], int]]:
    """Nodes of one tree and their parents, the root of `head` first; nothing without a path."""
    ways = [[span.root, *span.root.ancestors] for span in (head, tail)]
    top = next((token for token in ways[0] if token in ways[1]), None)
    if top is None:
        return
    kept = {token for way in ways for token in way[: way.index(top) + 1]}
    while depth and (more := {child for token in kept for child in token.children} - kept):
        kept, depth = kept | more, depth - 1
    labels = {token: span.label_ for span in (head, tail) for token in span}
    place = -1
    waiting: list[tuple[Token, str, int]] = [(head.root, "dep=", place)]
    while waiting:
        token, edge, parent = waiting.pop()
        kept.remove(token)
        word = f"label={labels[token]}" if token in labels else f"lemma={token.lemma_}"
        yield (edge, word), parent
        place += 1
        steps = [(child, f"dep={child.dep_}>", place) for child in token.children]
        steps += [(token.head, f"dep={token.dep_}<", place)]
        waiting += sorted((s for s in steps if s[0] in kept), key=lambda step: -step[0].i)
        if token == tail.root:
            yield ("role=tail", "role=tail"), place
            place += 1


def numpy_against(kernel: CommonPathsKernel, y: Views) -> Compare:
    """NumPy twin of ``kernel.against(y)``: a candidate against many references at once.

    References of similar size are padded to one size and computed together.
    """
    references = governed(y["subtree"], anchored=False).structures
    y_scale = numpy_scale(kernel, references)
    longest = references.lengths.max(initial=0)
    nodes, below = padded(references), np.array(dependents(references, longest))
    parts = [
        (rows, nodes[rows, :size], below[rows, :size, :size])
        for rows in np.array_split(np.argsort(references.lengths), N_PARTS)
        for size in [references.lengths[rows].max(initial=0)]
    ]

    def compare(views: Views) -> Array:
        x = governed(views["subtree"], anchored=False).structures
        gram = np.zeros((len(x), len(references)))
        table = np.pad(similarity(x, references, kernel.threshold), ((0, 0), (0, 1)))
        trees = zip(np.split(x.nodes, x.offsets[1:-1]), dependents(x), strict=True)
        for i, (nodes, own) in enumerate(trees):
            for rows, y_nodes, other in parts:
                gram[i, rows] = numpy_values(*matches(table, nodes, y_nodes), own, other, kernel)
        return gram * numpy_scale(kernel, x)[:, None] * y_scale

    return compare


def matches(table: Array, nodes: Array, y_nodes: Array) -> tuple[Array, Array]:
    """Similarities of nodes and of arcs of one tree and many, (n_trees, n, m)."""
    arcs, *attributes = (
        np.moveaxis(table[nodes[:, k]][:, y_nodes[..., k]], 0, 1) for k in range(nodes.shape[1])
    )
    return sum(attributes) / len(attributes), arcs


def dependents(x: Structures, size: int | None = None) -> list[Array]:
    """1 for a governor and its dependent, float64 (size, size) of each tree; None: its own."""
    out = []
    for parents in np.split(x.parents, x.offsets[1:-1]):
        n = len(parents) if size is None else size
        lower = np.flatnonzero(parents >= 0)
        out.append(np.zeros((n, n)))
        out[-1][parents[lower], lower] = 1.0
    return out


def numpy_scale(kernel: CommonPathsKernel, x: Structures) -> Array:
    """1 / sqrt(K(x, x)), float64 (n,)."""
    values, table = np.zeros(len(x)), similarity(x, x, kernel.threshold)
    trees = zip(np.split(x.nodes, x.offsets[1:-1]), dependents(x), strict=True)
    for i, (nodes, own) in enumerate(trees):
        items = matches(table, nodes, nodes[None])
        values[i] = numpy_values(*items, own, own[None], kernel)[0]
    return inverse_roots(values)


def numpy_values(
    words: Array, arcs: Array, own: Array, other: Array, kernel: CommonPathsKernel
) -> Array:
    """K of one tree and many, float64 (n_trees,).

    Sums over children are products with the matrices `own` (n, n) and `other` (n_trees, m, m).
    """
    up, step = other.transpose(0, 2, 1), kernel.alpha * arcs * words
    down, paths = np.zeros_like(step), step
    while (new := own @ paths @ up).any() and not np.array_equal(new, down):
        down, paths = new, step * (1 + new)
    peaks = down**2 - own @ (paths @ up) ** 2 - (own @ paths) ** 2 @ up + own @ paths**2 @ up
    return np.einsum("pab,pab->p", words, 1 + down + peaks / 2)
