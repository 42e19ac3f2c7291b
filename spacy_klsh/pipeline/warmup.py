"""Compile everything once, so that the first call of a model does not have to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import spacy
from spacy.tokens import Doc, Span
from spacy.training import Example

from ..hashing.families import FAMILIES
from .factory import VIEWS
from .relations import Relation, register_extensions

CLASSIFIERS = (
    {"@misc": "spacy-klsh.linear.v1"},
    {"@misc": "spacy-klsh.subspace.v1", "n_members": 2},
)
VERBS = ("founded", "runs", "owns", "visited", "left", "sued")


def warmup(classifiers: Sequence[Mapping[str, Any]] = CLASSIFIERS) -> None:
    """Train and use a tiny component for each family of bits and classifier, without any model.

    numba keeps what it compiles: beside the package, in the user's cache folder, or in
    ``NUMBA_CACHE_DIR``. A process that starts later reads it there.

    Parameters
    ----------
    classifiers : sequence of mapping
        Config blocks; default: the default one and the random subspace ensemble.
    """
    for family, classifier in product(FAMILIES, classifiers):
        nlp = spacy.blank("en")
        config = {
            "views": {"names": [*VIEWS, "subtree"]},
            "hashing": {"family": family, "n_bits": 64},
            "classifier": dict(classifier),
        }
        component = nlp.add_pipe("klsh_relations", config=config)
        docs = [_doc(nlp.vocab, verb, related=i % 2 == 0) for i, verb in enumerate(VERBS)]
        examples = [Example(nlp.make_doc(""), doc) for doc in docs]
        component.initialize(lambda examples=examples: examples)  # type: ignore[attr-defined]
        loaded = spacy.blank("en").add_pipe("klsh_relations", config=config)
        loaded.from_bytes(component.to_bytes())  # type: ignore[attr-defined]
        loaded(docs[0])


def _doc(vocab: spacy.vocab.Vocab, verb: str, *, related: bool) -> Doc:
    register_extensions()
    words: Sequence[str] = ("Ada", verb, "Lumen")
    doc = Doc(vocab, words=list(words), heads=[1, 1, 1], deps=["nsubj", "ROOT", "dobj"])
    doc.ents = [Span(doc, 0, 1, label="PERSON"), Span(doc, 2, 3, label="ORG")]
    head, tail = doc.ents
    doc._.relations = [Relation("RELATED", head=head, tail=tail)] if related else []
    return doc
