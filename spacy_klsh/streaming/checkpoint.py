"""The journal of an output: what is finished of it, and where to go on after any end.

``OUTPUT.unfinished`` is a folder with the records and rejects so far, and a checkpoint that says
how many bytes of them count. Parts are appended, then the checkpoint is replaced: whatever
happens in between, bytes behind those that count are cut off and written again.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO

from .counts import Counts
from .lock import locked
from .parts import Part, delete_unfinished, sync_folder, to_disk, to_line, whole_file
from .sinks import Sink

ABOUT, CHECKPOINT, RECORDS, REJECTS = "about.json", "checkpoint.json", "records.jsonl", "rejects"


@dataclass(frozen=True)
class State:
    """How far a run has come: tasks in the journal, its bytes that count, what is in them."""

    tasks: int = 0
    records: int = 0
    rejects: int = 0
    counts: Counts = field(default_factory=Counts)
    place: Any = None
    complete: bool = False


class Finished(FileExistsError):
    """There is nothing to resume, as the output is there."""


class Journal:
    """Finished parts of a run, in order; made by `opened`."""

    def __init__(self, output: Path, state: State, *, in_place: bool = False) -> None:
        self.output = output
        self.folder = folder_of(output)
        self.state = state
        self._records = output if in_place else self.folder / RECORDS
        rejects = rejects_of(output) if in_place else self.folder / REJECTS
        self._files: tuple[BinaryIO, ...] = ()
        if not state.complete:
            self._files = (
                _cut(self._records, state.records),
                _cut(rejects, state.rejects),
            )

    def append(self, part: Part, *, place: Any = None) -> None:
        """Take over the next part; `place` is where its input ends, for inputs without an end."""
        part.copy(*self._files)
        for file in self._files:
            to_disk(file)
        self._save(
            State(
                self.state.tasks + 1,
                self.state.records + part.records,
                self.state.rejects + part.rejects,
                self.state.counts + part.counts,
                place,
            )
        )
        part.path.unlink()

    def finish(self, sink: Sink | None = None) -> None:
        """Put the output, and the rejects if there are any, in their places.

        Parameters
        ----------
        sink : callable, optional
            Writes records to the output, in another format than that of the journal.
        """
        self.close()
        self._save(replace(self.state, complete=True))
        rejects = self.folder / REJECTS
        if not self.state.rejects:
            rejects_of(self.output).unlink(missing_ok=True)
        elif rejects.exists():
            rejects.replace(rejects_of(self.output))
        if self._records.exists():
            if sink is None:
                self._records.replace(self.output)
            else:
                sink(read_records(self._records), self.output)
                self._records.unlink()
        sync_folder(self.output.parent)
        shutil.rmtree(self.folder)

    def close(self) -> None:
        """Close the files."""
        for file in self._files:
            file.close()

    def _save(self, state: State) -> None:
        with whole_file(self.folder / CHECKPOINT) as file:
            file.write(to_line({**vars(state), "counts": state.counts.to_json()}))
        self.state = state


@contextmanager
def opened(
    output: Path,
    about: Mapping[str, Any],
    *,
    resume: bool = False,
    overwrite: bool = False,
    in_place: bool = False,
) -> Iterator[Journal]:
    """The journal of `output`, new or as an earlier run left it; no other run can have it.

    Parameters
    ----------
    output : Path
    about : mapping of str to JSON
        What the answers depend on (inputs, model, options). It must not change on `resume`.
    resume : bool
        Go on with an unfinished run, if there is one.
    overwrite : bool
        Forget an unfinished run, and replace a finished output in the end.
    in_place : bool
        Records and rejects grow where they belong, and there is no end to `finish`.

    Raises
    ------
    FileExistsError
        If there is an output, or an unfinished run, and it is not said what to do with it;
        `Finished` if there is nothing to resume.
    ValueError
        If anything in `about` has changed since the run that is to be resumed, or if what it
        left is damaged.
    BlockingIOError
        If another run is writing this output.
    """
    folder = folder_of(output)
    begun = (folder / ABOUT).exists()
    if begun and not (resume or overwrite):
        raise FileExistsError(
            f"{output} was begun by a run that did not end ({folder}); go on with --resume, or "
            "start anew with --overwrite."
        )
    for path in (output, rejects_of(output)):
        if path.exists() and not (begun or overwrite):
            if resume and path == output:
                shutil.rmtree(folder, ignore_errors=True)  # what its end was cut short in
                raise Finished(f"{output} is finished: there is nothing to resume.")
            raise FileExistsError(
                f"{path} exists; choose another output, or replace it with --overwrite."
            )
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder):
        if begun and resume:
            _compare(json.loads((folder / ABOUT).read_bytes()), about, output)
            state = _state(folder / CHECKPOINT)
            delete_unfinished(folder)
        else:
            _clear(folder)
            if in_place:
                output.unlink(missing_ok=True)
                rejects_of(output).unlink(missing_ok=True)
            with whole_file(folder / ABOUT) as file:
                file.write(to_line(about))
            state = State()
        journal = Journal(output, state, in_place=in_place)
        try:
            yield journal
        finally:
            journal.close()


def folder_of(output: Path) -> Path:
    """Where an unfinished run for `output` keeps its files."""
    return output.with_name(output.name + ".unfinished")


def rejects_of(output: Path) -> Path:
    """Where documents that failed go."""
    return output.with_name(output.name + ".rejects.jsonl")


def read_records(path: Path) -> Iterator[dict[str, Any]]:
    """The records in a file of JSON lines."""
    with path.open("rb") as file:
        yield from map(json.loads, file)


def _compare(before: Mapping[str, Any], now: Mapping[str, Any], output: Path) -> None:
    for name, value in json.loads(to_line(now)).items():
        if to_line(before.get(name)) != to_line(value):
            raise ValueError(
                f"{name}: {_difference(before.get(name), value)} since the unfinished run for "
                f"{output}; restore what it began with, or start anew with --overwrite."
            )


def _difference(before: Any, now: Any) -> str:
    if isinstance(before, dict) and isinstance(now, dict):
        for key in (*before, *now):
            if key not in now or key not in before:
                return f"{key} {'is gone' if key in before else 'is new'}"
            if before[key] != now[key]:
                return f"{key} changed from {before[key]!r} to {now[key]!r}"
        return "their order changed"
    return f"changed from {before!r} to {now!r}"


def _state(path: Path) -> State:
    if not path.exists():
        return State()
    data = json.loads(path.read_bytes())
    return State(**{**data, "counts": Counts.from_json(data["counts"])})


def _clear(folder: Path) -> None:
    """Delete what an earlier run left; what makes it one is deleted first."""
    (folder / ABOUT).unlink(missing_ok=True)
    for path in folder.iterdir():
        if path.name != "lock":
            path.unlink()


def _cut(path: Path, n_bytes: int) -> BinaryIO:
    """The file `path` with its first `n_bytes`, to be appended to."""
    path.touch()
    if path.stat().st_size < n_bytes:
        raise ValueError(
            f"{path} has {path.stat().st_size} bytes, but the checkpoint counts {n_bytes}; start "
            "anew with --overwrite."
        )
    file = path.open("r+b")
    file.truncate(n_bytes)
    file.seek(n_bytes)
    return file
