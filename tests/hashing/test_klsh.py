from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import naive
import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

from spacy_klsh.hashing.codes import Codes
from spacy_klsh.hashing.families import FAMILIES
from spacy_klsh.hashing.klsh import KLSH
from spacy_klsh.kernels.subsequence import SubsequenceKernel
from spacy_klsh.structures import Structures
from spacy_klsh.views import take

N_BITS = 70  # not a multiple of 64
N_NEW = 1100 if strategies.JIT else 40
PARAMETERS = {"decay": 0.5, "max_length": 4, "threshold": 0.4, "interleaved": False}
families = pytest.mark.parametrize("family", FAMILIES)
SEEN, TABLE = strategies.corpus(120)
NEW = {"path": strategies.pack(strategies.corpus(N_NEW, seed=1)[0], TABLE)}
HELD_OUT = {"path": NEW["path"][:20]}
POOL = [path for path in SEEN if path]


def packed(words):
    return {"path": strategies.pack(words, TABLE)}


def letters(*words):
    """Paths with one node a letter, without word vectors."""
    return {"path": strategies.pack([[("dep=", f"lemma={c}") for c in word] for word in words])}


def words(views, name="path"):
    return [views[name].words(i) for i in range(len(views[name]))]


def make(family="kulis", **settings):
    settings = {"n_references": 16, "n_bits": N_BITS} | settings
    return KLSH(SubsequenceKernel(**PARAMETERS), family=family, **settings)


def differing_state(klsh, other):
    """Names of the fitted state in which the two differ in words or in any bit."""
    arrays = ("subsets_", "weights_", "biases_")
    names = [a for a in arrays if not naive.same_bits(getattr(klsh, a), getattr(other, a))]
    if words(klsh.reference_) != words(other.reference_):
        names.append("reference_")
    if not naive.same_bits(klsh.similarities(HELD_OUT), other.similarities(HELD_OUT)):
        names.append("similarities")
    if not naive.same_bits(klsh.transform(HELD_OUT).words, other.transform(HELD_OUT).words):
        names.append("codes")
    return names


class MeanKernel:
    """The mean of the path kernel over two views."""

    views = ("path", "between")

    def against(self, y):
        compare = [SubsequenceKernel(view=view).against(y) for view in self.views]

        return lambda x: (compare[0](x) + compare[1](x)) / np.float32(2)


# fit: the reference set


def test_references_are_distinct_and_not_empty():
    reference = words(make(n_references=60).fit(packed([[], *SEEN, []])).reference_)
    assert len(reference) == 60
    assert len(set(map(tuple, reference))) == 60
    assert [] not in reference


def test_reference_rows_are_first_occurrences_in_the_training_structures():
    klsh = make(n_references=60).fit(packed(SEEN))
    assert words(klsh.reference_) == [SEEN[row] for row in klsh.reference_rows_]
    assert [SEEN.index(SEEN[row]) for row in klsh.reference_rows_] == klsh.reference_rows_.tolist()


def test_every_distinct_structure_is_a_reference_when_there_are_too_few():
    klsh = make().fit(letters("ab", "", "c", "ab", "b", "c", "ba"))
    assert klsh.reference_rows_.tolist() == [0, 2, 4, 6]
    assert klsh.similarities(letters("ab")).shape == (1, 4)
    assert klsh.transform(letters("ab", "c")).n_bits == N_BITS


@pytest.mark.parametrize("size", [2, 3])
def test_too_few_distinct_structures_are_counted_in_the_error(size):
    training = letters("ab", "", "c", "ab", "b", "")
    message = f"hold 3 distinct ones with a path, but subset_size = {size} needs {2 * size}"
    with pytest.raises(ValueError, match=message):
        make(subset_size=size).fit(training)


@pytest.mark.parametrize("training", [[], [[], []]], ids=["none", "all empty"])
def test_training_without_a_path_is_refused(training):
    with pytest.raises(ValueError, match="hold 0 distinct ones with a path"):
        make().fit(packed(training))


def test_a_candidate_with_several_views_is_distinct_or_empty_in_all_of_them():
    path, between = letters("a", "a", "", "", "b", "a"), letters("c", "d", "", "c", "", "c")
    views = {"between": between["path"], "path": path["path"], "other": path["path"]}
    klsh = KLSH(MeanKernel(), n_bits=N_BITS).fit(views)
    assert klsh.reference_rows_.tolist() == [0, 1, 3, 4]
    assert set(klsh.reference_) == {"path", "between"}


def test_trees_with_other_parents_are_distinct():
    twice = letters("ab", "ab", "ab", "c", "d")["path"]
    parents = np.array([-1, 0, 1, -1, -1, 0, -1, -1], np.int32)
    trees = Structures(twice.nodes, twice.offsets, twice.symbols, twice.vectors, parents)
    assert make().fit({"path": trees}).reference_rows_.tolist() == [0, 1, 3, 4]


def test_the_labels_are_not_used():
    plain, labelled = make().fit(packed(SEEN)), make().fit(packed(SEEN), np.arange(len(SEEN)))
    assert differing_state(plain, labelled) == []


@families
def test_the_seed_determines_everything(family):
    first, second = (make(family, seed=7).fit(packed(SEEN)) for _ in range(2))
    assert first.reference_rows_.tolist() == second.reference_rows_.tolist()
    assert differing_state(first, second) == []


def test_another_seed_draws_other_references_and_subsets():
    first, second = (make(seed=seed).fit(packed(SEEN)) for seed in (0, 1))
    assert first.reference_rows_.tolist() != second.reference_rows_.tolist()
    assert (first.subsets_ != second.subsets_).any()


# fit: the bits


@pytest.mark.parametrize("size", [1, 2, 3, 8])
def test_the_subsets_of_a_bit_are_disjoint(size):
    subsets = make(subset_size=size).fit(packed(SEEN)).subsets_
    assert subsets.shape == (N_BITS, 2, size)
    assert subsets.dtype == np.int32
    assert ((subsets >= 0) & (subsets < 16)).all()
    assert all(len(set(members)) == 2 * size for members in subsets.reshape(N_BITS, -1).tolist())


def test_every_reference_is_used_by_some_bit():
    assert set(make().fit(packed(SEEN)).subsets_.ravel().tolist()) == set(range(16))


@families
def test_a_code_is_the_bits_of_the_naive_family_on_the_naive_gram(family):
    training, new = SEEN[:12], SEEN[60:72]
    klsh = make(family, subset_size=1).fit(packed(training))
    reference = words(klsh.reference_)
    rows = naive.subsequence_gram(new, reference, vectors=TABLE, **PARAMETERS)
    gram = naive.subsequence_gram(reference, reference, vectors=TABLE, **PARAMETERS)
    np.testing.assert_allclose(klsh.similarities(packed(new)), rows, atol=1e-5)
    values = {
        "rknn": lambda first, second: rows[:, second].max(1) - rows[:, first].max(1),
        "rmm": lambda first, second: naive.margin_decision(gram, first, second, rows),
        "kulis": lambda first, second: (
            rows[:, [*first, *second]] @ naive.kulis_weights(gram, first, second)
        ),
    }[family]
    expected = np.transpose([values(first, second) for first, second in klsh.subsets_])
    clear = np.abs(expected) > 1e-3
    assert clear.mean() > 0.1
    assert (klsh.transform(packed(new)).bits()[clear] == (expected > 0)[clear]).all()


@families
def test_transform_encodes_the_similarities(family):
    klsh = make(family).fit(packed(SEEN))
    codes = klsh.transform(HELD_OUT)
    assert isinstance(codes, Codes)
    assert (len(codes), codes.n_bits) == (20, N_BITS)
    assert naive.same_bits(codes.words, klsh.encode(klsh.similarities(HELD_OUT)).words)
    assert 0.02 < codes.bits().mean() < 0.98


def test_no_candidates_give_no_codes():
    codes = make().fit(packed(SEEN)).transform(packed([]))
    assert (len(codes), codes.n_bits) == (0, N_BITS)


def test_an_empty_candidate_gets_the_code_of_no_similarity():
    assert not make().fit(packed(SEEN)).transform(packed([[], []])).bits().any()


# codes depend on their own structures and the reference set alone


@pytest.fixture(scope="module", params=FAMILIES)
def fitted(request):
    return make(request.param, n_references=60, n_bits=200).fit(packed(SEEN))


@pytest.fixture(scope="module")
def whole(fitted):
    return fitted.transform(NEW).words


@pytest.mark.parametrize("block", [1, 7, 500])
def test_codes_are_the_same_for_any_block_size(fitted, whole, block):
    parts = [
        fitted.transform({"path": NEW["path"][first : first + block]})
        for first in range(0, N_NEW, block)
    ]
    assert naive.same_bits(Codes.concat(parts).words, whole)


@pytest.mark.parametrize("pairs", [1, 40, 200])
def test_codes_are_the_same_in_blocks_of_any_number_of_pairs(fitted, whole, pairs, monkeypatch):
    monkeypatch.setattr("spacy_klsh.hashing.klsh.BLOCK", pairs)
    assert naive.same_bits(fitted.transform(HELD_OUT).words, whole[:20])
    nothing = take(HELD_OUT, [])
    assert len(fitted.transform(nothing)) == 0


@pytest.mark.parametrize(
    "call",
    [
        lambda klsh: klsh.transform(HELD_OUT),
        lambda klsh: klsh.similarities(HELD_OUT),
        lambda klsh: klsh.encode(np.zeros((1, 16), np.float32)),
        lambda klsh: klsh.replace(0, {"path": NEW["path"][:1]}),
    ],
    ids=["transform", "similarities", "encode", "replace"],
)
def test_before_fit_every_use_says_so(call):
    with pytest.raises(ValueError, match=r"no reference set, .* call fit\(\) first"):
        call(make())


def test_comparable_are_candidates_with_a_node_in_some_view_of_the_kernel():
    views = letters("ab", "", "", "a") | {"other": letters("", "a", "", "a")["path"]}
    assert make().comparable(views).tolist() == [True, False, False, True]
    both = KLSH(MeanKernel(), n_references=4)
    views = {"path": views["path"], "between": views["other"]}
    assert both.comparable(views).tolist() == [True, True, False, True]


def test_codes_are_the_same_in_any_order(fitted, whole):
    order = np.random.default_rng(2).permutation(N_NEW)
    assert naive.same_bits(fitted.transform({"path": NEW["path"][order]}).words, whole[order])


def test_codes_are_the_same_from_two_threads_at_once(fitted, whole):
    start = Barrier(2)

    def run(_):
        start.wait()
        return fitted.transform(NEW).words

    with ThreadPoolExecutor(2) as pool:
        for codes in pool.map(run, range(2)):
            assert naive.same_bits(codes, whole)


def test_codes_are_the_same_after_saving_and_loading(fitted, whole, tmp_path):
    loaded = strategies.npz_round_trip(NEW["path"], tmp_path / "new.npz")
    assert naive.same_bits(fitted.transform({"path": loaded}).words, whole)


def restored(klsh, path):
    """The same state in another object, its reference set saved and loaded."""
    reference = {"path": strategies.npz_round_trip(klsh.reference_["path"], path)}
    state = (klsh.reference_rows_, klsh.subsets_, klsh.weights_, klsh.biases_)
    return make(klsh.family, n_bits=klsh.n_bits).restore(reference, *state)


def test_codes_are_the_same_from_a_restored_state(fitted, whole, tmp_path):
    copy = restored(fitted, tmp_path / "reference.npz")
    assert naive.same_bits(copy.transform(NEW).words, whole)
    assert copy.reference_rows_.tolist() == fitted.reference_rows_.tolist()


# replace


replacements = st.lists(
    st.tuples(st.integers(0, 7), st.one_of(st.just([]), st.sampled_from(POOL))),
    min_size=1,
    max_size=4,
)


@families
@given(replacements, st.integers(1, 4), st.integers(0, 3))
@strategies.QUICK
def test_replace_equals_a_fresh_fit_on_the_changed_set(family, changes, size, seed):
    settings = {"n_bits": N_BITS, "subset_size": size, "seed": seed}
    reference = POOL[:8]
    klsh = make(family, **settings).fit_reference(packed(reference))
    for j, path in changes:
        klsh.replace(j, packed([path]))
        reference = [*reference[:j], path, *reference[j + 1 :]]
        fresh = make(family, **settings).fit_reference(packed(reference))
        assert differing_state(klsh, fresh) == []


@families
def test_replace_after_fit_keeps_the_other_rows(family):
    klsh = make(family).fit(packed(SEEN))
    rows = klsh.reference_rows_.copy()
    klsh.replace(3, packed([POOL[-1]]))
    assert klsh.reference_rows_.tolist() == [*rows[:3], -1, *rows[4:]]
    assert words(klsh.reference_) == [SEEN[i] for i in rows[:3]] + [POOL[-1]] + [
        SEEN[i] for i in rows[4:]
    ]


@families
def test_replace_changes_only_bits_whose_subsets_hold_the_reference(family):
    klsh = make(family).fit(packed(SEEN))
    weights, biases = klsh.weights_.copy(), klsh.biases_.copy()
    codes = klsh.transform(HELD_OUT).bits()
    klsh.replace(5, packed([POOL[-1]]))
    others = ~(klsh.subsets_ == 5).any(axis=(1, 2))
    changed = (klsh.transform(HELD_OUT).bits() != codes).any(axis=0)
    assert changed.any()
    assert not changed[others].any()
    assert naive.same_bits(klsh.weights_[others], weights[others])
    assert naive.same_bits(klsh.biases_[others], biases[others])


@families
def test_replace_leaves_another_object_with_the_same_state_alone(family):
    klsh = make(family).fit(packed(SEEN))
    state = (klsh.reference_, klsh.reference_rows_, klsh.subsets_, klsh.weights_, klsh.biases_)
    twin = make(family).restore(*state)
    klsh.replace(5, packed([POOL[-1]]))
    assert differing_state(twin, make(family).fit(packed(SEEN))) == []


@families
def test_replace_by_itself_changes_nothing(family):
    reference = POOL[:8]
    klsh, fresh = (make(family).fit_reference(packed(reference)) for _ in range(2))
    klsh.replace(2, packed([reference[2]]))
    assert differing_state(klsh, fresh) == []


@families
def test_a_reference_that_no_bit_uses_can_be_replaced(family):
    reference = POOL[:20]
    klsh = make(family, n_bits=2).fit_reference(packed(reference))
    unused = min(set(range(20)) - set(klsh.subsets_.ravel().tolist()))
    klsh.replace(unused, packed([POOL[-1]]))
    reference[unused] = POOL[-1]
    fresh = make(family, n_bits=2).fit_reference(packed(reference))
    assert differing_state(klsh, fresh) == []


@families
def test_replace_in_a_restored_state_equals_a_fresh_fit(family, tmp_path):
    reference = POOL[:8]
    klsh = restored(make(family).fit_reference(packed(reference)), tmp_path / "reference.npz")
    for j, path in ((0, POOL[-1]), (7, POOL[-2])):
        klsh.replace(j, packed([path]))
        reference[j] = path
    assert differing_state(klsh, make(family).fit_reference(packed(reference))) == []


def test_replace_treats_every_view():
    def views(path, between):
        return {"path": letters(*path)["path"], "between": letters(*between)["path"]}

    klsh = KLSH(MeanKernel(), n_bits=N_BITS).fit_reference(views("abca", "cabb"))
    klsh.replace(1, views(["xa"], ["b"]))
    fresh = KLSH(MeanKernel(), n_bits=N_BITS).fit_reference(views(["a", "xa", "c", "a"], "cbbb"))
    assert words(klsh.reference_) == words(fresh.reference_)
    assert words(klsh.reference_, "between") == words(fresh.reference_, "between")
    assert naive.same_bits(klsh.weights_, fresh.weights_)


# errors


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"family": "svm"}, "family is 'svm'; choose one of rknn, rmm, kulis"),
        ({"subset_size": 0}, "subset_size = 0: use at least 1 bit, 1 member"),
        ({"n_bits": 0}, "n_bits = 0"),
        ({"n_references": 3}, r"n_references = 3, .* 2 \* subset_size references"),
        ({"n_references": 9, "subset_size": 5}, "n_references = 9"),
    ],
)
def test_settings_out_of_range_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        make(**settings)


def test_a_reference_set_that_is_too_small_is_refused():
    with pytest.raises(ValueError, match="has 3 structures, but subset_size = 2 needs 4"):
        make().fit_reference(letters("a", "b", "c"))


@pytest.mark.parametrize(
    ("j", "n", "message"),
    [
        (16, 1, r"replace\(16, …\) .* a reference in 0\.\.15"),
        (-1, 1, r"replace\(-1, …\)"),
        (0, 0, r"replace\(0, …\) with \[0\] structures a view"),
        (0, 2, r"replace\(0, …\) with \[2\] structures a view: .* exactly one candidate"),
    ],
)
def test_replace_refuses_another_place_or_number(j, n, message):
    klsh = make().fit(packed(SEEN))
    with pytest.raises(ValueError, match=message):
        klsh.replace(j, packed(POOL[:n]))


@pytest.mark.parametrize(
    "call",
    [
        lambda klsh, views: klsh.fit(views),
        lambda klsh, views: klsh.fit_reference(views),
        lambda klsh, views: klsh.replace(0, views),
        lambda klsh, views: klsh.transform(views),
    ],
    ids=["fit", "fit_reference", "replace", "transform"],
)
def test_a_missing_view_is_named_in_the_error(call):
    klsh = make().fit(packed(SEEN))
    views = {"between": Structures.from_symbols([], dim=20)}
    with pytest.raises(ValueError, match=r"compares the views \['path'\], but only \['between'\]"):
        call(klsh, views)


def test_a_refused_replacement_changes_nothing():
    klsh, fresh = (make().fit(packed(SEEN)) for _ in range(2))
    with pytest.raises(ValueError, match="dimensions"):
        klsh.replace(0, letters("a"))
    assert differing_state(klsh, fresh) == []
