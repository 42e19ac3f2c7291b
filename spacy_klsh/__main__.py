"""``python -m spacy_klsh``: the same as the command ``spacy-klsh``."""

from .cli.app import app

app(prog_name="spacy-klsh")
