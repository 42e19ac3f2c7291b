"""The first example and the config blocks of the README, as printed."""

import contextlib
import inspect
import io
import json
import re
from pathlib import Path

import pytest
import spacy
from spacy.util import registry
from thinc.config import Config

from spacy_klsh.pipeline import classifier_makers, kernel_makers
from spacy_klsh.pipeline.meta import _settings

README = Path(__file__).parent.parent / "README.md"
TEXT = README.read_text("utf-8")
BLOCKS = re.findall(r"```ini\n(.*?)```", TEXT, re.S)
OUTER = "[components]\n[components.klsh_relations]\n"  # where a block is only a part of one


@pytest.fixture(scope="module")
def first_example():
    """What the first example of the README prints, and the evidence of its third relation."""
    code, printed = re.search(
        r"```python\n(import spacy_klsh.*?)```\n\nprints\n\n```\n(.*?)```", TEXT, re.S
    ).groups()
    scope, out = {}, io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(code, scope)
    return printed, out.getvalue(), str(scope["doc"]._.relations[2].evidence)


def test_the_first_example_prints_what_it_says(first_example):
    printed, found, evidence = first_example
    assert found == printed
    assert f"```\n{evidence}\n```" in TEXT


def made(block):
    """The component that a block makes, its config as printed, and as it was taken."""
    outer = OUTER if "[components.klsh_relations]" not in block else "[components]\n"
    outer = "[components]\n" if "klsh_tokens" in block else outer
    ((name, printed),) = Config().from_str(outer + block)["components"].items()
    printed.pop("factory", None)
    nlp = spacy.blank("en")
    component = nlp.add_pipe(name, config=printed)
    return component, printed, nlp.config["components"][name]


@pytest.mark.parametrize("block", BLOCKS)
def test_a_config_block_makes_its_component(block):
    _, printed, taken = made(block)
    assert printed and within(printed, taken)


def within(printed, taken):
    """Whether all settings are as printed, those of blocks in blocks too."""
    if not isinstance(printed, dict):
        return printed == taken
    return all(key in taken and within(value, taken[key]) for key, value in printed.items())


def test_the_settings_are_the_defaults():
    (block,) = (block for block in BLOCKS if "n_evidence" in block)
    component, printed, _ = made(block)
    default = spacy.blank("en").add_pipe("klsh_relations")
    assert _settings(component) == _settings(default)
    assert component.candidates == default.candidates
    for name in ("attr", "threshold", "calibration", "n_evidence", "on_error"):
        assert printed[name] == getattr(default, name)


MAKERS = dict(
    re.findall(r"^\| `(spacy-klsh\.\w+\.v1)` \|.*\| (.*) \|$", README.read_text("utf-8"), re.M)
)


SHOWN_ABOVE = {"spacy-klsh.linear.v1", "spacy-klsh.subsequence_kernel.v1"}
SHOWN_BELOW = {"spacy-klsh.combined_kernel.v1"}


def defaults(name):
    parameters = inspect.signature(registry.misc.get(name)).parameters.values()
    return {p.name: p.default for p in parameters if p.default is not p.empty}


@pytest.mark.parametrize("name", sorted(set(MAKERS) - SHOWN_ABOVE - SHOWN_BELOW))
def test_the_tables_of_classifiers_and_kernels_show_all_defaults(name):
    shown = dict(re.findall(r"`(\w+) = ([^`]*)`", MAKERS[name]))
    expected = defaults(name)
    if "kernel" in name:
        shared = defaults("spacy-klsh.subsequence_kernel.v1").items()
        expected = {key: value for key, value in expected.items() if (key, value) not in shared}
    assert {key: json.loads(value) for key, value in shown.items()} == expected


def test_the_tables_have_every_classifier_and_kernel():
    makers = {**vars(classifier_makers), **vars(kernel_makers)}
    found = {maker for maker in makers if maker.startswith("make_")}
    shown = {name.removeprefix("spacy-klsh.").removesuffix(".v1") for name in MAKERS}
    assert {f"make_{name}" for name in shown} == found - {"make_logistic"}
