"""``spacy-klsh annotate``: texts in, relations out."""

from __future__ import annotations

import errno
import sys
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..streaming.options import PIECE_CHARACTERS, Format, Options, Per
from ..streaming.outputs import To, find_output
from ..streaming.progress import Pace, Show, displayed
from .models import stop

if TYPE_CHECKING:
    from ..streaming.texts import Reject
    from ..streaming.workers import Engine

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
INTERRUPTED = 130


class EngineName(str, Enum):
    """Who does the work."""

    local = "local"
    dask = "dask"


def annotate(
    model: Annotated[str, typer.Argument(help="Pipeline with klsh_relations: package or path.")],
    inputs: Annotated[
        list[str],
        typer.Argument(help="Files, directories, globs, URLs; - is standard input."),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="File (of brat: folder) to write; default: JSONL to standard output.",
        ),
    ] = None,
    to: Annotated[
        To | None, typer.Option(help="What the output is; default: by its suffix.")
    ] = None,
    evidence: Annotated[
        bool, typer.Option("--evidence", help="Write why each relation was predicted.")
    ] = False,
    format: Annotated[
        Format | None, typer.Option(help="What the inputs are; default: by the suffix, else text.")
    ] = None,
    per: Annotated[
        Per | None, typer.Option(help="What is one document; default: line for -, else file.")
    ] = None,
    text_field: Annotated[
        str,
        typer.Option(help="Field or column of the text; a number: column of a table, no header."),
    ] = "text",
    id_field: Annotated[
        str | None, typer.Option(help="Field or column of the id; default: id, else path and line.")
    ] = None,
    encoding: Annotated[
        str | None, typer.Option(help="Of the inputs; default: UTF-8, or what a mark tells.")
    ] = None,
    quotes: Annotated[
        bool, typer.Option(help="Quotation marks enclose cells of CSV and TSV, or mean nothing.")
    ] = True,
    chunk_chars: Annotated[
        int, typer.Option(min=1, help="Longer texts are cut into pieces that end with sentences.")
    ] = PIECE_CHARACTERS,
    batch_size: Annotated[int, typer.Option(min=1, help="Documents in one batch.")] = 128,
    task_bytes: Annotated[
        int,
        typer.Option(min=1, help="Input between two checkpoints: what a worker does at a time."),
    ] = 2**18,
    n_process: Annotated[int, typer.Option(min=1, help="Worker processes.")] = 1,
    engine: Annotated[
        EngineName, typer.Option(help="dask: on a cluster (needs the extra `dask`).")
    ] = EngineName.local,
    scheduler: Annotated[
        str | None,
        typer.Option(help="Address of a Dask scheduler; default: --n-process workers here."),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on where a run ended.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the output.")] = False,
    follow: Annotated[
        bool, typer.Option("--follow", help="Wait for lines to be appended to the only input.")
    ] = False,
    idle: Annotated[
        float | None, typer.Option(min=0, help="Seconds without a line that end --follow.")
    ] = None,
    progress: Annotated[
        Show, typer.Option(help="On standard error; auto: only at a terminal.")
    ] = Show.auto,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Neither progress nor a summary.")
    ] = False,
) -> None:
    """Find relations in texts; writes the training format, or tables, DocBin, brat, SQLite.

    A document that fails goes to OUTPUT.rejects.jsonl (without -o to standard error) with its
    error; the run goes on, and ends with exit code 1. After any other end, --resume goes on.
    """
    if output is None and (resume or overwrite):
        stop("--resume and --overwrite are about an output file; name it with -o.")
    if resume and overwrite:
        stop("--resume goes on and --overwrite starts anew; choose one of them.")
    from ..streaming.checkpoint import Finished
    from ..streaming.engine import Settings
    from ..streaming.runs import Order, carry_out
    from ..streaming.workers import WorkerError

    pace = Pace()
    try:
        order = Order(
            model,
            inputs,
            Options(format, per, text_field, id_field, encoding, quotes),
            Settings(batch_size, evidence, chunk_chars),
            engine=_engine(engine, n_process, scheduler),
            output=output,
            to=find_output(output, to),
            resume=resume,
            overwrite=overwrite,
            task_bytes=task_bytes,
            follow=follow,
            idle=idle,
        )
        with displayed(Show.none if quiet else progress) as pace.display:
            carry_out(order, pace, stream=sys.stdout.buffer, tell=_tell)
    except KeyboardInterrupt:
        typer.echo(f"Interrupted. {_kept(output)}", err=True)
        raise typer.Exit(INTERRUPTED) from None
    except BrokenPipeError:  # whoever reads standard output has enough
        raise
    except Finished as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(0) from None
    except (ValueError, OSError, ImportError, NotImplementedError, WorkerError) as error:
        kept = _kept(output) if getattr(error, "errno", None) in FULL else ""
        stop(f"{error} {kept}".rstrip())
    if not quiet:
        _summarize(pace, output)
    if pace.counts.rejected:
        raise typer.Exit(1)


def _engine(name: EngineName, n_process: int, scheduler: str | None) -> Engine:
    from ..streaming.cluster import on_cluster
    from ..streaming.workers import in_processes, in_this_process

    if name is EngineName.dask:
        return on_cluster(scheduler, n_process)
    if scheduler is not None:
        stop("--scheduler is for --engine dask; add that.")
    return in_this_process if n_process == 1 else in_processes(n_process)


def _tell(reject: Reject) -> None:
    typer.echo(f"rejected {reject.place}: {reject.error}", err=True)


def _kept(output: Path | None) -> str:
    from ..streaming.checkpoint import folder_of

    if output is None:
        return "Nothing is kept: there is no output file (-o)."
    if not folder_of(output).exists():
        return "Nothing was begun."
    return (
        f"What is finished is kept in {folder_of(output)}; go on with the same command and "
        "--resume."
    )


def _summarize(pace: Pace, output: Path | None) -> None:
    from ..streaming.checkpoint import rejects_of

    counts = pace.counts
    skipped = ", ".join(f"{reason} {n:,}" for reason, n in sorted(counts.skipped.items()))
    summary = f"{counts.documents:,} documents, {counts.relations:,} relations"
    if counts.rejected:
        where = "" if output is None else f" (see {rejects_of(output)})"
        summary += f", {counts.rejected:,} rejected{where}"
    typer.echo(
        f"{summary}; skipped: {skipped or 'none'}; {pace.per_second('documents'):,.1f} "
        f"documents/s, {pace.per_second('words'):,.0f} words/s",
        err=True,
    )
