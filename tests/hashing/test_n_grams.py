import os
import subprocess
import sys

import naive_features as naive
import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

from spacy_klsh.hashing.n_grams import MAX_WIDTH, NGramFeatures
from spacy_klsh.views import take

EDGES = ("dep=", "dep=nsubj<", "dep=dobj>", "role=head", "role=tail")
WORDS = ("lemma=bind", "lemma=cat", "label=ORG")
TAGS = ("pos=NOUN", "label=ORG")
WIDTHS = st.sampled_from((1, 7, 1000, MAX_WIDTH))


def path(n_attributes, max_size=6):
    columns = (EDGES, WORDS, TAGS)[: n_attributes + 1]
    return st.lists(st.tuples(*map(st.sampled_from, columns)), max_size=max_size)


@st.composite
def problems(draw):
    """Candidates as words by view, how many attributes they have, and settings."""
    n_attributes = draw(st.integers(1, 2))
    names = draw(st.sampled_from([("path",), ("between", "path"), ("a", "b", "c")]))
    n = draw(st.integers(0, 4))
    rows = {name: [draw(path(n_attributes)) for _ in range(n)] for name in names}
    lengths = {name: draw(st.integers(1, 5) | st.just(2**40)) for name in names}
    framed = tuple(draw(st.sets(st.sampled_from(names))))
    skips = {name: draw(st.integers(0, 4) | st.just(2**40)) for name in framed}
    settings = {"max_lengths": lengths, "with_ends": framed, "max_skips": skips}
    settings["width"] = draw(WIDTHS)
    return rows, n_attributes, settings


def packed(rows, n_attributes):
    return {
        name: strategies.pack(paths, n_attributes=n_attributes + 1) for name, paths in rows.items()
    }


def sets(features):
    return [set(features.columns[a:b]) for a, b in zip(*bounds(features), strict=True)]


def bounds(features):
    return features.offsets[:-1], features.offsets[1:]


@strategies.THOROUGH
@given(problems())
def test_columns_are_those_of_tuples_of_hashes(problem):
    rows, n_attributes, settings = problem
    found = NGramFeatures(**settings)(packed(rows, n_attributes))
    assert found.width == settings["width"]
    candidates = [dict(zip(rows, paths, strict=True)) for paths in zip(*rows.values(), strict=True)]
    assert sets(found) == [
        naive.columns(paths, n_attributes=n_attributes, **settings) for paths in candidates
    ]


@strategies.QUICK
@given(problems(), st.data())
def test_a_candidate_has_the_same_columns_in_any_batch(problem, data):
    rows, n_attributes, settings = problem
    views, make = packed(rows, n_attributes), NGramFeatures(**settings)
    n = len(next(iter(views.values())))
    order = data.draw(st.permutations(range(n)))
    cut = data.draw(st.integers(0, n))
    whole = sets(make(views))
    parts = [order[:cut], order[cut:]]
    found = [row for part in parts for row in sets(make(take(views, np.array(part, int))))]
    assert found == [whole[i] for i in order]


def one(*nodes, **settings):
    """Columns of one path, as a set."""
    settings = {"max_lengths": {"path": 3}, "max_skips": {}, "width": MAX_WIDTH, **settings}
    views = {"path": strategies.pack([list(nodes)], n_attributes=len(nodes[0]) if nodes else 2)}
    (found,) = sets(NGramFeatures(**settings)(views))
    return found


A, B, C = ("dep=", "lemma=a"), ("dep=x>", "lemma=b"), ("dep=", "lemma=c")


def test_n_grams_run_over_edges_and_nodes():
    # a, x, b, c: 4 single items, 3 pairs, 2 triples, the whole, the length
    assert len(one(A, B, C)) == 4 + 3 + 2 + 1 + 1
    assert len(one(A, B, C, max_lengths={"path": 4})) == 4 + 3 + 2 + 1 + 1
    assert len(one(A, B, C, max_lengths={"path": 1})) == 4 + 1 + 1
    assert len(one(A)) == 2 and len(one()) == 1


def test_pairs_have_at_most_so_many_items_between_them():
    plain = one(A, B, C)  # a, x, b, c
    assert len(one(A, B, C, max_skips={"path": 1}) - plain) == 2  # a b, x c
    assert len(one(A, B, C, max_skips={"path": 2}) - plain) == 3  # a c
    assert one(A, B, C, max_skips={"path": 9}) == one(A, B, C, max_skips={"path": 2})
    assert one(A, B, C, max_skips={"path": 0, "after": 3}) == plain


def test_a_role_is_one_item_with_its_node():
    head, other = ("role=head", "lemma=a"), ("role=tail", "lemma=a")
    assert len(one(head)) == 2
    assert len(one(head) & one(other)) == len(one(head) & one(A)) == 1  # the length alone


def test_order_matters_but_to_single_items():
    assert len(one(A, C) & one(C, A)) == 3  # a, c, the length


def test_what_attributes_share_stands_there_once():
    twice = one(("dep=x>", "label=P", "label=P"))
    assert twice == one(("dep=x>", "label=P"))
    assert one(("dep=x>", "lemma=a", "pos=N")) == one(("dep=x>", "lemma=a")) | one(
        ("dep=x>", "pos=N")
    )


def test_a_view_has_columns_of_its_own():
    views = dict.fromkeys(("path", "after"), strategies.pack([[A, B]]))
    path, after = (
        sets(NGramFeatures(max_lengths={name: 2}, max_skips={}, width=MAX_WIDTH)(views))[0]
        for name in views
    )
    assert path and not path & after
    make = NGramFeatures(max_lengths={"after": 2, "path": 2}, max_skips={}, width=MAX_WIDTH)
    (both,) = sets(make(views))
    assert both == path | after


@pytest.mark.parametrize(
    ("n", "m", "same"), [(0, 1, 0), (1, 2, 0), (2, 3, 1), (3, 4, 0), (4, 7, 1)]
)
def test_lengths_are_told_apart_on_a_scale(n, m, same):
    b = ("dep=", "lemma=b")
    assert len(one(*[A] * n) & one(*[b] * m)) == same


def test_no_candidates_have_no_features():
    views = {"path": strategies.pack([])}
    found = NGramFeatures(max_lengths={"path": 3})(views)
    assert (len(found), found.columns.dtype, found.offsets.tolist()) == (0, np.int32, [0])


PROGRAM = """
from spacy_klsh.hashing.n_grams import NGramFeatures
from spacy_klsh.structures import Structures
words = [[("dep=", "lemma=a"), ("dep=x>", "lemma=ü"), ("role=tail", "label=\\ud800")], []]
views = {"path": Structures.from_symbols(words)}
print(NGramFeatures(max_lengths={"path": 2}, max_skips={"path": 2})(views).columns.tolist())
"""


@pytest.mark.skipif(not strategies.JIT, reason="numpy would warn of overflow")
def test_another_process_gives_the_same_columns():
    """Numbers, so that they stay those of saved models for ever."""
    first = [134266, 194325, 377762, 429546, 439989, 487558, 561874, 620772, 742663]
    expected = [*first, 835284, 843958, 871794, 417940]
    for seed in ("1", "2"):
        env = {**os.environ, "PYTHONHASHSEED": seed}
        program = [sys.executable, "-c", PROGRAM]
        found = subprocess.run(program, env=env, capture_output=True, text=True, check=True)
        assert found.stdout.strip() == str(expected)


def test_a_missing_view_is_named():
    with pytest.raises(ValueError, match=r"the views \['after'\], but only \['path'\] were"):
        NGramFeatures(max_lengths={"path": 1, "after": 1})({"path": strategies.pack([])})


@pytest.mark.parametrize("width", [0, -1, MAX_WIDTH + 1])
def test_a_width_out_of_range_is_refused(width):
    with pytest.raises(ValueError, match=rf"width is {width}; give one in 1\.\.16777216"):
        NGramFeatures(max_lengths={"path": 1}, width=width)


@pytest.mark.parametrize("max_lengths", [{}, {"path": 0}, {"path": 3, "after": -1}])
def test_lengths_below_1_are_refused(max_lengths):
    with pytest.raises(ValueError, match="give a view or more, with at least 1 item"):
        NGramFeatures(max_lengths=max_lengths)


def test_skips_below_0_are_refused():
    with pytest.raises(ValueError, match="give at least 0 items each"):
        NGramFeatures(max_lengths={"path": 1}, max_skips={"path": -1})


def test_the_views_are_those_of_the_lengths():
    assert NGramFeatures(max_lengths={"after": 1, "path": 2}).views == ("after", "path")
