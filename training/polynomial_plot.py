"""Draws what the expansion of polynomial kernel machines costs and saves, as SVG."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from learning_curve_plot import COLORS, GREY, SETTINGS, import_pyplot


def draw(rows: list[dict[str, float]], exact_f1: float, path: Path) -> None:
    """Write changed decisions, F1 and megabytes over sigma.

    Parameters
    ----------
    rows : list of dict
        With sigma, changed, f1 and bytes, sigmas rising.
    exact_f1 : float
        F1 without expansion, drawn as a dashed line.
    path : Path
        Of the SVG.
    """
    plt = import_pyplot()
    sigmas = [row["sigma"] for row in rows]
    with plt.rc_context({**SETTINGS, "svg.hashsalt": "polynomial"}):
        figure, axes = plt.subplots(1, 3, figsize=(12, 3.6), layout="constrained")
        panel(axes[0], sigmas, [100 * row["changed"] for row in rows], "% of decisions changed")
        panel(axes[1], sigmas, [row["f1"] for row in rows], "F1 of candidates")
        axes[1].axhline(exact_f1, color=GREY, linestyle="--", linewidth=1)
        axes[1].annotate(
            "exact",
            (1, exact_f1),
            (0, 4),
            ("axes fraction", "data"),
            "offset points",
            ha="right",
            color=GREY,
        )
        panel(axes[2], sigmas, [row["bytes"] / 1e6 for row in rows], "MB of item sets")
        axes[2].set_yscale("log")
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, format="svg", metadata={"Date": None, "Creator": None})
        plt.close(figure)


def panel(axes: Any, sigmas: list[float], values: list[float], title: str) -> None:
    """Draw the line of one figure; sigma 0 stands at the left end of the scale."""
    axes.plot(sigmas, values, "o-", color=COLORS[1], markersize=5, linewidth=2)
    axes.set_xscale("symlog", linthresh=min((s for s in sigmas if s > 0), default=1.0))
    axes.set_xlabel("sigma (log scale)")
    axes.set_ylabel(title)
    axes.grid(axis="y", color="#dddddd", linewidth=0.8)
    axes.spines[["top", "right"]].set_visible(False)
