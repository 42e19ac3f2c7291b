"""Put a trained demonstration model where `spacy_klsh.load_demo` finds it."""

from __future__ import annotations

from pathlib import Path

import spacy
import typer

from spacy_klsh.pipeline.demo import DEMO, ship


def main(model: Path) -> None:
    """Copy the component of MODEL into the package."""
    ship(spacy.load(model))
    size = sum(file.stat().st_size for file in DEMO.iterdir())
    typer.echo(f"{DEMO}: {size / 1e6:.2f} MB")


if __name__ == "__main__":
    typer.run(main)
