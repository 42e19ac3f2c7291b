"""The formats of the output, found by the name of a file."""

from __future__ import annotations

from enum import Enum
from importlib.util import find_spec
from pathlib import Path


class To(str, Enum):
    """What the output is."""

    jsonl = "jsonl"
    tsv = "tsv"
    docbin = "docbin"
    brat = "brat"
    sqlite = "sqlite"
    parquet = "parquet"


SUFFIXES = {
    ".jsonl": To.jsonl,
    ".ndjson": To.jsonl,
    ".tsv": To.tsv,
    ".spacy": To.docbin,
    ".sqlite": To.sqlite,
    ".db": To.sqlite,
    ".parquet": To.parquet,
}


BRAT_INDEX = "documents.json"


def find_output(output: Path | None, to: To | None = None) -> To:
    """What `output` is, JSONL if it is standard output.

    Raises
    ------
    ValueError
        If its suffix does not tell, or something else than JSONL should go to standard output.
    ModuleNotFoundError
        If it needs another package.
    FileExistsError
        If it is to be a folder of brat, and there is a folder that is none of ours.
    """
    if output is None:
        if to not in (None, To.jsonl):
            raise ValueError(f"{to.value} cannot go to standard output; name a file with -o.")
        return To.jsonl
    found = to or SUFFIXES.get(output.suffix.lower())
    if found is None:
        raise ValueError(
            f"{output} ends in none of {', '.join(SUFFIXES)}; choose another name, or say what it "
            f"is: --to {'|'.join(To)}."
        )
    if found is To.parquet and find_spec("pyarrow") is None:
        raise ModuleNotFoundError(
            "Parquet needs pyarrow; `python -m pip install spacy-klsh[parquet]`."
        )
    if found is To.brat:
        check_folder(output)
    return found


def check_folder(folder: Path) -> None:
    """Make sure that no files but ours are lost when a folder of brat is written.

    Raises
    ------
    FileExistsError
        If they would be.
    """
    if folder.is_dir() and any(folder.iterdir()) and not (folder / BRAT_INDEX).is_file():
        raise FileExistsError(
            f"the folder {folder} has files of others in it (no {BRAT_INDEX}); name a new one."
        )
