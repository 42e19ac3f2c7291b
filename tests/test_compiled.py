"""What is compiled once is found by the next process, wherever it may be written."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import strategies

import spacy_klsh

PACKAGE = Path(spacy_klsh.__file__).parent
GRAM = """
import spacy_klsh
from spacy_klsh import Structures, SubsequenceKernel
paths = {"path": Structures.from_symbols([[("dep=", "lemma=a"), ("dep=x<", "lemma=b")], []])}
print(SubsequenceKernel().gram(paths, paths).tolist(), spacy_klsh.__file__)
"""
pytestmark = pytest.mark.skipif(not strategies.JIT, reason="nothing is compiled")


def start(code, folder=None, **environment):
    environment = {k: str(v) for k, v in {**os.environ, **environment}.items()}
    command = [sys.executable, "-c", code]
    return subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True)


def finish(process):
    output, _ = process.communicate()
    assert process.returncode == 0
    return output


def compiled_in(folder):
    return {path for path in folder.rglob("*.nbc")}


def test_two_first_processes_at_once_fill_one_cache(tmp_path):
    both = [start(GRAM, NUMBA_CACHE_DIR=tmp_path) for _ in range(2)]
    outputs = [finish(process) for process in both]
    assert outputs[0] == outputs[1] and outputs[0].startswith("[[1.0, 0.0], [0.0, 0.0]]")
    found = compiled_in(tmp_path)
    assert found
    assert finish(start(GRAM, NUMBA_CACHE_DIR=tmp_path)) == outputs[0]
    assert compiled_in(tmp_path) == found


def test_an_install_that_cannot_be_written_compiles_in_every_process(tmp_path):
    """Files in the place of the folders bar even the super-user from writing there."""
    copy = tmp_path / "site" / "spacy_klsh"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    for folder in [copy, *(path for path in copy.rglob("*") if path.is_dir())]:
        (folder / "__pycache__").write_text("no folder")
    barred = tmp_path / "file"
    barred.write_text("no folder")
    output = finish(
        start(
            GRAM,
            folder=tmp_path,
            PYTHONPATH=copy.parent,
            PYTHONDONTWRITEBYTECODE=1,
            HOME=barred / "home",
            XDG_CACHE_HOME=barred / "cache",
            NUMBA_CACHE_DIR="",
        )
    )
    assert output.startswith("[[1.0, 0.0], [0.0, 0.0]]") and str(copy) in output
    assert not compiled_in(tmp_path)


def test_after_warmup_a_model_compiles_nothing_more(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(PACKAGE.parent))  # the same one in both processes
    subprocess.run([sys.executable, "-m", "spacy_klsh", "warmup"], check=True)
    found = compiled_in(tmp_path)
    assert found
    use = Path(__file__).parent / "pipeline" / "use_demo.py"
    subprocess.run([sys.executable, str(use)], check=True)
    assert compiled_in(tmp_path) == found
