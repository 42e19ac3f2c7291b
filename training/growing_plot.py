"""Draws what more training candidates cost as SVG."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from learning_curve_plot import SETTINGS, import_pyplot

COLORS = ("#c2410c", "#b8860b", "#1f6f9f", "#555555")

Row = dict[str, Any]


def draw(rows: list[Row], n_test: int, path: Path) -> None:
    """Write seconds of training and prediction over the number of training candidates.

    Parameters
    ----------
    rows : list of dict
        With method, size, train_s and predict_s, sizes rising.
    n_test : int
        Candidates that are predicted.
    path : Path
        Of the SVG; white behind, so that it is legible on any page.
    """
    plt = import_pyplot()
    with plt.rc_context({**SETTINGS, "svg.hashsalt": "growing"}):
        figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.3), layout="constrained")
        lines = curves(left, rows, "train_s", "seconds of training")
        curves(right, rows, "predict_s", f"seconds to predict {n_test:,}")
        figure.legend(handles=lines, loc="outside upper center", ncols=len(lines), frameon=False)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, format="svg", metadata={"Date": None, "Creator": None})
        plt.close(figure)


def curves(axes: Any, rows: list[Row], time: str, title: str) -> list[Any]:
    """Draw one line a method, both axes logarithmic."""
    lines = []
    for method, color in zip(dict.fromkeys(row["method"] for row in rows), COLORS, strict=True):
        points = [(row["size"], row[time]) for row in rows if row["method"] == method]
        style = {"color": color, "markersize": 5, "linewidth": 2}
        lines += axes.plot(*zip(*points, strict=True), "o-", label=method, **style)
    ticks = sorted({row["size"] for row in rows})
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks(ticks, [f"{size:,}" for size in ticks])
    axes.minorticks_off()
    axes.yaxis.set_major_formatter("{x:g}")
    axes.set_xlabel("candidates in training (log scale)")
    axes.set_ylabel(f"{title} (log scale)")
    axes.grid(axis="y", color="#dddddd", linewidth=0.8)
    axes.spines[["top", "right"]].set_visible(False)
    return lines
