"""Who turns tasks into parts on many machines: workers of a Dask cluster."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from concurrent.futures import CancelledError
from contextlib import ExitStack
from importlib.util import find_spec
from io import BytesIO
from logging import CRITICAL
from pathlib import Path
from typing import TYPE_CHECKING

from .jobs import Job
from .parts import Part, whole_file
from .tasks import Task
from .workers import (
    MAX_DEATHS,
    Engine,
    Finished,
    WorkerError,
    deaf,
    finished_part,
    part_path,
)

if TYPE_CHECKING:
    from distributed import Client, Future, LocalCluster

ENVIRONMENT = "distributed.nanny.pre-spawn-environ"
TRIM = "MALLOC_TRIM_THRESHOLD_"  # memory that goes back to the system at once is slow to have again
AHEAD = 4  # tasks a worker thread: what a slow one holds up, the others do meanwhile


def on_cluster(scheduler: str | None, n_workers: int) -> Engine:
    """An engine of Dask workers; their parts travel back as bytes.

    A worker that dies costs nothing: Dask gives its tasks to others.

    Parameters
    ----------
    scheduler : str, optional
        Address of a cluster whose workers find the model, and the inputs, under the same
        names; None: `n_workers` processes on this machine.
    n_workers : int

    Raises
    ------
    ImportError
        If Dask is not installed.
    """
    if find_spec("distributed") is None:
        raise ModuleNotFoundError(
            "--engine dask needs dask.distributed, which is not installed; `python -m pip install "
            '"spacy-klsh[dask]"`.'
        )

    def parts(job: Job, tasks: Iterable[Task], folder: Path) -> Finished:
        from distributed import Client

        with ExitStack() as stack:
            address = scheduler or stack.enter_context(_local_cluster(n_workers))
            yield from _parts(stack.enter_context(Client(address)), job, tasks, folder)

    return parts


def _local_cluster(n_workers: int) -> LocalCluster:
    from dask import config
    from distributed import LocalCluster

    own = {name: value for name, value in config.get(ENVIRONMENT).items() if name != TRIM}
    deaths = 0
    while True:
        try:
            with deaf(), config.set({ENVIRONMENT: own}):
                return LocalCluster(
                    n_workers=n_workers,
                    threads_per_worker=1,
                    host="127.0.0.1",
                    dashboard_address="127.0.0.1:0",
                    silence_logs=CRITICAL,  # errors of tasks come back as exceptions
                )
        except RuntimeError as error:  # a worker died before it had begun
            deaths += 1
            if deaths == MAX_DEATHS:
                raise WorkerError(f"no Dask workers could be started ({error}).") from error


def _parts(client: Client, job: Job, tasks: Iterable[Task], folder: Path) -> Finished:
    ahead: deque[tuple[Task, Future[bytes] | None]] = deque()
    for task in tasks:
        ready = finished_part(part_path(folder, job, task)) is not None
        ahead.append((task, None if ready else client.submit(_bytes_of, job, task, pure=False)))
        if len(ahead) >= AHEAD * max(1, sum(client.nthreads().values())):
            yield _oldest(ahead, job, folder)
    while ahead:
        yield _oldest(ahead, job, folder)


def _oldest(
    ahead: deque[tuple[Task, Future[bytes] | None]], job: Job, folder: Path
) -> tuple[Task, Part]:
    from distributed import KilledWorker

    task, future = ahead.popleft()
    path = part_path(folder, job, task)
    if future is not None:
        try:
            content = future.result()
        except (KilledWorker, CancelledError) as error:
            raise WorkerError(f"{error} What is finished is kept for --resume.") from error
        with whole_file(path) as file:
            file.write(content)
    return task, Part.read(path)


def _bytes_of(job: Job, task: Task) -> bytes:
    content = BytesIO()
    job.write(task, content)
    return content.getvalue()
