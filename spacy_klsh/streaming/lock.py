"""One run at a time writes an output."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep every other process out of `folder`; a lock ends with its process, however that ends.

    On Windows, which has no such locks, nothing is locked.

    Raises
    ------
    BlockingIOError
        If another process has it.
    """
    if sys.platform == "win32":
        yield
        return
    import fcntl

    with (folder / "lock").open("wb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise BlockingIOError(
                f"another run is writing to {folder}; wait for it, or choose another output."
            ) from error
        yield
