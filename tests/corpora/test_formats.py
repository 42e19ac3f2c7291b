import subprocess
import sys
from typing import Literal

import pytest

from spacy_klsh.corpora import formats
from spacy_klsh.corpora.formats import FORMATS, Format, find_format, words


def read_made_up(
    paths,
    nlp,
    *,
    align="split",
    text: str | None = None,
    size: int = 3,
    strict: bool = False,
    kind: Literal["a", "b"] = "a",
    depth: int | None = None,
    ends: Literal["c", "d"] | None = None,
):
    """A reader."""


@pytest.fixture
def made_up(monkeypatch):
    monkeypatch.setattr(formats, "read_made_up", read_made_up, raising=False)
    return Format("formats:read_made_up", "made up")


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_can_be_used(name, nlp, tmp_path):
    (tmp_path / "empty.txt").write_text("")
    docs, _ = find_format(name).read(tmp_path / "empty.txt", nlp, align="split")
    assert docs == []
    for option in FORMATS[name].options.values():
        words(option.kind)
    assert FORMATS[name].about and "\n" not in FORMATS[name].about


def test_options_are_what_the_reader_takes(made_up):
    defaults = {name: option.default for name, option in made_up.options.items()}
    assert defaults == {
        "text": None,
        "size": 3,
        "strict": False,
        "kind": "a",
        "depth": None,
        "ends": None,
    }


def test_options_have_the_annotated_types(made_up):
    settings = ["text=a=b", "size=7", "strict=True", "kind=b", "depth=2", "ends=c"]
    assert made_up.parse(settings) == {
        "text": "a=b",
        "size": 7,
        "strict": True,
        "kind": "b",
        "depth": 2,
        "ends": "c",
    }
    assert made_up.parse([]) == {}


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("size=many", "option size is 'many'; give NUMBER."),
        ("depth=", "option depth is ''; give NUMBER."),
        ("strict=1", "option strict is '1'; give true|false."),
        ("kind=c", "option kind is 'c'; give a|b."),
        (
            "text",
            "option 'text': expected one of text=TEXT, size=NUMBER, .*depth=NUMBER, ends=c|d.",
        ),
        ("align=drop", "option 'align=drop': expected one of text"),
    ],
)
def test_wrong_options(made_up, setting, message):
    with pytest.raises(ValueError, match=message.replace("|", "[|]")):
        made_up.parse([setting])


def test_unknown_format():
    with pytest.raises(ValueError, match="format is 'xml'; choose one of jsonl, "):
        find_format("xml")


def test_the_table_imports_no_reader():
    code = "import sys, spacy_klsh.corpora.formats; sys.exit('spacy' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
