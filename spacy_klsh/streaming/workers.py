"""Who turns tasks into parts on this machine: this process, or several."""

from __future__ import annotations

import hashlib
import os
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from multiprocessing.resource_tracker import ensure_running
from pathlib import Path
from threading import Thread

from .jobs import Job, one_thread
from .parts import Part, delete_unfinished, whole_file
from .tasks import Task

MAX_DEATHS = 3
AHEAD = 4

Finished = Iterator[tuple[Task, Part]]
Engine = Callable[[Job, Iterable[Task], Path], Finished]


class WorkerError(RuntimeError):
    """A worker could not do its task."""


def part_path(folder: Path, job: Job, task: Task) -> Path:
    """Where the part of `task` is: its name tells apart what other runs might leave behind."""
    key = hashlib.sha256(repr((job, task.piece)).encode(errors="surrogatepass")).hexdigest()
    return folder / f"{task.number:09d}-{key[:16]}.part"


def finished_part(path: Path) -> Part | None:
    """The part in `path`, if it is there and whole."""
    try:
        return Part.read(path)
    except (FileNotFoundError, ValueError):
        return None


def in_this_process(job: Job, tasks: Iterable[Task], folder: Path) -> Finished:
    """Each task with its part in `folder`, one after the other."""
    for task in tasks:
        path = part_path(folder, job, task)
        if finished_part(path) is None:
            with whole_file(path) as file:
                job.write(task, file)
        yield task, Part.read(path)


def in_processes(n_workers: int) -> Engine:
    """An engine of `n_workers` processes; each writes the parts of its tasks by itself."""

    def parts(job: Job, tasks: Iterable[Task], folder: Path) -> Finished:
        crew = Crew(job, folder, n_workers)
        try:
            yield from crew.parts(tasks)
        finally:
            crew.stop()

    return parts


@dataclass
class Worker:
    """A process, the line to it, and what it is at."""

    process: BaseProcess
    line: Connection
    task: Task | None = None


class Crew:
    """Worker processes; one that dies is replaced, and its task done again.

    The processes are spawned: a forked one would share locks of threads that it does not have.
    """

    def __init__(self, job: Job, folder: Path, n_workers: int) -> None:
        self.job = job
        self.folder = folder
        self.deaths: Counter[int] = Counter()
        self.workers = [self._started() for _ in range(n_workers)]

    def parts(self, tasks: Iterable[Task]) -> Finished:
        """Each task with its part, in order; no more than some tasks are ahead of the oldest."""
        stream = iter(tasks)
        order: list[Task] = []
        done: dict[int, Part] = {}
        while True:
            self._employ(stream, order, done)
            if not order:
                return
            if order[0].number in done:
                task = order.pop(0)
                yield task, done.pop(task.number)
            else:
                self._listen(done)

    def _employ(self, stream: Iterator[Task], order: list[Task], done: dict[int, Part]) -> None:
        for worker in self.workers:
            while worker.task is None and len(order) < AHEAD * len(self.workers):
                task = next(stream, None)
                if task is None:
                    return
                order.append(task)
                part = finished_part(part_path(self.folder, self.job, task))
                if part is not None:
                    done[task.number] = part
                else:
                    self._give(worker, task)

    def _give(self, worker: Worker, task: Task) -> None:
        worker.task = task
        try:
            worker.line.send(task)
        except OSError:
            self._bury(worker)

    def _listen(self, done: dict[int, Part]) -> None:
        lines = {worker.line: worker for worker in self.workers if worker.task is not None}
        for line in wait(list(lines)):
            worker = lines[line]  # type: ignore[index]
            try:
                error = worker.line.recv()
            except (EOFError, OSError):
                self._bury(worker)
                continue
            if error is not None:
                raise error
            if worker.task is not None:
                path = part_path(self.folder, self.job, worker.task)
                done[worker.task.number] = Part.read(path)
                worker.task = None

    def _bury(self, worker: Worker) -> None:
        """Put another process in the place of a dead one, with its task."""
        self._clear(worker)
        task = worker.task
        fresh = self._started()
        self.workers[self.workers.index(worker)] = fresh
        if task is None:
            return
        self.deaths[task.number] += 1
        if self.deaths[task.number] >= MAX_DEATHS:
            first = next((text.place for text in task.piece.read()), "nothing")
            raise WorkerError(
                f"{MAX_DEATHS} worker processes died (exit code {worker.process.exitcode}) of the "
                f"texts from {first} on; is there memory enough? Take those texts out, or less "
                "with --batch-size or --n-process, and go on with --resume."
            )
        self._give(fresh, task)

    def _started(self) -> Worker:
        context = get_context("spawn")
        ours, theirs = context.Pipe()
        arguments = (self.job, self.folder, theirs)
        process = context.Process(target=_work, args=arguments, daemon=True)
        with deaf(), one_thread():
            process.start()
        theirs.close()
        return Worker(process, ours)

    def stop(self) -> None:
        """End all processes; what they were at is lost, what they finished is not."""
        for worker in self.workers:
            worker.line.close()
            worker.process.kill()
            self._clear(worker)

    def _clear(self, worker: Worker) -> None:
        """Wait for the end of a process, and take away the part that it was at."""
        worker.process.join()
        if worker.task is not None:
            path = part_path(self.folder, self.job, worker.task)
            delete_unfinished(self.folder, path.name)


@contextmanager
def deaf() -> Iterator[None]:
    """Processes started meanwhile never hear Ctrl-C, which reaches all; this one does later."""
    if sys.platform == "win32":
        yield
        return
    ensure_running()  # would end the deafness if it came later
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _work(job: Job, folder: Path, line: Connection) -> None:
    """A worker's life: tasks come in on the `line`; None goes out for each, or the error."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # where there is no mask to inherit
    Thread(target=_end_with_parent, daemon=True).start()
    while True:
        try:
            task = line.recv()
        except EOFError:
            return
        try:
            with whole_file(part_path(folder, job, task)) as file:
                job.write(task, file)
        except Exception as error:
            line.send(_sendable(error))
            return
        line.send(None)


def _sendable(error: Exception) -> Exception:
    known = isinstance(error, OSError | ValueError | ImportError)
    if known and type(error).__module__ == "builtins":
        return error
    return WorkerError(f"{type(error).__name__}: {error}")


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
