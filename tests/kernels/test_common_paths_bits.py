from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import dependency_trees
import naive
import numpy as np
import pytest
import strategies

from spacy_klsh.kernels import common_paths
from spacy_klsh.kernels.combine import CombinedKernel
from spacy_klsh.kernels.common_paths import CommonPathsKernel
from spacy_klsh.views import take

N_TREES = 600 if strategies.JIT else 60
N_REFERENCES = 60 if strategies.JIT else 8


@pytest.fixture(scope="module")
def bulk():
    return {"subtree": dependency_trees.view(*dependency_trees.corpus(N_TREES))}


@pytest.fixture(scope="module")
def references():
    return {"subtree": dependency_trees.view(*dependency_trees.corpus(N_REFERENCES, seed=1))}


@pytest.fixture(scope="module", params=["any", "arguments"])
def kernel(request):
    return CommonPathsKernel(anchors=request.param, threshold=0.0, sigma={"conj": 0.3})


@pytest.fixture(scope="module")
def compare(kernel, references):
    return kernel.against(references)


@pytest.fixture(scope="module")
def gram(compare, bulk):
    found = compare(bulk)
    assert np.unique(found).size > N_TREES // 20
    return found


@pytest.mark.parametrize("block", [1, 7, 500])
def test_gram_is_the_same_for_any_block_size(compare, gram, bulk, block):
    parts = [
        compare({"subtree": bulk["subtree"][first : first + block]})
        for first in range(0, N_TREES, block)
    ]
    assert naive.same_bits(np.concatenate(parts), gram)


def test_gram_is_the_same_in_blocks_of_any_number_of_cells(
    compare, kernel, gram, bulk, monkeypatch
):
    norms = kernel.self_values(bulk)
    monkeypatch.setattr(common_paths, "N_CELLS", 100)
    assert naive.same_bits(compare(bulk), gram)
    assert naive.same_bits(kernel.self_values(bulk), norms)


def test_gram_is_the_same_in_any_order(compare, gram, bulk):
    order = np.random.default_rng(2).permutation(N_TREES)
    assert naive.same_bits(compare(take(bulk, order)), gram[order])


def test_a_reference_does_not_care_what_stands_beside_it(kernel, gram, bulk, references):
    order = np.random.default_rng(3).permutation(N_REFERENCES)
    shuffled = kernel.gram(bulk, take(references, order))
    assert naive.same_bits(shuffled, np.ascontiguousarray(gram[:, order]))
    for j in range(0, N_REFERENCES, 7):
        alone = kernel.gram(bulk, take(references, [j]))
        assert naive.same_bits(alone, np.ascontiguousarray(gram[:, [j]]))


def test_gram_is_the_same_from_two_threads_at_once(compare, gram, bulk):
    start = Barrier(2)

    def run(_):
        start.wait()
        return compare(bulk)

    with ThreadPoolExecutor(2) as pool:
        for found in pool.map(run, range(2)):
            assert naive.same_bits(found, gram)


def test_chosen_pairs_have_the_values_of_the_gram(kernel, gram, bulk, references):
    rng = np.random.default_rng(0)
    own, other = (rng.integers(size, size=3 * N_TREES) for size in (N_TREES, N_REFERENCES))
    assert naive.same_bits(kernel.pairs(bulk, references, own, other), gram[own, other])


def test_it_can_be_combined(bulk, references):
    kernel = CommonPathsKernel()
    combined = CombinedKernel(kernels={"trees": kernel})
    found = combined.gram(bulk, references)
    np.testing.assert_allclose(found, kernel.gram(bulk, references), atol=1e-6)
