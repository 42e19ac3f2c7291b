"""Thresholds for other texts, of which the share of related candidates is known."""

import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from pipeline import sentences
from pipeline.sentences import PATTERNS, annotated, bare, build, corpus, parsed

from spacy_klsh.pipeline.labels import LabelScheme
from spacy_klsh.pipeline.thresholds import match_share, threshold_of_share

SHARE = st.floats(0.01, 1)


@strategies.THOROUGH
@given(st.lists(st.sampled_from([0, 0.1, 0.25, 0.5, 0.75, 1]), min_size=1, max_size=12), SHARE)
def test_no_other_threshold_keeps_a_share_nearer_to_the_wanted_one(scores, share):
    scores = np.array(scores, np.float32)
    threshold = threshold_of_share(scores, share)
    if not scores.any():
        assert threshold == 0.5
        return
    assert 0 < threshold <= scores.max()
    kept = (scores >= np.float32(threshold)).mean()
    possible = [(scores >= score).mean() for score in scores if score > 0]
    assert abs(kept - share) <= min(abs(other - share) for other in possible) + 1e-9


def test_the_threshold_is_half_way_between_what_is_kept_and_what_is_not():
    scores = np.array([0.25, 1.0, 0.5, 0.0], np.float32)
    assert threshold_of_share(scores, 0.5) == 0.375
    assert threshold_of_share(scores, 0.75) == threshold_of_share(scores, 1) == 0.125
    assert threshold_of_share(scores, 0.01) == 0.75


@pytest.mark.parametrize("share", [0, -0.1, 1.1, float("nan"), True, None, "0.5"])
def test_a_share_is_a_number(share):
    with pytest.raises(ValueError, match=r"above 0, and at most 1"):
        threshold_of_share(np.ones(3, np.float32), share)


@strategies.THOROUGH
@given(
    arrays(np.float32, (9, 5), elements=st.sampled_from([0, 0.125, 0.25, 0.5, 1])),
    st.tuples(SHARE, SHARE),
    st.booleans(),
)
def test_labels_have_a_threshold_in_common_or_each_its_own(probabilities, shares, exclusive):
    scheme = LabelScheme(("X", "Y"), direction="label", exclusive=exclusive)
    x, y = (probabilities[:, columns] for columns in ((1, 2), (3, 4)))
    common = match_share(scheme, probabilities, shares[0])
    best = probabilities[:, 1:].max(axis=1)
    assert common == dict.fromkeys("XY", threshold_of_share(best, shares[0]))
    own = match_share(scheme, probabilities, dict(zip("XY", shares, strict=True)))
    is_x = probabilities[:, 1:].argmax(axis=1) < 2
    scores = [
        np.where(chosen | (not exclusive), label.max(axis=1), 0)
        for label, chosen in ((x, is_x), (y, ~is_x))
    ]
    assert own == dict(zip("XY", map(threshold_of_share, scores, shares), strict=True))


@pytest.mark.parametrize("shares", [{}, {"X": 0.1}, {"X": 0.1, "Y": 0.2, "Z": 0.3}])
def test_all_labels_want_a_share(shares):
    with pytest.raises(ValueError, match=r"labels are \['X', 'Y'\]; give each of them one"):
        match_share(LabelScheme(("X", "Y")), np.ones((2, 3), np.float32), shares)


def n_found(component, docs):
    return sum(len(component(doc.copy())._.relations) for doc in docs)


def test_a_share_of_the_candidates_of_unannotated_docs_is_found(copied):
    component = copied.get_pipe("klsh_relations")
    docs = [bare(doc) for doc in corpus(copied.vocab, 21)]
    n = sum(len(component.candidates(doc)) for doc in docs)
    counts = {}
    for share in (0.1, 0.3, 0.6):
        assert component.match_positive_share(iter(docs), share) is component.thresholds
        counts[share] = n_found(component, docs)
    probabilities = [p for doc in docs for p in best(component, doc) if p]
    possible = [sum(p >= least for p in probabilities) for least in {*probabilities, 2.0}]
    for share, found in counts.items():  # as near as equal probabilities allow
        missed_by = [abs(count - share * n) for count in possible]
        assert found in possible and abs(found - share * n) == min(missed_by)
    assert counts[0.1] < counts[0.3] <= counts[0.6]


def best(component, doc):
    """Probability of the best label of each candidate."""
    candidates = component.candidates(doc)
    return component.probabilities(component.views([doc], [candidates]))[:, 1:].max(axis=1)


def test_answers_after_it_do_not_depend_on_the_batch(copied, docs):
    component = copied.get_pipe("klsh_relations")
    component.match_positive_share(docs, {"FOUNDED": 0.2, "WORKS_FOR": 0.1})
    one, many = (
        sentences.answers(component.pipe([doc.copy() for doc in docs], batch_size=size))
        for size in (1, 128)
    )
    assert one == many
    loaded = build().get_pipe("klsh_relations").from_bytes(component.to_bytes())
    assert loaded.thresholds == component.thresholds
    assert sentences.answers([loaded(doc.copy()) for doc in docs]) == one


def test_what_cannot_be_matched(copied):
    untrained = build().get_pipe("klsh_relations")
    with pytest.raises(ValueError, match="is not trained"):
        untrained.match_positive_share([], 0.1)
    component = copied.get_pipe("klsh_relations")
    before = component.thresholds
    lonely = parsed(copied.vocab, "P:ROOT:0")
    for docs, share, match in (
        ([], 0.1, "0 Docs hold 0 candidates"),
        ([lonely], 0.1, "1 Docs hold 0 candidates"),
        ([annotated(copied.vocab, 0)], 17, "positive share is 17"),
        ([annotated(copied.vocab, 0)], {"FOUNDED": 0.1}, "shares are given for"),
    ):
        with pytest.raises(ValueError, match=match):
            component.match_positive_share(docs, share)
    component.threshold = 0.5
    with pytest.raises(ValueError, match=r"sets threshold = 0\.5.*set it to null"):
        component.match_positive_share([parsed(copied.vocab, PATTERNS[0][0])], 0.1)
    assert component.thresholds == before
