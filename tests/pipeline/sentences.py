"""Parsed Docs by hand, and a small component that learns from them in no time."""

import numpy as np
import spacy
from spacy.tokens import Doc, Span
from spacy.training import Example

from spacy_klsh import Relation, RelationExtractor, register_extensions

PEOPLE = ("Ada", "Bo", "Cy", "Dee", "Eli")
FIRMS = ("Lumen", "Orbit", "Quill", "Tern")
PATTERNS = (  # word:dep:governor; P is a person, O an organization; label of P -> O
    ("P:nsubj:1 founded:ROOT:1 O:dobj:1 .:punct:1", "FOUNDED"),
    ("P:nsubj:1 ignored:ROOT:1 O:dobj:1 .:punct:1", None),
    ("O:nsubj:1 hired:ROOT:1 P:dobj:1 .:punct:1", "WORKS_FOR"),
    ("O:nsubj:1 sued:ROOT:1 P:dobj:1 .:punct:1", None),
    ("O:nsubjpass:2 was:auxpass:2 founded:ROOT:2 by:agent:2 P:pobj:3 .:punct:2", "FOUNDED"),
    ("P:nsubj:1 slept:ROOT:1 near:prep:1 O:pobj:2 .:punct:1", None),
    ("P:nsubj:1 worked:ROOT:1 for:prep:1 O:pobj:2 .:punct:1", "WORKS_FOR"),
)
SMALL = {
    "hashing": {"@misc": "spacy-klsh.klsh.v1", "n_references": 20, "n_bits": 128},
    "classifier": {"@misc": "spacy-klsh.subspace.v1", "n_members": 10, "bits_per_member": 16},
}


def parsed(vocab, *patterns, person="Ada", firm="Lumen"):
    """A Doc of sentences as in `PATTERNS`, with P and O as its entities."""
    words, heads, deps, ents = [], [], [], []
    for pattern in patterns:
        start = len(words)
        for token in pattern.split():
            word, dep, head = token.split(":")
            if word in ("P", "O"):
                ents.append((len(words), "PERSON" if word == "P" else "ORG"))
            words.append({"P": person, "O": firm}.get(word, word))
            heads.append(start + int(head))
            deps.append(dep)
    doc = Doc(vocab, words=words, heads=heads, deps=deps)
    doc.ents = [Span(doc, i, i + 1, label=label) for i, label in ents]
    return doc


def annotated(vocab, *numbers, **names):
    """The sentences of these numbers in `PATTERNS` with gold relations."""
    register_extensions()
    doc = parsed(vocab, *(PATTERNS[i][0] for i in numbers), **names)
    relations = []
    for i, sentence in zip(numbers, doc.sents, strict=True):
        person, firm = sorted(sentence.ents, key=lambda span: span.label_, reverse=True)
        if PATTERNS[i][1]:
            relations.append(Relation(PATTERNS[i][1], head=person, tail=firm))
    doc._.relations = relations
    return doc


def corpus(vocab, n=14):
    """`n` annotated Docs of two sentences each."""
    return [
        annotated(
            vocab,
            i % len(PATTERNS),
            (i * i + 1) % len(PATTERNS),
            person=PEOPLE[i % len(PEOPLE)],
            firm=FIRMS[i % len(FIRMS)],
        )
        for i in range(n)
    ]


def bare(doc):
    """The same Doc without relations."""
    doc = doc.copy()
    doc.user_data = {}
    return doc


def examples(docs):
    return [Example(bare(doc), doc) for doc in docs]


def build(**config):
    """A blank pipeline with a small, untrained component."""
    nlp = spacy.blank("xx")  # no language is built faster
    nlp.add_pipe("klsh_relations", config={**SMALL, **config})
    return nlp


def by_hand(component, **settings):
    """A component like this one, made without a config."""
    return RelationExtractor(
        component.vocab,
        candidates=component.candidates,
        views=component.views,
        features=component.features,
        kernel=component.hashing.kernel,
        hashing=lambda kernel, seed: None,
        classifier=lambda seed: None,
        **settings,
    )


def with_vectors(nlp, scale=1.0):
    """`nlp` with word vectors of three verbs."""
    for i, word in enumerate(("founded", "hired", "joined")):
        nlp.vocab.set_vector(word, np.array([1.0, i * scale], np.float32))
    return nlp


def train(nlp, docs=None):
    docs = corpus(nlp.vocab) if docs is None else docs
    nlp.initialize(lambda: examples(docs))
    return nlp


def places(relations):
    """Labels, offsets and scores, for comparison."""
    return [
        (r.label, r.score, *((role, s.start_char, s.end_char) for role, s in r.arguments.items()))
        for r in relations
    ]


def answers(docs):
    return [(places(doc._.relations), doc._.relations_skipped) for doc in docs]
