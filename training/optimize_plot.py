"""Draws what optimization did, and whether its measures predict F1, as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from learning_curve_plot import COLORS, GREY, import_pyplot
from learning_curve_plot import SETTINGS as LOOK

SETTINGS = {**LOOK, "svg.hashsalt": "optimize"}
MEASURES = {
    "I(c:y), 16 latents": "I(c:y) by CorEx with 16 latents, nats",
    "leave one out, 10": "R² of labels with each candidate left out",
}

Row = dict[str, Any]


def draw_correlations(rows: Sequence[Row], n_samples: int, path: Path) -> None:
    """F1 of each configuration over both measures."""
    plt = import_pyplot()
    with plt.rc_context(SETTINGS):
        figure, panels = plt.subplots(1, 2, figsize=(10, 3.9), layout="constrained", sharey=True)
        for axes, (name, title) in zip(panels, MEASURES.items(), strict=True):
            values = np.array([row[f"{name}, {n_samples}"] for row in rows])
            scores = np.array([row["f1"] for row in rows])
            is_path = np.array(["subsequence" in row["config"]["kernel"]["@misc"] for row in rows])
            for chosen, label, color in ((is_path, "paths", COLORS[0]), (~is_path, "trees", GREY)):
                axes.plot(values[chosen], scores[chosen], "o", color=color, label=label, alpha=0.8)
            if np.ptp(values) > 50:
                axes.set_xscale("symlog", linthresh=1.0)
            finish(axes, title, "")
        panels[0].set_ylabel("F1 in cross-validation over documents")
        panels[0].legend(frameon=False)
        save(plt, figure, path)


def draw_search(rows: Sequence[Row], path: Path) -> None:
    """F1 of each configuration in the order in which they were finished, and the best so far."""
    plt = import_pyplot()
    with plt.rc_context(SETTINGS):
        figure, axes = plt.subplots(figsize=(7, 3.9), layout="constrained")
        values = np.array([row["f1"] for row in rows])
        steps = np.arange(1, len(values) + 1)
        axes.plot(steps, values, "o", color=GREY, alpha=0.8, label="one configuration")
        best = np.maximum.accumulate(values)
        axes.step(steps, best, where="post", color=COLORS[0], label="the best so far")
        axes.xaxis.get_major_locator().set_params(integer=True)
        axes.legend(frameon=False)
        finish(axes, "configurations tried", "micro F1 in cross-validation over documents")
        save(plt, figure, path)


def draw_trace(trace: Sequence[Row], sigma: dict[str, float], path: Path) -> None:
    """The objective at every step of a training, and sigma of each edge label if it was learned."""
    plt = import_pyplot()
    steps = [record for record in trace if record["stage"] != "check"]
    with plt.rc_context(SETTINGS):
        figure, (left, right) = plt.subplots(
            1, 2, figsize=(10, 3.9), layout="constrained", width_ratios=(3, 2)
        )
        kinds = dict.fromkeys(record["stage"] for record in steps)
        for stage, color in zip(kinds, (*COLORS, GREY), strict=False):
            places = [k for k, record in enumerate(steps) if record["stage"] == stage]
            values = [steps[k]["objective"] for k in places]
            left.plot(places, values, ".", color=color, label=stage, markersize=4)
        for k, record in enumerate(trace):
            if record["stage"] == "check":
                n_before = sum(other["stage"] != "check" for other in trace[:k])
                left.plot(n_before, record["after"], "D", color="black", markersize=6)
                left.axvline(n_before, color=GREY, linewidth=0.6)
        left.legend(frameon=False)
        finish(left, "step", "objective; diamonds: on other candidates, after a stage")
        changes = [name for record in steps for name in record.get("change", ())]
        names = {name.rpartition("sigma/")[2] for name in changes if "sigma/" in name}
        labels = sorted(names, key=lambda label: (sigma.get(label, 1.0), label))
        right.plot([sigma.get(label, 1.0) for label in labels], labels, "o", color=COLORS[1])
        right.tick_params(axis="y", labelsize=7)
        right.set_xlim(-0.1, 1.1)
        right.set_visible(bool(labels))
        finish(right, "sigma", "edge labels")
        save(plt, figure, path)


def finish(axes: Any, x: str, title: str) -> None:
    """Names and lines of one panel."""
    axes.set_xlabel(x)
    axes.set_title(title, fontsize=11, loc="left")
    axes.grid(color="#dddddd", linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)


def save(plt: Any, figure: Any, path: Path) -> None:
    """Write the SVG, the same file for the same figures."""
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, format="svg", metadata={"Date": None, "Creator": None})
    plt.close(figure)
