"""A config imports the kernel that it uses, and no other one."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import spacy_klsh

BASES = {"kernel", "nodes"}  # what kernels have in common
FOLDER = Path(spacy_klsh.__file__).parent / "kernels"
KERNELS = {
    path.stem
    for path in FOLDER.glob("*.py")
    if re.search(r"^class \w+Kernel\b", path.read_text(), re.MULTILINE)
} - BASES
IMPORTS = """
import inspect, json, sys
import spacy
from spacy_klsh.pipeline import kernel_makers

def kernels():
    return {name.rpartition(".")[2] for name in sys.modules if "spacy_klsh.kernels." in name}

def of(make):
    for name in kernels():
        del sys.modules[f"spacy_klsh.kernels.{name}"]
    kernel = make()
    homes = {kind.__module__.rpartition(".")[2] for kind in type(kernel).__mro__}
    return sorted(homes), sorted(kernels())

def required(maker):
    return [p for p in inspect.signature(maker).parameters.values() if p.default is p.empty]

makers = {name: maker for name, maker in vars(kernel_makers).items() if name.startswith("make_")}
learned = lambda: makers["make_subsequence_kernel"](learn_weights=True)
found = {
    "the default": of(lambda: spacy.blank("xx").add_pipe("klsh_relations").hashing.kernel),
    "learned": of(learned),
    "none within": of(lambda: makers["make_combined_kernel"](kernels={"path": None})),
    **{name: of(maker) for name, maker in makers.items() if not required(maker)},
}
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def imports():
    """Where the class of a kernel and its bases are at home, and what is imported with it."""
    output = subprocess.run([sys.executable, "-c", IMPORTS], capture_output=True, check=True).stdout
    return {
        name: [KERNELS.intersection(modules) for modules in both]
        for name, both in json.loads(output).items()
    }


def test_a_config_imports_its_own_kernel_alone(imports):
    assert imports["the default"] == [{"subsequence"}, {"subsequence"}]
    assert imports["learned"] == [{"subsequence", "learned"}] * 2
    assert [name for name, (own, imported) in imports.items() if own != imported] == []


def test_every_kernel_has_a_maker(imports):
    assert set().union(*(own for own, _ in imports.values())) == KERNELS
