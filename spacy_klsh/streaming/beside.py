"""Files and folders that are there whole or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4


@contextmanager
def beside(output: Path) -> Iterator[Path]:
    """A path in the folder of `output`; what is written there takes its place in the end.

    After an exception it is gone, and what was at `output` is still there.
    """
    output.parent.mkdir(parents=True, exist_ok=True)
    name = output.with_name(f"{output.name}.{uuid4().hex}")
    old = name.with_name(f"{name.name}.old")
    try:
        yield name
        if name.is_dir():
            if output.exists():
                output.replace(old)
        else:
            with name.open("rb+") as file:
                os.fsync(file.fileno())
        name.replace(output)
        _remove(old)
    finally:
        _remove(name)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
