"""A run: tasks through an engine, their parts in order to where they belong."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO

from .. import __version__
from .checkpoint import State, opened
from .counts import Counts
from .engine import Settings
from .follow import Place, check_follow, follow
from .inputs import Source, files_of, list_sources
from .jobs import Job, hash_of, language_of
from .options import Options, packing_of
from .outputs import To
from .parts import copy_bytes, to_line
from .progress import Pace
from .sinks import Sink, sink_for
from .sources import plan
from .tasks import TASK_BYTES, Task, tasks
from .texts import Reject
from .workers import Engine, in_this_process

Tell = Callable[[Reject], None]


@dataclass(frozen=True)
class Order:
    """What is to be annotated, how, by whom, and where to.

    Parameters
    ----------
    model : str
        Package or path of the pipeline.
    inputs : sequence of str
    reading : Options
    settings : Settings
    engine : Engine
        What `spacy_klsh.streaming.workers` and `spacy_klsh.streaming.cluster` make.
    output : Path, optional
        None: a stream.
    resume, overwrite : bool
        See `spacy_klsh.streaming.checkpoint.opened`.
    to : To
        Format of the output.
    task_bytes : int
        Input between two checkpoints, and what a worker does at a time.
    follow : bool
        Wait for lines to be appended to the only input; the output grows with it, and stays
        to be resumed.
    idle : float, optional
        Seconds to wait for a line to follow; None: for ever.

    Raises
    ------
    ValueError
        If that cannot be.
    """

    model: str
    inputs: Sequence[str]
    reading: Options
    settings: Settings
    engine: Engine = in_this_process
    output: Path | None = None
    resume: bool = False
    overwrite: bool = False
    to: To = To.jsonl
    task_bytes: int = TASK_BYTES
    follow: bool = False
    idle: float | None = None

    def __post_init__(self) -> None:
        if self.idle is not None and not self.follow:
            raise ValueError("--idle ends --follow; add that.")
        if self.follow:
            if len(self.inputs) != 1 or self.engine is not in_this_process:
                raise ValueError("--follow takes one file and one process; give no more of them.")
            if self.to is not To.jsonl:
                raise ValueError(f"{self.to.value} cannot grow; --follow writes JSONL.")
            check_follow(self.inputs[0], self.reading)

    def tasks(self, done: int = 0, place: Any = None) -> Iterator[Task]:
        """What there is to do, behind `done` tasks of which the last one left `place`."""
        if self.follow:
            begin = Place(*place) if done else Place()
            yield from follow(self.inputs[0], self.reading, self.task_bytes, begin, idle=self.idle)
            return
        for task in tasks(self.inputs, self.reading, self.task_bytes):
            if task.number == done - 1 and task.place != place:
                raise ValueError(
                    "the input that can be read only once gives other texts than before; give it "
                    "the same ones, or start anew with --overwrite."
                )
            yield task


def about(order: Order, job: Job, sources: Sequence[Source]) -> dict[str, Any]:
    """What the answers of a run depend on, to be found unchanged when it is resumed."""
    return {
        "software": {name: version(name) for name in ("spacy", "numpy", "numba")}
        | {"spacy-klsh": __version__, "python": sys.version.split()[0]},
        "model": {"SHA-256": job.sha256},
        "options": {"settings": repr(job.settings), "reading": repr(order.reading)}
        | {"task_bytes": order.task_bytes},
        "inputs": {source.name: _stamp(order, source) for source in sources},
    }


def carry_out(order: Order, pace: Pace, *, stream: BinaryIO, tell: Tell) -> None:
    """Annotate all inputs.

    Parameters
    ----------
    order : Order
    pace : Pace
        Is told of all that is done.
    stream : binary file
        Takes the records if there is no output file.
    tell : callable
        Takes the rejects if there is no output file.

    Raises
    ------
    OSError
        If something cannot be read or written; see also `opened`.
    ValueError
        If the model is none of ours; see also `opened`.
    WorkerError
        If workers die again and again of the same texts.
    """
    sources = list_sources(order.inputs, order.reading)
    pace.total = None if order.follow else total_bytes(sources)
    job = Job(order.model, hash_of(order.model), order.settings)
    if order.output is not None:
        _into_journal(order, order.output, job, pace, sources)
    elif order.engine is in_this_process and not order.follow:
        _as_they_come(order, job, pace, stream, tell)
    else:
        _into_stream(order, job, pace, stream, tell)


def _into_journal(
    order: Order, output: Path, job: Job, pace: Pace, sources: Sequence[Source]
) -> None:
    modes = {"resume": order.resume, "overwrite": order.overwrite, "in_place": order.follow}
    with opened(output, about(order, job, sources), **modes) as journal:
        pace.skip(journal.state.counts)
        if not journal.state.complete:
            rest = _rest(order, journal.state, pace)
            for task, part in order.engine(job, rest, journal.folder):
                journal.append(part, place=task.place)
                pace(journal.state.counts, task.n_bytes)
        if not order.follow:
            journal.finish(_sink(order))


def _sink(order: Order) -> Sink | None:
    return None if order.to is To.jsonl else sink_for(order.to, language_of(order.model))


def _rest(order: Order, state: State, pace: Pace) -> Iterator[Task]:
    for task in order.tasks(state.tasks, state.place):
        if task.number < state.tasks:
            pace.skip(pace.counts, task.n_bytes)
        else:
            yield task


def _into_stream(order: Order, job: Job, pace: Pace, stream: BinaryIO, tell: Tell) -> None:
    """Records of all parts to `stream`; what workers need on disk is temporary."""
    counts = Counts()
    with TemporaryDirectory(prefix="spacy-klsh-") as folder:
        for task, part in order.engine(job, order.tasks(), Path(folder)):
            with part.path.open("rb") as file:
                copy_bytes(file, stream, part.records)
                stream.flush()
                for line in file.read(part.rejects).splitlines():
                    tell(Reject(**json.loads(line)))
            part.path.unlink()
            counts += part.counts
            pace(counts, task.n_bytes)


def _as_they_come(order: Order, job: Job, pace: Pace, stream: BinaryIO, tell: Tell) -> None:
    """Records to `stream` batch by batch, without any file: for pipes between programs."""
    counts = Counts()
    shards = plan(order.inputs, order.reading)
    texts = chain.from_iterable(shard.read(job.pipeline()) for shard in shards)
    for result in job.annotate(texts):
        counts.add(result)
        if isinstance(result, Reject):
            tell(result)
        else:
            stream.write(to_line(result.record))
            stream.flush()
        pace(counts, 0)


def total_bytes(sources: Iterable[Source]) -> int | None:
    """Bytes of all sources, if they are plain files, where that says how far a run is."""
    total = 0
    for source in sources:
        if source.n_bytes is None or packing_of(source.name):
            return None
        total += source.n_bytes
    return total


def _stamp(order: Order, source: Source) -> list[int | None]:
    """Size and time of change (ns) of a file, with the text that it annotates, if any."""
    if order.follow:
        return []
    times = (file.stat().st_mtime_ns for file in files_of(source.name, order.reading))
    return [source.n_bytes, max(times, default=None)]
