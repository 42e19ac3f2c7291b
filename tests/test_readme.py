"""Config blocks of the README, as printed."""

import re
from pathlib import Path

import pytest
import spacy
from thinc.config import Config

from spacy_klsh.pipeline.meta import _settings

README = Path(__file__).parent.parent / "README.md"
BLOCKS = re.findall(r"```ini\n(.*?)```", README.read_text("utf-8"), re.S)
OUTER = "[components]\n[components.klsh_relations]\n"  # where a block is only a part of one


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
    for name, kernel in printed.get("kernel", {}).get("kernels", {}).items():
        combined = taken["kernel"]["kernels"]  # their defaults stand in another block
        combined[name] = {key: combined[name][key] for key in kernel}
    assert printed and {key: taken[key] for key in printed} == printed


def test_the_settings_are_the_defaults():
    (block,) = (block for block in BLOCKS if "n_evidence" in block)
    component, printed, _ = made(block)
    default = spacy.blank("en").add_pipe("klsh_relations")
    assert _settings(component) == _settings(default)
    assert component.candidates == default.candidates
    for name in ("attr", "threshold", "calibration", "n_evidence", "on_error"):
        assert printed[name] == getattr(default, name)
