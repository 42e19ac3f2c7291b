import naive
import numpy as np
import pytest
import strategies
from hypothesis import given

from spacy_klsh.kernels.subsequence import SubsequenceKernel
from spacy_klsh.views import take


def rows(matches):
    """The matches of each pair of paths as tuples."""
    arrays = (matches.own, matches.other, matches.similarity)
    found = list(zip(*(array.tolist() for array in arrays), matches.part, strict=True))
    return [found[a:b] for a, b in zip(matches.offsets, matches.offsets[1:], strict=False)]


@strategies.THOROUGH
@given(strategies.kernel_problems())
def test_matches_are_the_similar_items_by_definition(problem):
    n = min(len(problem.x_words), len(problem.y_words))
    kernel = SubsequenceKernel(**problem.parameters)
    found = rows(kernel.matches(take(problem.x, slice(n)), take(problem.y, slice(n))))
    assert len(found) == n
    for s, t, pair in zip(problem.x_words, problem.y_words, found, strict=False):
        expected = naive.matches(s, t, vectors=problem.vectors, **problem.parameters)
        big = [match for match in expected if match[2] > 1e-6]  # float32 may lose the others
        assert [m[:2] + m[3:] for m in pair if m[2] > 1e-6] == [m[:2] + m[3:] for m in big]
        assert [m[2] for m in pair if m[2] > 1e-6] == pytest.approx([m[2] for m in big], abs=1e-5)


@strategies.THOROUGH
@given(strategies.kernel_problems())
def test_without_matches_there_is_no_similarity_and_the_other_way_round(problem):
    n = min(len(problem.x_words), len(problem.y_words))
    kernel = SubsequenceKernel(**{**problem.parameters, "length_weights": None})
    x, y = take(problem.x, slice(n)), take(problem.y, slice(n))
    gram = np.diag(kernel.gram(x, y))
    assert [len(pair) > 0 for pair in rows(kernel.matches(x, y))] == (gram > 0).tolist()


@strategies.THOROUGH
@given(strategies.kernel_problems())
def test_matches_do_not_depend_on_what_else_is_compared(problem):
    n = min(len(problem.x_words), len(problem.y_words))
    kernel = SubsequenceKernel(**problem.parameters)
    x, y = take(problem.x, slice(n)), take(problem.y, slice(n))
    alone = [rows(kernel.matches(take(x, [i]), take(y, [i])))[0] for i in range(n)]
    assert rows(kernel.matches(x, y)) == alone


def test_no_pairs_have_no_matches():
    words, _ = strategies.corpus(3)
    nothing = {"path": strategies.pack(words, {})[:0]}
    assert rows(SubsequenceKernel().matches(nothing, nothing)) == []
