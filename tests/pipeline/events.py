"""Parsed sentences with events of two to four arguments, and a component for them."""

import spacy
from pipeline.sentences import SMALL, examples
from spacy.tokens import Doc, Span

from spacy_klsh import Relation, register_extensions

PROTEINS = ("Abr1", "Cop2", "Dun3", "Fel4", "Gri5")
BINDING, ACTIVATION = "Binding", "Activation"
TRIGGERS = {"binds": BINDING, "binding": BINDING, "activates": ACTIVATION}
PATTERNS = (  # word:dep:governor; A, B, C are proteins; events as label and words in roles
    (
        "A:nsubj:1 binds:ROOT:1 B:dobj:1 .:punct:1",
        [(BINDING, {"trigger": "binds", "Theme": "A", "Theme2": "B"})],
    ),
    (
        "A:nsubj:1 activates:ROOT:1 B:dobj:1 .:punct:1",
        [(ACTIVATION, {"trigger": "activates", "Theme": "B", "Cause": "A"})],
    ),
    (
        "A:nsubj:1 eases:ROOT:1 binding:dobj:1 of:prep:2 B:pobj:3 to:prep:2 C:pobj:5 .:punct:1",
        [(BINDING, {"trigger": "binding", "Theme": "B", "Theme2": "C", "Cause": "A"})],
    ),
    ("A:nsubj:1 lacks:ROOT:1 binding:dobj:1 near:prep:2 B:pobj:3 .:punct:1", []),
    (
        "Light:nsubj:1 activates:ROOT:1 B:dobj:1 beside:prep:1 A:pobj:3 .:punct:1",
        [(ACTIVATION, {"trigger": "activates", "Theme": "B"})],
    ),
)
ROLES = {
    "@misc": "spacy-klsh.role_candidates.v1",
    "roles": {
        "trigger": [BINDING, ACTIVATION],
        "Theme": ["Protein"],
        "Theme2": ["Protein"],
        "Cause": ["Protein"],
    },
    "optional": ["Theme2", "Cause"],
    "interchangeable": [["Theme", "Theme2"]],
}


def parsed(vocab, *numbers, shift=0, key=None):
    """A Doc of these sentences with triggers and proteins as entities, and its events as words."""
    words, heads, deps, ents, events = [], [], [], [], []
    for number in numbers:
        pattern, found = PATTERNS[number]
        start, places = len(words), {}
        for token in pattern.split():
            word, dep, head = token.split(":")
            places[word] = len(words)
            if word in TRIGGERS:
                ents.append((len(words), TRIGGERS[word]))
            elif word in ("A", "B", "C"):
                ents.append((len(words), "Protein"))
                word = PROTEINS[("ABC".index(word) + shift) % len(PROTEINS)]
            words.append(word)
            heads.append(start + int(head))
            deps.append(dep)
        events += [
            (label, {role: places[w] for role, w in roles.items()}) for label, roles in found
        ]
    doc = Doc(vocab, words=words, heads=heads, deps=deps)
    spans = [Span(doc, i, i + 1, label=label) for i, label in ents]
    if key is None:
        doc.ents = spans
    else:
        doc.spans[key] = spans
    return doc, events


def annotated(vocab, *numbers, **settings):
    """The same Doc with its events as gold relations."""
    register_extensions()
    doc, events = parsed(vocab, *numbers, **settings)
    spans = {span.start: span for span in [*doc.ents, *doc.spans.get(settings.get("key"), ())]}
    doc._.relations = [
        Relation(label, arguments={role: spans[i] for role, i in roles.items()})
        for label, roles in events
    ]
    return doc


def corpus(vocab, n=15, **settings):
    """`n` annotated Docs of two sentences each."""
    size = len(PATTERNS)
    return [annotated(vocab, i % size, (i * i + 1) % size, shift=i, **settings) for i in range(n)]


def build(**config):
    """A blank pipeline with a small, untrained component."""
    nlp = spacy.blank("xx")
    nlp.add_pipe("klsh_relations", config={**SMALL, "candidates": ROLES, **config})
    return nlp


def train(nlp, docs=None):
    docs = corpus(nlp.vocab) if docs is None else docs
    nlp.initialize(lambda: examples(docs))
    return nlp


def told(relations):
    """Labels and the words in the roles."""
    return [(r.label, {role: span.text for role, span in r.arguments.items()}) for r in relations]
