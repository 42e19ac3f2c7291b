"""Pairs with an entity label that training never saw are skipped and counted."""

import numpy as np
from pipeline import sentences
from spacy.tokens import Span

from spacy_klsh.pipeline.entity_pairs import EntityPairs


def with_date(doc):
    """`doc` with its last token, which is on no path, marked as a DATE."""
    free = len(doc) - 1
    doc.ents = [*doc.ents, Span(doc, free, free + 1, label="DATE")]
    return doc


def test_known_labels_change_nothing(trained):
    doc = sentences.parsed(trained.vocab, sentences.PATTERNS[0][0])
    candidates = EntityPairs()(doc)
    assert candidates.among({"PERSON", "ORG", "GPE"}) is candidates
    assert candidates.entity_labels == {"PERSON", "ORG"}


def test_unknown_labels_are_counted_once_a_pair(trained):
    doc = with_date(sentences.parsed(trained.vocab, sentences.PATTERNS[0][0]))
    candidates = EntityPairs()(doc)
    kept = candidates.among({"PERSON", "ORG"})
    assert (len(candidates), len(kept)) == (6, 2)
    assert kept.skipped == {"untrained_entity_label": 2}
    assert np.array_equal(
        kept.spans, EntityPairs()(sentences.bare(doc)).among({"ORG", "PERSON"}).spans
    )


def test_component_skips_them(copied):
    component = copied.get_pipe("klsh_relations")
    plain = sentences.parsed(copied.vocab, sentences.PATTERNS[0][0])
    dated = with_date(sentences.parsed(copied.vocab, sentences.PATTERNS[0][0]))
    expected = sentences.places(component(plain)._.relations)
    assert expected
    assert sentences.places(component(dated)._.relations) == expected
    assert dated._.relations_skipped == {"untrained_entity_label": 2}


def test_labels_outlive_the_disk(copied, tmp_path):
    component = copied.get_pipe("klsh_relations")
    component.to_disk(tmp_path)
    fresh = sentences.build().get_pipe("klsh_relations").from_disk(tmp_path)
    assert fresh.entity_labels == component.entity_labels == {"PERSON", "ORG"}
