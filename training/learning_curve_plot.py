"""Draws the learning curve as SVG."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

COLORS, GREY = ("#c2410c", "#1f6f9f"), "#666666"
SETTINGS = {
    "svg.hashsalt": "learning curve",  # the same file for the same figures
    "svg.fonttype": "none",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 11,
}

Row = dict[str, Any]


def import_pyplot() -> Any:
    """``matplotlib.pyplot``.

    Raises
    ------
    ModuleNotFoundError
        If matplotlib is not installed.
    """
    try:
        import matplotlib.pyplot as plt
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "drawing needs matplotlib, which is not installed; run "
            'python -m pip install "spacy-klsh[plot]", or leave out --svg.'
        ) from error
    return plt


def draw(rows: list[Row], every_pair: float, path: Path) -> None:
    """Write F1 and ROC AUC over the number of relations, with a band of ± sd.

    Parameters
    ----------
    rows : list of dict
        With model, size, f1, f1_sd, auc and auc_sd, sizes rising.
    every_pair : float
        F1 of calling every pair related.
    path : Path
        Of the SVG; white behind, so that it is legible on any page.
    """
    plt = import_pyplot()
    with plt.rc_context(SETTINGS):
        figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.9), layout="constrained")
        curve(left, rows, "f1", "F1 on held-out documents", "every pair related", every_pair)
        curve(right, rows, "auc", "ROC AUC on held-out documents", "guessing", 0.5)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, format="svg", metadata={"Date": None, "Creator": None})
        plt.close(figure)


def curve(
    axes: Any, rows: list[Row], score: str, title: str, floor_name: str, floor: float
) -> None:
    """Draw the lines of one score, and a dashed one for what needs no training."""
    for model, color in zip(dict.fromkeys(row["model"] for row in rows), COLORS, strict=True):
        of_model = [row for row in rows if row["model"] == model]
        sizes, means, sd = np.array([(r["size"], r[score], r[f"{score}_sd"]) for r in of_model]).T
        axes.plot(sizes, means, "o-", color=color, markersize=5, linewidth=2)
        axes.fill_between(sizes, means - sd, means + sd, color=color, alpha=0.18, linewidth=0)
        name = model.replace(" on ", "\non ")
        beside(axes, name, (sizes[-1], means[-1]), color, fontweight="bold")
    ticks = sorted({row["size"] for row in rows})
    axes.axhline(floor, color=GREY, linestyle="--", linewidth=1)
    beside(axes, floor_name, (ticks[-1], floor), GREY)
    axes.set_xscale("log")
    axes.set_xticks(ticks, [str(size) for size in ticks])
    axes.minorticks_off()
    axes.set_xlabel("relations in training (log scale)")
    axes.set_ylabel(title)
    axes.grid(axis="y", color="#dddddd", linewidth=0.8)
    axes.spines[["top", "right"]].set_visible(False)


def beside(axes: Any, text: str, point: tuple[float, float], color: str, **style: Any) -> None:
    """Write `text` to the right of `point`."""
    axes.annotate(
        text, point, (14, 0), textcoords="offset points", va="center", color=color, **style
    )
