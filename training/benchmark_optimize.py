"""How long choosing references and sigma takes, beside refitting everything for every choice."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from copy import copy
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import spacy
from benchmark_kernel import BASE, read
from code_table import VIEWS
from joblib import parallel_config
from numpy.typing import NDArray
from optimize_correlation import SAMPLES, correlation, drawn, measured
from ppi import SETTINGS
from scipy.stats import spearmanr
from spacy.language import Language
from tokens import as_examples, parsed

from spacy_klsh import register_extensions
from spacy_klsh.hashing.klsh import KLSH
from spacy_klsh.kernels.subsequence import SubsequenceKernel
from spacy_klsh.optimization.exchange import Exchange
from spacy_klsh.optimization.information import MutualInformation
from spacy_klsh.optimization.kernel_parameters import sigma_slots
from spacy_klsh.optimization.leave_one_out import LeaveOneOut
from spacy_klsh.optimization.objective import Objective
from spacy_klsh.optimization.reference import Pool, choose_references, judged
from spacy_klsh.optimization.search import metropolis
from spacy_klsh.pipeline.optimizing import label_ids
from spacy_klsh.pipeline.policy import automatic
from spacy_klsh.pipeline.training import TrainingSet, collect
from spacy_klsh.views import Views, concat_views, take

N_REFERENCES, N_BITS, N_CANDIDATES, N_SAMPLES = 100, 1000, 1000, 300
FEW, STEPS = 200, 3  # choices a step and steps that refitting everything has time for
N_CONFIGURATIONS = 40
PAPER = "I(c:y), 16 latents"
OURS = f"leave one out, {LeaveOneOut().penalty:g}"

Labels = NDArray[np.int64]


def optimize(corpora: Path) -> dict[str, float]:
    """Seconds on the wall with two threads, ratios in one thread, and rank correlations.

    Paths of BioInfer, the settings of Garg et al. 2019: 100 references, 1,000 bits, 1,000 choices
    a step, 300 samples. Rank correlations with F1 are those of AIMed.
    """
    register_extensions()
    nlp = spacy.load(BASE, exclude=["ner"])
    data = candidates(nlp, corpora, "BioInfer")
    views, y = {"path": data.views["path"]}, label_ids(data.y)
    figures = {"n_candidates": float(len(y))}
    for name, measure in (("", LeaveOneOut()), ("_mutual_information", MutualInformation())):
        with parallel_config("threading", n_jobs=2):
            figures[f"algorithm1{name}_s"] = seconds(
                choose_references(fitted(views), views, y, objective=measure)
            )
        logging.info("%s", figures)
    walk = {"n_samples": N_SAMPLES, "n_steps": 300, "patience": 300}
    kernel = SubsequenceKernel()
    slots = sigma_slots(kernel, views)
    figures["n_edge_labels"] = float(len(slots))
    figures["sigma_s"] = seconds(metropolis(fitted(views), views, y, slots, LeaveOneOut(), **walk))
    figures |= against_naive(views, y)
    figures |= held_latents(views, y)
    logging.info("%s", figures)
    aimed = candidates(nlp, corpora, "AIMed")
    return figures | correlations(nlp, aimed)


def candidates(nlp: Language, corpora: Path, name: str) -> TrainingSet:
    """What training would see of a corpus of proteins."""
    component = nlp.create_pipe("klsh_relations", config={**SETTINGS, "views": VIEWS})
    data = collect(component, as_examples(parsed(nlp, read(nlp, corpora, name))), None)
    return data.without(automatic(component.candidates, data.seldom_related()))


def fitted(views: Views) -> KLSH:
    """A hashing with random references."""
    return KLSH(SubsequenceKernel(), n_references=N_REFERENCES, n_bits=N_BITS).fit(views)


def seconds(steps: Iterator[Any]) -> float:
    """On the wall, until all is done."""
    began = perf_counter()
    for _ in steps:
        pass
    return perf_counter() - began


def against_naive(views: Views, y: Labels) -> dict[str, float]:
    """Times that refitting everything takes, for few choices a step, one thread each."""
    ours, twin = fitted(views), fitted(views)
    rng, objective = np.random.default_rng([0, 2]), LeaveOneOut()
    sizes = {"n_candidates": FEW, "n_samples": N_SAMPLES, "n_steps": STEPS}
    began = perf_counter()
    records = list(choose_references(ours, views, y, objective=objective, **sizes))
    middle = perf_counter()
    loss = []
    for record in records:
        best, present = naive_step(twin, record, views, y, objective, rng)
        loss.append(best - present - record["gain"])
    ratio = (perf_counter() - middle) / (middle - began)
    return {"vs_naive": ratio, "largest_loss_of_objective": float(np.max(loss))}


def naive_step(
    hashing: KLSH,
    record: dict[str, Any],
    views: Views,
    y: Labels,
    objective: Objective,
    rng: np.random.Generator,
) -> tuple[float, float]:
    """The best objective of all choices of a step, and that of before; then takes ours."""
    pool = Pool.of(hashing, views)
    rows = np.sort(rng.permutation(len(y))[:N_SAMPLES])
    choices = pool.choices(hashing, rng.permutation(len(pool.first))[:FEW])
    samples, old, j = take(views, rows), hashing.reference_, record["reference"]
    values = []
    for row in choices:
        parts = [take(old, slice(j)), take(views, [row]), take(old, slice(j + 1, None))]
        other = copy(hashing).fit_reference(concat_views(parts))
        values.append(objective(other.transform(samples).bits(), y[rows]))
    present = objective(hashing.transform(samples).bits(), y[rows])
    if record["row"] != hashing.reference_rows_[j]:
        hashing.replace(j, take(views, [record["row"]]), record["row"])
    return max(*values, present), present


def held_latents(views: Views, y: Labels) -> dict[str, float]:
    """What is lost by holding CorEx's latents in a step, against fitting on for each choice.

    The share of what the best choice would have gained that ours gains, both with latents that
    were fitted on, and the rank correlation of the two measures over all choices.
    """
    hashing, objective = fitted(views), MutualInformation()
    rng, pool = np.random.default_rng(1), Pool.of(hashing, views)
    shares, agreements = [], []
    for j in range(STEPS):
        rows = np.sort(rng.permutation(len(y))[:N_SAMPLES])
        choices = take(
            pool.views, pool.choices(hashing, rng.permutation(len(pool.first))[: FEW // 2])
        )
        samples = take(views, rows)
        gram = hashing.similarities(samples)
        bits = hashing.encode(gram).bits()
        changing = np.flatnonzero((hashing.subsets_ == j).any(axis=(1, 2)))
        exchange = Exchange.of(hashing, j, changing, choices, samples, gram)
        held = objective.hold(bits, y[rows], changing)
        found, refitted = judged(exchange, held), []
        for choice in range(len(exchange)):
            other = bits.copy()
            other[:, changing] = exchange.bits(choice).T
            refitted.append(objective.hold(other, y[rows], changing, held).value)
        present = objective.hold(bits, y[rows], changing, held).value
        gains = np.array(refitted) - present
        shares.append(gains[found.argmax()] / gains.max())
        agreements.append(float(spearmanr(found, gains).statistic))
    return {
        "share_of_gain_with_held_latents": float(np.mean(shares)),
        "rank_correlation_held_refitted": float(np.mean(agreements)),
    }


def correlations(nlp: Language, data: TrainingSet) -> dict[str, float]:
    """Of two measures with F1 in cross-validation, see `optimize_correlation`."""
    rows = []
    for i in range(N_CONFIGURATIONS):
        rng = np.random.default_rng([0, i])
        rows.append(measured(nlp, data, drawn(rng), rng))
    size = SAMPLES[-1]
    return {
        "mi_f1_rank_correlation": correlation(rows, f"{PAPER}, {size}", "f1"),
        "leave_one_out_f1_rank_correlation": correlation(rows, f"{OURS}, {size}", "f1"),
        "n_configurations": float(N_CONFIGURATIONS),
    }
