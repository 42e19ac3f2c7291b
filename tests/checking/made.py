"""Docs with entities and relations by hand, and what is counted in them."""

from ast import literal_eval
from functools import lru_cache

import spacy
from pipeline.sentences import build
from spacy.tokens import Doc, Span

from spacy_klsh import Relation, register_extensions
from spacy_klsh.checking.counts import count
from spacy_klsh.checking.findings import find

TOKENIZER = spacy.blank("xx").tokenizer


def annotated(words, entities, relations, *, starts=(0,), id=None, key=None):
    """A Doc of `words`, with (start, end, label) entities and (label, head, tail) relations.

    `starts` are the tokens that begin a sentence; None: nobody knows.
    """
    register_extensions()
    words = words.split() if isinstance(words, str) else words
    known = None if starts is None else [i in starts for i in range(len(words))]
    doc = Doc(TOKENIZER.vocab, words=words, sent_starts=known)
    spans = [Span(doc, a, b, label=label) for a, b, label in entities]
    if key is None:
        doc.ents = spans
    else:
        doc.spans[key] = spans
    if relations is not None:
        doc._.relations = [
            Relation(label, head=spans[h], tail=spans[t]) for label, h, t in relations
        ]
    if id is not None:
        doc.user_data["id"] = id
    return doc


def pair(label="R", words="Ada met Bo .", **settings):
    """Two entities and how they are related, by no label not at all."""
    entities = [(0, 1, "P"), (2, 3, "P")]
    return annotated(words, entities, [(label, 0, 1)] if label else [], **settings)


def component(**config):
    """A component, the same one each time for the same config."""
    return _component(repr(config))


@lru_cache
def _component(config):
    return build(**literal_eval(config)).get_pipe("klsh_relations")


def counted(docs, **config):
    return count(docs, component(**config), TOKENIZER)


def findings(*data, **config):
    """What is found in lists of Docs, called a, b and so on."""
    parts = {"abc"[i]: counted(docs, **config) for i, docs in enumerate(data)}
    return find(parts, component(**config))


def pairs_block(**settings):
    return {"candidates": {"@misc": "spacy-klsh.entity_pairs.v1", **settings}}
