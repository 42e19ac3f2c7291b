"""How the time of the kernels of trees grows with the sizes of the two trees that they compare.

The trees are whole sentences of AIMed with a pair of proteins; once as they are, and once as if
all words and edges were alike, which is the most that a kernel can find to do.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from benchmark_kernel import Array, aimed_views, medians
from learning_curve_plot import SETTINGS, import_pyplot
from rich.console import Console
from rich.table import Table

from spacy_klsh.kernels.common_paths import CommonPathsKernel
from spacy_klsh.kernels.graph import GraphKernel
from spacy_klsh.kernels.nodes import NodeKernel
from spacy_klsh.structures import Structures

N_GROUPS, GROUP_SIZE, REPEATS = 8, 60, 5
KERNELS = {"common paths": CommonPathsKernel(), "graph": GraphKernel()}
COLORS = {"common paths": "#c2410c", "graph": "#1f6f9f"}
ALIKE = ", all alike"

Curve = tuple[Array, Array]


def growth(kernel: NodeKernel, trees: Structures) -> Curve:
    """|T1||T2| and processor microseconds of one value, of groups of about equally large trees."""
    order = np.argsort(trees.lengths, kind="stable")
    order = order[trees.lengths[order] > 0]
    groups = [
        trees[np.sort(np.random.default_rng(0).permutation(rows)[:GROUP_SIZE])]
        for rows in np.array_split(order, N_GROUPS)
    ]
    tasks = {
        str(i): (kernel.against({kernel.view: group}), {kernel.view: group})
        for i, group in enumerate(groups)
    }
    seconds = medians(tasks, REPEATS)
    times = [1e6 * seconds[str(i)] / len(group) ** 2 for i, group in enumerate(groups)]
    return np.array([group.lengths.mean() ** 2 for group in groups]), np.array(times)


def exponent(curve: Curve) -> float:
    """Slope of the logarithm of time on that of |T1||T2|; 1: they grow alike."""
    return float(np.polyfit(*np.log(curve), 1)[0])


def all_alike(trees: Structures) -> Structures:
    """Trees of the same shape, of which all words are one, and all edges but those of roots."""
    roots = trees.parents < 0
    nodes = np.full_like(trees.nodes, 2)
    nodes[:, 0] = np.where(roots, 0, 1)
    symbols = ("dep=", "dep=x>", "lemma=a")
    return Structures(nodes, trees.offsets, symbols, np.zeros((3, 0), np.float32), trees.parents)


def curves(sentences: Structures) -> dict[str, Curve]:
    """Curve of each kernel, on trees as they are and with all alike."""
    found = {}
    for name, kernel in KERNELS.items():
        found[name] = growth(kernel, sentences)
        found[name + ALIKE] = growth(kernel, all_alike(sentences))
    return found


def main(
    corpora: Annotated[Path, typer.Argument(help="Folder with ppi/.")],
    svg: Annotated[Path | None, typer.Option(help="Draw the curves here.")] = None,
) -> None:
    """Print, and draw if wanted, microseconds of one value over |T1||T2|."""
    if svg is not None:
        import_pyplot()  # a missing library shows now, not at the end
    found = curves(aimed_views(corpora, names=("sentence",))["sentence"])
    table = Table(title="Microseconds of one kernel value, by |T1||T2|")
    for column in ("", "exponent", "smallest", "largest"):
        table.add_column(column, justify="right" if column else "left")
    for name, curve in found.items():
        ends = [f"{curve[1][k]:,.1f} at {curve[0][k]:,.0f}" for k in (0, -1)]
        table.add_row(name, f"{exponent(curve):.2f}", *ends)
    Console(width=110).print(table)
    if svg is not None:
        draw(found, svg)


def draw(found: dict[str, Curve], path: Path) -> None:
    """Write the curves as SVG, both axes logarithmic, beside a line that grows like |T1||T2|."""
    plt = import_pyplot()
    with plt.rc_context({**SETTINGS, "svg.hashsalt": "tree growth"}):
        figure, axes = plt.subplots(figsize=(6.5, 4.3), layout="constrained")
        for name, (sizes, times) in found.items():
            kernel = name.removesuffix(ALIKE)
            axes.plot(
                sizes,
                times,
                "o-" if kernel == name else "o--",
                color=COLORS[kernel],
                label=name,
                markersize=4,
            )
        sizes, lowest = found["graph"][0], min(times[0] for _, times in found.values())
        axes.plot(sizes, lowest * sizes / sizes[0], ":", color="#555555", label="as |T1||T2|")
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.minorticks_off()
        axes.set_xticks([300, 1000, 3000, 7000])
        axes.xaxis.set_major_formatter("{x:,.0f}")
        axes.yaxis.set_major_formatter("{x:g}")
        axes.set_xlabel("|T1||T2|, nodes (log scale)")
        axes.set_ylabel("µs of one value (log scale)")
        axes.grid(axis="y", color="#dddddd", linewidth=0.8)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, format="svg", metadata={"Date": None, "Creator": None})
        plt.close(figure)


if __name__ == "__main__":
    typer.run(main)
