"""Who turns tasks into parts on many machines: workers of a Dask cluster."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from io import BytesIO
from logging import CRITICAL
from pathlib import Path
from typing import TYPE_CHECKING

from .jobs import Job, one_thread
from .parts import Part, whole_file
from .tasks import Task
from .workers import Engine, Finished, WorkerError, finished_part, part_path

if TYPE_CHECKING:
    from distributed import Client, Future

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
    try:
        import distributed
    except ImportError as error:
        raise ImportError(
            "--engine dask needs dask.distributed, which is not installed; run `python -m pip "
            'install "spacy-klsh[dask]"`.'
        ) from error

    def parts(job: Job, tasks: Iterable[Task], folder: Path) -> Finished:
        one_thread()
        if scheduler is None:
            with (
                distributed.LocalCluster(
                    n_workers=n_workers,
                    threads_per_worker=1,
                    dashboard_address=None,
                    silence_logs=CRITICAL,  # errors of tasks come back as exceptions
                ) as cluster,
                distributed.Client(cluster) as client,
            ):
                yield from _parts(client, job, tasks, folder)
        else:
            with distributed.Client(scheduler) as client:
                yield from _parts(client, job, tasks, folder)

    return parts


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
        except KilledWorker as error:
            raise WorkerError(f"{error} Go on with --resume.") from error
        with whole_file(path) as file:
            file.write(content)
    return task, Part.read(path)


def _bytes_of(job: Job, task: Task) -> bytes:
    content = BytesIO()
    job.write(task, content)
    return content.getvalue()
