"""Saved components that were changed with care: all checksums agree."""

import io
import json
import struct
import sys
import tracemalloc
import zipfile
from functools import reduce
from pathlib import Path

import numpy as np
import pytest
import spacy
from pipeline import sentences
from pipeline.forgery import NAMES, as_json, as_npy, files, members, npz, packed, sealed, signed

READ_ERROR = Path("/proc/self/mem")  # a file that even root cannot read from its start


@pytest.fixture(scope="module")
def content(trained):
    return trained.get_pipe("klsh_relations").to_bytes()


@pytest.fixture(scope="module")
def untrained():
    return sentences.build().get_pipe("klsh_relations")


@pytest.fixture
def refused(untrained):
    """Check that bytes are refused by an untrained component, and why."""

    def check(changed, match="damaged"):
        with pytest.raises(ValueError, match=match) as caught:
            untrained.from_bytes(changed)
        assert type(caught.value) is ValueError
        assert untrained.labels == () and not hasattr(untrained.hashing, "reference_")

    return check


def array(parts, name):
    return np.load(io.BytesIO(members(parts)[f"{name}.npy"]))


def with_array(content, name, changed):
    return signed(npz(files(content), **{f"{name}.npy": as_npy(changed)}))


def with_json(content, name, text):
    return signed({**files(content), name: text})


WRONG_ENTRIES = [
    *[("labels", value) for value in (None, "FOUNDED", {}, [1, 2], [["FOUNDED"]], [""])],
    ("labels", ["FOUNDED", "FOUNDED"]),
    ("labels", ["WORKS_FOR", "FOUNDED"]),
    ("labels", ["", "FOUNDED", "WORKS_FOR"]),
    *[("thresholds", value) for value in (None, 0.5, [0.5, 0.5], {}, {"FOUNDED": 0.5})],
    ("thresholds", {"FOUNDED": 0.5, "WORKS_FOR": 0.5, "OTHER": 0.5}),
    *[
        ("thresholds", {"FOUNDED": 0.5, "WORKS_FOR": value})
        for value in (-0.1, 1.1, float("nan"), float("inf"), 10**400, True, None, "0.5", [0.5])
    ],
    *[("entity_labels", value) for value in (None, "ORG", {"ORG": 1}, [1], [None], [["ORG"]], [])],
    *[
        ("dropped", value)
        for value in (None, "overlapping", {}, [1], ["other"], ["overlapping", ""])
    ],
    *[("reference_labels", value) for value in (None, "", {}, [1] * 14, [[]], [], [""] * 13)],
    ("reference_labels", ["OTHER"] * 14),
    *[("settings", value) for value in (None, [], "x", 1)],
    *[("vectors", value) for value in (None, [], "x", 1)],
]


@pytest.mark.parametrize(("name", "value"), WRONG_ENTRIES)
def test_wrong_entries_of_meta_are_refused(content, refused, name, value):
    refused(signed(files(content), **{name: value}), rf"damaged: .*{name}")


@pytest.mark.parametrize("name", ["settings", "vectors"])
@pytest.mark.parametrize("value", [{}, {"kernel": []}, {"shape": {"a": [None]}}])
def test_settings_of_another_form_are_refused(content, refused, name, value):
    refused(signed(files(content), **{name: value}), "trained with other")


@pytest.mark.parametrize(
    "name",
    ["labels", "thresholds", "entity_labels", "dropped", "reference_labels", "settings", "vectors"],
)
def test_missing_entries_of_meta_are_refused(content, refused, name):
    meta = json.loads(files(content)["meta.json"])
    del meta[name]
    refused(with_json(content, "meta.json", as_json(meta)), f"damaged: meta.json lacks {name}")


@pytest.mark.parametrize("checksums", [None, [], {}, "sha256", {"symbols.json": None}])
def test_files_without_their_checksums_are_refused(content, refused, checksums):
    meta = json.loads(files(content)["meta.json"])
    refused(sealed(files(content), {**meta, "checksums": checksums}), "a checksum of")
    del meta["checksums"]
    refused(sealed(files(content), meta), "a checksum of")


@pytest.mark.parametrize("name", ["meta.json", "symbols.json"])
def test_json_of_any_depth_is_refused(content, refused, name):
    for depth in (1, 10, 100, *range(500, 1000, 50), 10**5):
        nested = b"[" * depth + b"]" * depth
        parts = {**files(content), name: nested}
        refused(packed(parts) if name == "meta.json" else signed(parts))


@pytest.mark.parametrize("depth", [1, 10, 100, 300, 500, 700, 800, 900, 950, 2000])
def test_meta_entries_of_any_depth_are_refused(content, refused, depth):
    """What can be read may still be too deep to be written, compared or shown."""
    value = reduce(lambda inner, _: [inner], range(depth), None)
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(10_000)
    try:
        changed = signed(files(content), settings=value)
    finally:
        sys.setrecursionlimit(limit)
    refused(changed)


@pytest.mark.parametrize("name", ["meta.json", "symbols.json"])
def test_half_surrogates_are_refused(content, refused, name):
    parts = files(content)
    text = parts[name].replace(b'"FOUNDED"', b'"\\ud800"').replace(b"dep=nsubj<", b"\\ud800")
    assert text != parts[name]
    parts = {**parts, name: text}
    refused(packed(parts) if name == "meta.json" else signed(parts))


@pytest.mark.parametrize(
    "symbols",
    [[], {}, {"path": None}, {"path": "words"}, {"path": {"a": 1}}, {"path": [1]}, {"tree": []}],
)
def test_symbols_of_another_form_are_refused(content, refused, symbols):
    refused(with_json(content, "symbols.json", as_json(symbols)), "damaged: symbols.json")


@pytest.mark.parametrize("name", ["hashing/weights", "hashing/biases", "reference/path/vectors"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_not_finite_are_refused(name, value):
    nlp = sentences.train(sentences.with_vectors(sentences.build()))
    content = nlp.get_pipe("klsh_relations").to_bytes()
    changed = array(files(content), name)
    changed.reshape(-1)[-1] = value
    component = sentences.with_vectors(sentences.build()).get_pipe("klsh_relations")
    with pytest.raises(ValueError, match="NaN or infinite"):
        component.from_bytes(with_array(content, name, changed))


def test_trees_over_other_bits_are_refused(content, refused):
    changed = with_array(content, "classifier/n_bits", np.array(129))
    refused(changed, "129 bits of the classifier, but 128 are needed")


def test_trees_for_other_classes_are_refused(content, refused):
    values = array(files(content), "classifier/values")
    wide = np.concatenate([values, np.zeros_like(values[:, :1])], axis=1)
    refused(with_array(content, "classifier/values", wide), "4 labels of its predictions, but 3")


def test_references_unlike_what_is_extracted_are_refused(content, refused):
    parts = files(content)
    nodes, vectors = (array(parts, f"reference/path/{name}") for name in ("nodes", "vectors"))
    for other in (np.concatenate([nodes, nodes], axis=1), nodes[:, :1], nodes[:, :0]):
        refused(with_array(content, "reference/path/nodes", other), "differ in attributes")
    long = np.zeros((len(vectors), 2), np.float32)
    refused(with_array(content, "reference/path/vectors", long), "differ in vector dimensions")
    parents = np.full(len(nodes), -1, np.int32)
    refused(with_array(content, "reference/path/parents", parents), "differ in parents")


@pytest.mark.parametrize("name", ["x", "hashing/x", "classifier/x", "reference/path/x"])
def test_additional_arrays_are_refused(content, refused, name):
    refused(with_array(content, name, np.zeros(3)))


def test_an_untrained_component_with_arrays_is_refused(content, refused):
    nothing = {"labels": [], "thresholds": {}, "entity_labels": [], "reference_labels": []}
    refused(signed(files(content), **nothing), "damaged: it has no labels")


def peak(work):
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def header(text):
    text = text.encode().ljust(118) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text


@pytest.mark.parametrize("shape", ["(268435456,)", "(-5,)", "(2, 2)", "(0,)", "(10**9, 0)"])
@pytest.mark.parametrize("descr", ["<f4", "|O", "|V0", ",".join(["<f4"] * 9)])
def test_a_header_that_claims_other_bytes_than_there_are_allocates_nothing(
    content, refused, shape, descr
):
    text = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}}}"
    member = header(text) + bytes(20)
    changed = signed(npz(files(content), **{"hashing/biases.npy": member}))
    assert peak(lambda: refused(changed)) < 2**24


def bomb(parts, method=zipfile.ZIP_DEFLATED):
    zeros = as_npy(np.zeros(2**25, np.float32))
    return npz(parts, method, **{"hashing/biases.npy": zeros}), len(zeros)


def test_an_archive_that_unpacks_to_very_much_is_not_unpacked(content, refused):
    changed = signed(bomb(files(content))[0])
    assert len(changed) < 2**19
    assert peak(lambda: refused(changed, "more than 67108864")) < 2**24


def test_an_archive_that_lies_about_its_size_is_not_unpacked(content, refused):
    parts, size = bomb(files(content))
    lie = parts["arrays.npz"].replace(struct.pack("<I", size), struct.pack("<I", 1000))
    assert lie != parts["arrays.npz"]
    changed = signed({**parts, "arrays.npz": lie})
    assert peak(lambda: refused(changed)) < 2**24


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_ways_to_pack_are_refused(content, refused, method):
    refused(signed(npz(files(content), method)), "neither stored nor deflated")


def test_one_name_twice_is_refused(content, refused):
    member = members(files(content))["hashing/biases.npy"]
    refused(signed(npz(files(content), **{"hashing/biases": member})), "one name stands twice")


@pytest.mark.parametrize("name", ["hashing/rows", "classifier/roots", "reference/path/nodes"])
@pytest.mark.parametrize("change", [lambda member: member + b"\0", lambda member: member[:-1]])
def test_members_of_another_length_than_their_header_says_are_refused(
    content, refused, name, change
):
    member = change(members(files(content))[f"{name}.npy"])
    refused(signed(npz(files(content), **{f"{name}.npy": member})), "bytes for int")


@pytest.mark.parametrize("name", ["hashing/biases", "classifier/values", "reference/path/nodes"])
def test_a_refused_load_leaves_a_trained_component_as_it_was(trained, content, name):
    nlp = sentences.train(
        sentences.build(), [sentences.annotated(trained.vocab, i) for i in (0, 1, 3, 4, 5)]
    )
    component, content = (
        nlp.get_pipe("klsh_relations"),
        trained.get_pipe("klsh_relations").to_bytes(),
    )
    docs = [sentences.bare(doc) for doc in sentences.corpus(nlp.vocab, 3)]
    before, answers = component.to_bytes(), component.predict(docs)
    shorter = array(files(content), name)[:-1]
    with pytest.raises(ValueError, match=r"damaged|offsets end"):
        component.from_bytes(with_array(content, name, shorter))
    assert component.to_bytes() == before
    assert component.predict(docs) == answers


def test_loading_an_untrained_component_forgets_everything(copied):
    component = copied.get_pipe("klsh_relations")
    empty = sentences.build().get_pipe("klsh_relations").to_bytes()
    assert component.from_bytes(empty).to_bytes() == empty
    with pytest.raises(ValueError, match="not trained"):
        component.predict([])


@pytest.fixture
def folder(trained, tmp_path):
    trained.get_pipe("klsh_relations").to_disk(tmp_path)
    return tmp_path


def test_other_files_in_the_folder_do_not_matter(folder, content):
    (folder / ".DS_Store").write_bytes(b"\0")
    (folder / "arrays.npy").mkdir()
    component = sentences.build().get_pipe("klsh_relations").from_disk(folder)
    assert component.to_bytes() == content


@pytest.mark.parametrize("name", NAMES)
def test_a_folder_in_the_place_of_a_file_is_refused(folder, untrained, name):
    (folder / name).unlink()
    (folder / name).mkdir()
    with pytest.raises(ValueError, match=f"lacks {name}"):
        untrained.from_disk(folder)


@pytest.mark.parametrize("name", NAMES)
def test_a_file_in_the_place_of_the_folder_is_refused(folder, untrained, name):
    with pytest.raises(ValueError, match=r"lacks meta\.json, symbols\.json, arrays\.npz"):
        untrained.from_disk(folder / name)


@pytest.mark.skipif(not READ_ERROR.is_file(), reason="needs a file that cannot be read")
@pytest.mark.parametrize("name", NAMES)
def test_a_file_that_cannot_be_read_is_refused(folder, untrained, name):
    (folder / name).unlink()
    (folder / name).symlink_to(READ_ERROR)
    with pytest.raises(ValueError, match=r"cannot be read .*; let this user read them"):
        untrained.from_disk(folder)


@pytest.mark.parametrize("name", ["vocab", "cfg", "meta.json", "klsh_relations", "nonsense"])
def test_no_part_of_a_component_can_be_excluded(trained, folder, content, tmp_path, name):
    component = trained.get_pipe("klsh_relations")
    assert component.to_bytes(exclude=[name]) == content
    restored = sentences.build().get_pipe("klsh_relations").from_bytes(content, exclude=[name])
    assert restored.to_bytes() == content
    component.to_disk(tmp_path / "again", exclude=[name])
    restored = sentences.build().get_pipe("klsh_relations")
    assert restored.from_disk(tmp_path / "again", exclude=[name]).to_bytes() == content


def test_a_pipeline_can_exclude_the_component(trained, content, tmp_path):
    trained.to_disk(tmp_path, exclude=["klsh_relations"])
    assert not (tmp_path / "klsh_relations").exists()
    nlp = sentences.build().from_bytes(trained.to_bytes(), exclude=["klsh_relations"])
    assert nlp.get_pipe("klsh_relations").labels == ()
    trained.to_disk(tmp_path)
    nlp = spacy.load(tmp_path, exclude=["klsh_relations"])
    assert nlp.pipe_names == []
