"""Kill -9: of the process that annotates, of the whole command, of its workers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

from fault_bench import Bench, Row, collect

from spacy_klsh.streaming.checkpoint import Finished, folder_of
from spacy_klsh.streaming.jobs import hash_of, loaded
from spacy_klsh.streaming.progress import Pace
from spacy_klsh.streaming.runs import Order, carry_out


def killed(bench: Bench, n_kills: int) -> Row:
    """Kill a process that annotates at random moments, and resume it each time.

    It is forked from this one, which has the model, so that the moments are those of work.
    """
    row = Row("kill -9")
    output = bench.folder / "killed.jsonl"
    order = bench.order(output)
    loaded(order.model, hash_of(order.model))
    begin = time.monotonic()
    os.waitpid(forked(order), 0)
    seconds = time.monotonic() - begin
    collect(bench, row, output, 0)
    while row.tried < n_kills or folder_of(output).exists():
        pid = forked(order)
        if row.tried < n_kills:
            time.sleep(bench.rng.uniform(0, seconds))
            os.kill(pid, signal.SIGKILL)
        status = os.waitpid(pid, 0)[1]
        row.tried += os.WIFSIGNALED(status)
        if not os.WIFSIGNALED(status):
            collect(bench, row, output, os.waitstatus_to_exitcode(status))
    return row


def forked(order: Order) -> int:
    """Process id of a child that carries out the order."""
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        with suppress(Finished):
            carry_out(order, Pace(), stream=sys.stdout.buffer, tell=lambda reject: None)
        code = 0
    finally:
        os._exit(code)


def command_killed(bench: Bench, n_kills: int, *options: str) -> Row:
    """Kill the whole command at random moments, and resume it each time."""
    row = Row(" ".join(["kill -9 of the command with", *options]))
    output = bench.folder / "killed.jsonl"
    while row.tried < n_kills:
        process = subprocess.Popen(bench.command(output, *options), stderr=bench.errors)
        try:
            process.wait(bench.rng.uniform(0, bench.seconds))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            row.tried += 1
        else:
            collect(bench, row, output, process.returncode)
    last = subprocess.run(bench.command(output, *options), stderr=bench.errors)
    collect(bench, row, output, last.returncode)
    return row


def worker_killed(bench: Bench, n_tries: int, name: str, *options: str) -> Row:
    """Kill one of two workers at a random moment; the command must end well by itself."""
    row = Row(f"kill -9 of a {name}")
    output = bench.folder / "worker.jsonl"
    while row.tried < n_tries:
        command = bench.command(output, "--n-process", "2", *options)
        process = subprocess.Popen(command, stderr=bench.errors)
        moment = time.monotonic() + bench.rng.uniform(0, bench.seconds)
        while process.poll() is None and (time.monotonic() < moment or not workers(process.pid)):
            time.sleep(0.02)
        victims = workers(process.pid) if process.poll() is None else []
        if victims:
            os.kill(bench.rng.choice(victims), signal.SIGKILL)
            row.tried += 1
        collect(bench, row, output, process.wait())
    return row


def workers(pid: int) -> list[int]:
    """Process ids of the spawned children of a process (on Linux), none when it has ended."""
    found = []
    try:
        for file in Path(f"/proc/{pid}/task").glob("*/children"):
            for child in file.read_text().split():
                if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes():
                    found.append(int(child))
    except OSError:  # something ended meanwhile
        return []
    return found
