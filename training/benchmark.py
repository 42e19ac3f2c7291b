"""Speed, measured side by side on this machine: python training/benchmark.py NAME."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Callable
from enum import Enum
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import typer
from benchmark_classifiers import classifiers
from benchmark_component import component
from benchmark_convert import convert
from benchmark_kernel import kernel
from benchmark_kernels import kernels
from benchmark_optimize import optimize
from benchmark_start import start
from benchmark_streaming import streaming
from benchmark_subspace import subspace
from rich.console import Console
from rich.table import Table
from threadpoolctl import threadpool_limits

CORPORA = Path("../shared/corpora")


class Name(Enum):
    """What can be measured."""

    kernel = "kernel"
    subspace = "subspace"
    component = "component"
    start = "start"
    convert = "convert"
    classifiers = "classifiers"
    kernels = "kernels"
    optimize = "optimize"
    streaming = "streaming"


BENCHMARKS: dict[Name, Callable[[Path], dict[str, float]]] = {
    Name.kernel: kernel,
    Name.subspace: lambda _: subspace(),
    Name.component: component,
    Name.start: lambda _: start(),
    Name.convert: convert,
    Name.classifiers: classifiers,
    Name.kernels: kernels,
    Name.optimize: optimize,
    Name.streaming: streaming,
}
FOLDERS = {
    Name.kernel: "ppi",
    Name.component: "ppi",
    Name.convert: "chemprot",
    Name.classifiers: "chemprot",
    Name.kernels: "ppi",
    Name.optimize: "ppi",
    Name.streaming: "text",
}


def main(
    name: Name,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Write the figures here.")
    ] = None,
    corpora: Annotated[Path, typer.Option(help="Folder with ppi/, chemprot/ …")] = CORPORA,
) -> None:
    """Measure, with one thread for linear algebra; print the figures, and store them if asked."""
    folder = FOLDERS.get(name)
    if folder and not (corpora / folder).is_dir():
        raise typer.BadParameter(f"{corpora} has no folder {folder}; give --corpora PATH.")
    about = machine()
    with threadpool_limits(1):
        figures = BENCHMARKS[name](corpora)
    show(name.value, figures, about)
    if json_file is not None:
        result = {"benchmark": name.value, "figures": figures, "machine": about}
        json_file.parent.mkdir(parents=True, exist_ok=True)
        json_file.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


def machine() -> dict[str, Any]:
    """Where the figures come from; the load average is that of before."""
    packages = {name: version(name) for name in ("numpy", "numba", "spacy")}
    return {
        "cpu": cpu(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        **packages,
        "load_average": [round(load, 2) for load in os.getloadavg()],
    }


def cpu() -> str:
    """Name of the processor."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def show(name: str, figures: dict[str, float], about: dict[str, Any]) -> None:
    """Print the figures as a table, and the machine below."""
    table = Table(
        title=f"Benchmark: {name}", caption=", ".join(f"{k} {v}" for k, v in about.items())
    )
    table.add_column("figure")
    table.add_column("value", justify="right")
    for figure, value in figures.items():
        shown = f"{value:,.0f}" if value == int(value) or abs(value) >= 1000 else f"{value:,.4g}"
        table.add_row(figure, shown)
    Console().print(table)


if __name__ == "__main__":
    typer.run(main)
