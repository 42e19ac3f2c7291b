import io

import naive_neighbors
import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

from spacy_klsh.classifiers import kernel_neighbors
from spacy_klsh.classifiers.encoded import Encoded
from spacy_klsh.classifiers.kernel_neighbors import KernelNeighbors
from spacy_klsh.classifiers.stored_views import LONGEST, to_arrays
from spacy_klsh.hashing.codes import Codes
from spacy_klsh.hashing.klsh import KLSH
from spacy_klsh.kernels.subsequence import SubsequenceKernel
from spacy_klsh.structures import Structures
from spacy_klsh.views import concat_views, take

KERNEL = SubsequenceKernel(max_length=2)
N = 80 if strategies.JIT else 30
SETTINGS = {"k": 4, "n_tables": 2, "bits_per_table": 4, "neighborhood": 9}


class GramKernel:
    """A kernel that only gives whole grams."""

    views = KERNEL.views

    def against(self, y):
        return KERNEL.against(y)


def sample(n=N, seed=0, kernel=KERNEL, n_bits=40):
    """Encoded paths, some of them equal, their words, and labels."""
    words, table = strategies.corpus(n, seed=seed, n_words=12)
    words = [path or [("dep=", "lemma=0")] for path in words]
    views = {"path": strategies.pack(words, table)}
    hashing = KLSH(KERNEL, n_references=12, n_bits=n_bits, seed=seed)
    codes = hashing.fit(views).transform(views)
    y = np.random.default_rng(seed).integers(3, size=len(words))
    return Encoded(codes, None, views, kernel), words, y


@pytest.fixture(scope="module")
def both():
    """One sample to learn from and new candidates, with codes of one hashing."""
    x, words, y = sample(2 * N)
    return x[:N], words[:N], y[:N], x[N:], words[N:]


@pytest.fixture(scope="module")
def classifier(both):
    x, _, y, _, _ = both
    return KernelNeighbors(**SETTINGS).fit(x, y)


@pytest.mark.parametrize("weights", ["uniform", "distance"])
@pytest.mark.parametrize("settings", [{}, {"k": 1}, {"bits_per_table": 32}, {"neighborhood": 999}])
def test_probabilities_are_the_votes_of_the_most_similar_nearby(both, weights, settings):
    x, words, y, new, _ = both
    settings = {**SETTINGS, **settings}
    classifier = KernelNeighbors(**settings, weights=weights).fit(x, y, 4)
    found = classifier.predict_proba(new)
    assert found.dtype == np.float32 and found.shape == (len(new), 4)
    groups, prior = naive_neighbors.grouped(words, y), naive_neighbors.prior(y, 4)
    labels, names = list(groups.values()), [tuple(path) for path in words]
    rows = [names.index(path) for path in groups]
    gram = KERNEL.gram(new.views, take(x.views, rows))
    stored, codes = x.codes[rows].bits(), new.codes.bits()
    least, most = (min(settings[name], len(rows)) for name in ("k", "neighborhood"))
    for code, values, row in zip(codes, gram, found, strict=True):
        nearby = naive_neighbors.neighborhood(code, stored, classifier.table_bits_, most, least)
        order = sorted(sorted(nearby), key=lambda i: -values[i])
        votes = [1.0 if weights == "uniform" else min(max(values[i], 0), 1) for i in order]
        near = [labels[i] for i in order]
        expected = naive_neighbors.shares(near, votes, prior, settings["k"], 1.0)
        np.testing.assert_allclose(row, expected, rtol=0, atol=1e-6)


def test_buckets_and_scans_are_both_looked_at(both, classifier):
    """The settings of this file lead to full and to empty buckets, or it tests little."""
    _, _, _, new, _ = both
    rows, similarities = classifier.neighbors(new)
    assert ((rows >= 0) == np.isfinite(similarities)).all()
    assert (similarities[:, :-1] >= similarities[:, 1:]).all()
    lonely = KernelNeighbors(**{**SETTINGS, "bits_per_table": 32})
    x, _, y, _, _ = both
    assert (lonely.fit(x, y).neighbors(new)[0] >= 0).all() and (rows < 0).any()


def test_probabilities_do_not_depend_on_the_block(both, classifier, monkeypatch):
    new = both[3]
    whole = classifier.predict_proba(new)
    for size in (1, 7):
        blocks = [classifier.predict_proba(new[i : i + size]) for i in range(0, len(new), size)]
        assert np.concatenate(blocks).tobytes() == whole.tobytes()
    assert classifier.predict_proba(new[::-1]).tobytes() == whole[::-1].tobytes()
    assert classifier.predict_proba(new[:0]).shape == (0, 3)
    monkeypatch.setattr(kernel_neighbors, "QUERIES", 5)
    assert classifier.predict_proba(new).tobytes() == whole.tobytes()


def test_a_kernel_of_whole_grams_gives_the_same(both, classifier):
    new = both[3]
    other = Encoded(new.codes, None, new.views, GramKernel())
    assert classifier.predict_proba(other).tobytes() == classifier.predict_proba(new).tobytes()


def test_of_equally_similar_structures_those_that_came_first_are_first(both):
    class Constant:
        views = KERNEL.views

        def against(self, y):
            return lambda x: np.ones((len(x["path"]), len(y["path"])), np.float32)

    x, _, y, new, _ = both
    views = Encoded(new.codes, None, new.views, Constant())
    rows, _ = KernelNeighbors(**SETTINGS).fit(x, y).neighbors(views)
    for row in rows.tolist():
        found = [i for i in row if i >= 0]
        assert found == sorted(found) and row == found + [-1] * (len(row) - len(found))


def test_the_seed_decides_the_tables(both):
    x, _, y, _, _ = both
    first, same, other = (KernelNeighbors(**SETTINGS, seed=s).fit(x, y) for s in (3, 3, 4))
    assert first.table_bits_.tolist() == same.table_bits_.tolist() != other.table_bits_.tolist()


def test_codes_of_fewer_bits_than_a_table():
    x, _, y = sample(n_bits=2)
    classifier = KernelNeighbors(**SETTINGS).fit(x, y)
    assert classifier.table_bits_.shape == (2, 2)
    restored = KernelNeighbors(**SETTINGS).restore(classifier.state())
    assert restored.predict_proba(x).tobytes() == classifier.predict_proba(x).tobytes()


@pytest.mark.parametrize("kernel", [None, SubsequenceKernel(view="between")])
def test_candidates_without_kernel_or_view_are_refused(both, classifier, kernel):
    x, _, y, _, _ = both
    other = Encoded(x.codes, None, x.views, kernel)
    for call in (lambda: KernelNeighbors().fit(other, y), lambda: classifier.predict_proba(other)):
        with pytest.raises(ValueError, match="a kernel and its views are needed"):
            call()


def test_a_kernel_of_another_view_is_refused(both, classifier):
    x = both[0]
    other = Encoded(x.codes, None, {"x": x.views["path"]}, SubsequenceKernel(view="x"))
    with pytest.raises(ValueError, match=r"views \['x'\], but training had \['path'\]"):
        classifier.predict_proba(other)


def test_one_label_and_codes_of_another_width_are_refused(both, classifier):
    x = both[0]
    with pytest.raises(ValueError, match=rf"all {len(x)} training candidates have one label"):
        KernelNeighbors().fit(x, np.ones(len(x), int))
    other = Encoded(Codes.pack(x.codes.bits()[:, :39]), None, x.views, KERNEL)
    with pytest.raises(ValueError, match="codes have 39 bits but training had 40"):
        classifier.predict_proba(other)
    with pytest.raises(ValueError, match=r"no stored candidates, .*; call fit\(\) first"):
        KernelNeighbors().predict_proba(x)


@pytest.mark.parametrize(
    "settings",
    [
        {"k": 0},
        {"n_tables": 0},
        {"bits_per_table": 0},
        {"bits_per_table": 33},
        {"neighborhood": 14},
        {"weights": "near"},
    ],
)
def test_senseless_settings_are_refused(settings):
    with pytest.raises(ValueError, match=f"{next(iter(settings))} ="):
        KernelNeighbors(**settings)


def saved(state):
    buffer = io.BytesIO()
    np.savez(buffer, **state)
    with np.load(io.BytesIO(buffer.getvalue()), allow_pickle=False) as arrays:
        return dict(arrays)


def test_restored_neighbors_predict_the_same(both, classifier):
    new = both[3]
    restored = KernelNeighbors(**SETTINGS).restore(saved(classifier.state()))
    assert restored.predict_proba(new).tobytes() == classifier.predict_proba(new).tobytes()
    assert (restored.widths_, restored.n_labels_) == ((40, 0), 3)
    assert restored.views_["path"].symbols == classifier.views_["path"].symbols


def test_symbols_of_any_letters_and_trees_are_restored():
    x, _, y = sample()
    path = x.views["path"]
    letters = "ä→\U0001f9ec\x00"
    symbols = (*(f"{i}{letters[: i % 5]}" for i in range(len(path.symbols) - 1)), "")
    parents = np.full(len(path.nodes), -1, np.int32)
    views = {"a/b": Structures(path.nodes, path.offsets, symbols, path.vectors, parents)}
    kernel = SubsequenceKernel(view="a/b")
    classifier = KernelNeighbors(**SETTINGS).fit(Encoded(x.codes, None, views, kernel), y)
    restored = KernelNeighbors(**SETTINGS).restore(saved(classifier.state()))
    one, other = (c.views_["a/b"] for c in (classifier, restored))
    assert one.symbols == other.symbols
    assert other.parents is not None and other.parents.tolist() == one.parents.tolist()


def changed(state, name, place, value):
    array = state[name].copy()
    array[place] = value
    return {**state, name: array}


@pytest.mark.parametrize(
    ("name", "place", "value"),
    [
        *(("table_bits", (0, 0), bit) for bit in (-1, 40, 2**31 - 1)),
        *(("path/nodes", (0, 0), symbol) for symbol in (-1, 10**6)),
        *(("path/offsets", 1, offset) for offset in (-1, 10**9)),
        *(("path/vectors", (0, 0), value) for value in (np.nan, np.inf, 1e38, 1.1)),
        *(("path/symbol_offsets", 1, offset) for offset in (-1, 10**9, 2**62)),
        ("path/symbol_offsets", 0, 1),
        ("path/symbol_offsets", -1, 1),
        ("path/symbols", 0, 0xFF),
        ("counts", (0, 0), -1),
    ],
)
def test_damaged_values_are_refused(classifier, name, place, value):
    with pytest.raises(ValueError, match="damaged, train again"):
        KernelNeighbors(**SETTINGS).restore(changed(classifier.state(), name, place, value))


def test_damaged_arrays_are_refused(classifier):
    state = classifier.state()
    for name, array in state.items():
        rest = {k: v for k, v in state.items() if k != name}
        swapped = array.astype(array.dtype.newbyteorder(">")) if array.itemsize > 1 else array[None]
        wide = array.astype(np.complex128)
        for damaged in (None, np.array("text"), array[None], array[..., None], swapped, wide):
            with pytest.raises(ValueError, match="damaged, train again"):
                KernelNeighbors(**SETTINGS).restore({**rest, name: damaged})
        with pytest.raises(ValueError, match="damaged, train again"):
            KernelNeighbors(**SETTINGS).restore(rest)
        if array.ndim:
            with pytest.raises(ValueError, match="damaged, train again"):
                KernelNeighbors(**SETTINGS).restore({**rest, name: array[:-1]})


@pytest.mark.parametrize("name", ["x", "path/x", "y/nodes", "path/", "/"])
def test_an_additional_array_is_refused(classifier, name):
    with pytest.raises(ValueError, match="damaged, train again"):
        KernelNeighbors(**SETTINGS).restore({**classifier.state(), name: np.zeros(3)})


def test_another_number_of_structures_or_tables_is_refused(classifier):
    state = classifier.state()
    for view in ("path", "other"):
        fewer = {f"{view}/{name}": array for name, array in fewer_structures(classifier).items()}
        with pytest.raises(ValueError, match="damaged, train again"):
            KernelNeighbors(**SETTINGS).restore({**state, **fewer})
    for settings in ({"n_tables": 3}, {"bits_per_table": 3}):
        with pytest.raises(ValueError, match="damaged, train again"):
            KernelNeighbors(**{**SETTINGS, **settings}).restore(state)


def fewer_structures(classifier):
    arrays = to_arrays(take(classifier.views_, slice(1, None)))
    return {name.removeprefix("path/"): array for name, array in arrays.items()}


def test_an_endless_structure_is_refused():
    symbols = ("dep=", "lemma=a")
    n = LONGEST + 2
    path = Structures(
        np.zeros((n, 2), np.int32), np.array([0, 1, n]), symbols, np.zeros((2, 0), np.float32)
    )
    codes = Codes.pack(np.eye(2, 40, dtype=np.uint8))
    x = Encoded(codes, None, {"path": path}, KERNEL)
    classifier = KernelNeighbors(**SETTINGS).fit(x, np.array([0, 1]))
    with pytest.raises(ValueError, match=rf"at most {LONGEST} and 1 are expected.*damaged"):
        KernelNeighbors(**SETTINGS).restore(classifier.state())


@given(st.data())
@strategies.QUICK
def test_changed_bytes_are_refused_or_harmless(classifier, both, data):
    state = {name: array.copy() for name, array in classifier.state().items()}
    for _ in range(data.draw(st.integers(1, 2))):
        raw = state[data.draw(st.sampled_from(sorted(state)))].reshape(-1).view(np.uint8)
        raw[data.draw(st.integers(0, len(raw) - 1))] ^= data.draw(st.integers(1, 255))
    try:
        restored = KernelNeighbors(**SETTINGS).restore(state)
        found = restored.predict_proba(both[3][:5])
    except ValueError:
        return
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-5)


def test_views_of_several_names_vote_together(both):
    class Sum:
        """Mean of two views, which has no pairs of its own."""

        views = ("path", "other")

        def against(self, y):
            parts = [KERNEL.against({"path": y[view]}) for view in self.views]
            return lambda x: (
                sum(part({"path": x[view]}) for part, view in zip(parts, self.views, strict=True))
                / np.float32(2)
            )

    x, _, y, new, _ = both
    twice = [
        Encoded(part.codes, None, {**part.views, "other": part.views["path"]}, Sum())
        for part in (x, new)
    ]
    classifier = KernelNeighbors(**SETTINGS).fit(twice[0], y)
    restored = KernelNeighbors(**SETTINGS).restore(saved(classifier.state()))
    assert concat_views([restored.views_, classifier.views_]).keys() == {"path", "other"}
    expected = KernelNeighbors(**SETTINGS).fit(x, y).predict_proba(new)
    assert restored.predict_proba(twice[1]).tobytes() == expected.tobytes()
