import naive
import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st
from kernels.test_matches import rows

from spacy_klsh.hashing.klsh import KLSH
from spacy_klsh.kernels.combine import CombinedKernel
from spacy_klsh.kernels.kernel import learns
from spacy_klsh.kernels.learned import LearnedSubsequenceKernel
from spacy_klsh.kernels.subsequence import SubsequenceKernel
from spacy_klsh.structures import Structures
from spacy_klsh.views import take

VIEWS = ("after", "between", "path")
SIZE = 3


def words(*texts, edge="dep=nsubj<"):
    """Structures with one node a letter."""
    return Structures.from_symbols([[(edge, f"lemma={letter}") for letter in t] for t in texts])


def path_and_between(**settings):
    kernels = {view: SubsequenceKernel(view=view) for view in ("between", "path")}
    return CombinedKernel(kernels=kernels, **settings)


@st.composite
def problems(draw):
    """Candidates in three views, a kernel for each, and how they are combined."""
    sizes = {"min_size": SIZE, "max_size": SIZE, "max_nodes": 3}
    table = draw(strategies.vectors())
    sides = [{view: draw(strategies.paths(2, **sizes))[:SIZE] for view in VIEWS} for _ in range(2)]
    parameters = {view: draw(strategies.kernel_parameters()) for view in VIEWS}
    weights = draw(
        st.none() | st.dictionaries(st.sampled_from(VIEWS), st.sampled_from((0.25, 1.0, 3.0)))
    )
    operation = draw(st.sampled_from(("sum", "product")))
    return sides, table, parameters, weights, operation


def packed(side, table):
    return {view: strategies.pack(paths, table) for view, paths in side.items()}


def made(parameters, weights, operation, names=VIEWS):
    kernels = {name: SubsequenceKernel(view=name, **parameters[name]) for name in names}
    return CombinedKernel(kernels=kernels, weights=weights, operation=operation)


@given(problems())
@strategies.THOROUGH
def test_gram_and_pairs_are_the_combined_values_of_the_kernels(problem):
    (x, y), table, parameters, weights, operation = problem
    kernel = made(parameters, weights, operation)
    gram = kernel.gram(packed(x, table), packed(y, table))
    values, norms = {}, {}
    for view in VIEWS:
        settings = {"vectors": table, **parameters[view]}
        values[view] = naive.subsequence_gram(x[view], y[view], **settings)
        for side in (x, y):
            norms[view, id(side)] = [
                naive.subsequence_value(s, s, **settings) > 0 for s in side[view]
            ]
    for i in range(SIZE):
        for j in range(SIZE):
            expected = naive.combined_value(
                [values[view][i, j] for view in VIEWS],
                [norms[view, id(x)][i] for view in VIEWS],
                [norms[view, id(y)][j] for view in VIEWS],
                weights=[(weights or {}).get(view, 1.0) for view in VIEWS],
                operation=operation,
            )
            assert gram[i, j] == pytest.approx(expected, abs=1e-5)
    own, other = (places.ravel() for places in np.indices((SIZE, SIZE)))
    pairs = kernel.pairs(packed(x, table), packed(y, table), own, other)
    assert gram.dtype == np.float32
    assert naive.same_bits(pairs, gram.ravel())


@given(problems())
@strategies.QUICK
def test_values_depend_neither_on_the_batch_nor_on_the_order_of_the_names(problem):
    (x, y), table, parameters, weights, operation = problem
    x, y = packed(x, table), packed(y, table)
    whole = made(parameters, weights, operation).gram(x, y)
    backwards = made(parameters, weights, operation, VIEWS[::-1])
    alone = [backwards.gram(take(x, [i]), take(y, [j])) for i in range(SIZE) for j in range(SIZE)]
    assert naive.same_bits(np.array(alone).reshape(whole.shape), whole)


@given(problems())
@strategies.QUICK
def test_a_candidate_is_like_itself_where_something_can_be_compared(problem):
    (x, _), _, parameters, weights, operation = problem
    x = packed(x, {})
    kernel = made(parameters, weights, operation)
    filled = kernel.self_values(x) > 0
    np.testing.assert_allclose(np.diag(kernel.gram(x, x)), filled, rtol=1e-6)


@pytest.mark.parametrize(("operation", "expected"), [("sum", 0.5**0.5), ("product", 3**-0.5)])
def test_what_a_view_lacks_on_one_side_alone_counts_as_different(operation, expected):
    kernel = path_and_between(operation=operation)
    x = {"path": words("ab", ""), "between": words("c", "c")}
    gram = kernel.gram(x, x)
    np.testing.assert_allclose(gram, [[1, expected], [expected, 1]], rtol=1e-6)


def test_the_product_is_more_than_the_sum_where_both_are_alike():
    x, y = ({"path": words("ab", "ab"), "between": words("c", b)} for b in ("cc", "dd"))
    y = {"path": x["path"], "between": words("c", "d")}
    together, path_alone = path_and_between(operation="product").gram(x, y)[0]
    assert together == pytest.approx(1)
    assert path_alone == pytest.approx(1 / 3)
    assert path_and_between().gram(x, y)[0].tolist() == pytest.approx([1, 0.5])


def test_weights_count():
    x, y = ({"path": words("a"), "between": words(b)} for b in "cd")
    gram = path_and_between(weights={"path": 3.0}).gram(x, y)
    assert gram.tolist() == [[pytest.approx(0.75)]]


def test_people_are_shown_the_path_whatever_the_names_are():
    kernel = CombinedKernel(
        kernels={
            "a": SubsequenceKernel(view="between"),
            "z": CombinedKernel(kernels={"p": SubsequenceKernel()}),
        }
    )
    assert kernel.views == ("path", "between")
    views = {"path": words("ab"), "between": words("cde")}
    found = rows(kernel.matches(views, views))
    assert found == rows(SubsequenceKernel().matches(views, views))
    assert len(found[0]) > 0


def test_kernels_without_pairs_are_compared_in_whole_grams():
    class Constant(SubsequenceKernel):
        pairs = None

    kernel = CombinedKernel(kernels={"path": Constant()})
    x = {"path": words("ab", "", "c")}
    places = np.array([0, 2, 2]), np.array([2, 0, 2])
    assert kernel.pairs(x, x, *places).tolist() == kernel.gram(x, x)[places].tolist()


def test_references_without_a_path_are_compared_by_what_they_have():
    texts = ("a", "b", "", "", "c", "ab")
    views = {"path": words(*texts), "between": words("x", "x", "x", "", "y", "z", edge="dep=")}
    klsh = KLSH(path_and_between(), n_bits=60).fit(views)
    assert klsh.reference_rows_.tolist() == [0, 1, 2, 4, 5]
    assert klsh.comparable(views).tolist() == [True, True, True, False, True, True]
    gram = klsh.similarities(views)
    assert (gram[[0, 1, 2, 4, 5], np.arange(5)] == pytest.approx(1)) and not gram[3].any()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kernels": {}}, r"the kernels are \[\]; name one or more"),
        (
            {"kernels": {"a/b": SubsequenceKernel()}},
            r"the kernels are \['a/b'\]; .* without a slash",
        ),
        ({"operation": "mean"}, "operation is 'mean'; choose sum or product"),
        ({"weights": {"path": 0.0}}, r"weights\['path'\] is 0.0"),
        ({"weights": {"path": float("nan")}}, r"weights\['path'\] is nan"),
        ({"weights": {"tree": 1.0}}, r"weights\['tree'\] is 1.0; .* of the kernels path"),
    ],
)
def test_senseless_settings_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        CombinedKernel(**{"kernels": {"path": SubsequenceKernel()}, **settings})


@pytest.mark.parametrize("part", [SubsequenceKernel, LearnedSubsequenceKernel])
def test_it_learns_from_labels_if_a_part_does(part):
    inner = CombinedKernel(kernels={"path": part()})
    outer = CombinedKernel(kernels={"inner": inner, "between": SubsequenceKernel(view="between")})
    assert learns(inner) is learns(outer) is (part is LearnedSubsequenceKernel)
    views = {view: words("ab", "bc", "cd", "ab") for view in ("path", "between")}
    klsh = KLSH(outer, n_references=4, n_bits=8, subset_size=1).fit(views, np.array([0, 1, 0, 1]))
    assert (klsh.kernel is outer) is not learns(outer)
