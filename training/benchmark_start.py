"""How long a new process waits for its first relations."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from statistics import median
from tempfile import TemporaryDirectory

REPEATS = 5
TEXT = "Nora Field, who founded Halden Bank in Bristol, was born in Leeds."
PROBE = """
import json, sys, time
begin = time.perf_counter()
import spacy, spacy_klsh
from spacy_klsh.pipeline import demo
nlp = spacy.load(demo.installed_base()) if sys.argv[1] == "base" else spacy_klsh.load_demo()
loaded = time.perf_counter()
nlp(sys.argv[2])
print(json.dumps([loaded - begin, time.perf_counter() - loaded]))
"""


def start() -> dict[str, float]:
    """Wall seconds of a process that loads the demonstration model and calls it once.

    ``base`` is the same without our component; ``empty`` has nothing in numba's cache,
    ``warm`` has what an earlier process left there. Bases and warm starts take turns;
    their times are medians. ``warm_above_base_s`` is load and call together.
    """
    with TemporaryDirectory() as folder:
        empty = probe("demo", folder)
        runs = [(probe("base", folder), probe("demo", folder)) for _ in range(REPEATS)]
    times = [median(column) for column in zip(*(base + warm for base, warm in runs), strict=True)]
    names = ("base_load_s", "base_call_s", "warm_load_s", "warm_call_s")
    return {
        "empty_load_s": empty[0],
        "empty_call_s": empty[1],
        **dict(zip(names, times, strict=True)),
        "warm_above_base_s": median(sum(warm) - sum(base) for base, warm in runs),
    }


def probe(what: str, cache: str) -> list[float]:
    """Seconds until a new process has loaded, and of its first call."""
    result = subprocess.run(
        [sys.executable, "-c", PROBE, what, TEXT],
        env={**os.environ, "NUMBA_CACHE_DIR": cache},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    times: list[float] = json.loads(result.stdout)
    return times
