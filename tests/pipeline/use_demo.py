"""Used by test_compiled.py in a process of its own: the shipped model on a Doc made by hand."""

import json

import spacy
from spacy.tokens import Doc, Span

from spacy_klsh.pipeline.demo import CONFIG, DEMO

nlp = spacy.blank("en")
component = nlp.add_pipe("klsh_relations", config=json.loads((DEMO / CONFIG).read_text()))
component.from_disk(DEMO)
doc = Doc(
    nlp.vocab, words=["Ada", "founded", "Lumen"], heads=[1, 1, 1], deps=["nsubj", "ROOT", "dobj"]
)
doc.ents = [Span(doc, 0, 1, label="PERSON"), Span(doc, 2, 3, label="ORG")]
component(doc)
