import gc
import io
import json
import os
import pickle

import numpy as np
import pytest
import spacy
from pipeline import sentences
from pipeline.forgery import NAMES, files, members, npz, packed, signed
from pipeline.sentences import answers, bare, build, corpus, with_vectors


@pytest.fixture(scope="module")
def content(trained):
    return trained.get_pipe("klsh_relations").to_bytes()


@pytest.fixture(scope="module")
def untrained():
    """An untrained component of the same settings, pickled."""
    return pickle.dumps(build().get_pipe("klsh_relations"))


@pytest.fixture
def empty(untrained):
    return pickle.loads(untrained)


@pytest.fixture
def folder(trained, tmp_path):
    trained.get_pipe("klsh_relations").to_disk(tmp_path)
    return tmp_path


def through_bytes(nlp, path):
    other = build()
    other.get_pipe("klsh_relations").from_bytes(nlp.get_pipe("klsh_relations").to_bytes())
    return other


def through_disk(nlp, path):
    other = build()
    nlp.get_pipe("klsh_relations").to_disk(path / "new" / "folder")
    other.get_pipe("klsh_relations").from_disk(str(path / "new" / "folder"))
    return other


def through_pipeline_on_disk(nlp, path):
    nlp.to_disk(path)
    return spacy.load(path)


def through_pipeline_bytes(nlp, path):
    return build().from_bytes(nlp.to_bytes())


def through_pickle(nlp, path):
    return pickle.loads(pickle.dumps(nlp))


@pytest.mark.parametrize(
    "travel",
    [through_bytes, through_disk, through_pipeline_on_disk, through_pipeline_bytes, through_pickle],
)
def test_a_saved_component_gives_equal_answers_and_equal_bytes(trained, tmp_path, travel):
    other = travel(trained, tmp_path)
    component, restored = (nlp.get_pipe("klsh_relations") for nlp in (trained, other))
    found = answers(other.pipe(map(bare, corpus(other.vocab))))
    assert found == answers(trained.pipe(map(bare, corpus(trained.vocab))))
    assert restored.to_bytes() == component.to_bytes()
    assert (restored.labels, restored.thresholds) == (component.labels, component.thresholds)
    assert restored.reference_labels == component.reference_labels


@pytest.mark.parametrize(
    "travel",
    [through_bytes, through_disk, through_pipeline_on_disk, through_pipeline_bytes, through_pickle],
)
def test_an_untrained_component_stays_untrained(tmp_path, travel):
    nlp = build()
    other = travel(nlp, tmp_path)
    with pytest.raises(ValueError, match="spacy train"):
        other("")
    restored = other.get_pipe("klsh_relations")
    assert restored.to_bytes() == nlp.get_pipe("klsh_relations").to_bytes()


def test_files_and_bytes_hold_the_same(folder, content):
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == files(content)


def test_saving_over_an_older_model_replaces_it(folder, empty):
    empty.to_disk(folder)
    assert build().get_pipe("klsh_relations").from_disk(folder).labels == ()


def test_a_restored_component_can_learn_again(trained, content):
    component = build().get_pipe("klsh_relations").from_bytes(content)
    component.initialize(lambda: sentences.examples(corpus(trained.vocab)))
    assert component.to_bytes() == content


def test_meta_tells_version_labels_thresholds_and_settings(content, component):
    meta = json.loads(files(content)["meta.json"])
    assert meta["format_version"] == 1
    assert tuple(meta["labels"]) == component.labels
    assert meta["thresholds"] == component.thresholds
    assert meta["settings"]["hashing"]["n_bits"] == 128
    assert meta["settings"]["kernel"]["decay"] == component.hashing.kernel.decay


def refused(component, content, match="damaged"):
    with pytest.raises(ValueError, match=match):
        component.from_bytes(content)
    assert component.labels == ()
    return True


@pytest.mark.parametrize("content", [b"", b"\x00", b"no model", packed([1]), packed({"a": b""})])
def test_other_bytes_are_refused(empty, content):
    assert refused(empty, content)


@pytest.mark.parametrize("value", ["text", 1, None, [b"x"]])
def test_files_that_are_no_bytes_are_refused(empty, content, value):
    assert refused(empty, packed({**files(content), "symbols.json": value}))


def test_damaged_bytes_leave_a_trained_component_as_it_was(copied, content):
    component = copied.get_pipe("klsh_relations")
    for damaged in (content[:-1], content[:200] + b"x" + content[201:]):
        with pytest.raises(ValueError, match="damaged"):
            component.from_bytes(damaged)
    assert component.to_bytes() == content


def test_damaged_bytes_leave_the_garbage_collector_on(empty, content):
    assert gc.isenabled()
    refused(empty, content[:-1])
    assert gc.isenabled()


@pytest.mark.parametrize("name", NAMES)
def test_a_missing_file_is_named(folder, empty, content, name):
    (folder / name).unlink()
    with pytest.raises(ValueError, match=f"lacks {name}"):
        empty.from_disk(folder)
    parts = files(content)
    del parts[name]
    assert refused(empty, packed(parts))


def test_a_folder_that_is_not_there_is_an_error(empty, tmp_path):
    with pytest.raises(ValueError, match=r"lacks meta\.json, symbols\.json, arrays\.npz"):
        empty.from_disk(tmp_path / "nowhere")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("change", [lambda b: b[:-1], lambda b: b"", lambda b: b + b"\0"])
def test_a_damaged_file_is_refused(folder, empty, name, change):
    path = folder / name
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(ValueError, match="damaged"):
        empty.from_disk(folder)
    assert empty.labels == ()


@pytest.mark.parametrize("name", NAMES)
def test_a_file_of_another_model_is_refused(trained, folder, empty, name):
    nlp = sentences.train(build(), [sentences.annotated(trained.vocab, i) for i in (0, 1, 3, 4, 5)])
    other = files(nlp.get_pipe("klsh_relations").to_bytes())
    assert other[name] != (folder / name).read_bytes()
    (folder / name).write_bytes(other[name])
    with pytest.raises(ValueError, match="damaged"):
        empty.from_disk(folder)
    assert empty.labels == ()


def test_two_files_in_each_others_place_are_refused(folder, empty):
    os.rename(folder / "symbols.json", folder / "old")
    os.rename(folder / "arrays.npz", folder / "symbols.json")
    os.rename(folder / "old", folder / "arrays.npz")
    with pytest.raises(ValueError, match="damaged"):
        empty.from_disk(folder)


@pytest.mark.parametrize("version", [0, 2, "1", None])
def test_another_format_version_is_refused_by_number(empty, content, version):
    changed = signed(files(content), format_version=version)
    assert refused(empty, changed, f"format version {version!r}, this spacy-klsh reads 1")


@pytest.mark.parametrize("meta", [b"[]", b"7", b"{}", b"{", b"\xff", b'"meta"'])
def test_a_meta_file_without_a_version_is_refused(empty, content, meta):
    assert refused(empty, packed({**files(content), "meta.json": meta}))


OTHER_SETTINGS = [
    ("classifier", {"seed": 1}),
    ("direction", {"direction": "none"}),
    ("hashing", {"hashing": {**sentences.SMALL["hashing"], "n_bits": 64}}),
    ("classifier", {"classifier": {**sentences.SMALL["classifier"], "n_members": 21}}),
    ("views", {"views": {"@misc": "spacy-klsh.views.v1", "blind": False}}),
    ("views", {"views": {"@misc": "spacy-klsh.views.v1", "depth": 1}}),
    ("kernel", {"kernel": {"@misc": "spacy-klsh.subsequence_kernel.v1", "decay": 0.5}}),
    ("kernel", {"kernel": {"@misc": "spacy-klsh.subsequence_kernel.v1", "tokens": "gaussian"}}),
    ("kernel", {"kernel": {"@misc": "spacy-klsh.subsequence_kernel.v1", "edges": "any"}}),
]


@pytest.mark.parametrize(("name", "config"), OTHER_SETTINGS)
def test_settings_that_change_answers_must_be_those_of_training(content, name, config):
    component = build(**config).get_pipe("klsh_relations")
    assert refused(component, content, f"trained with other settings: {name} was")


def test_settings_that_change_no_code_may_differ(content):
    near = {"@misc": "spacy-klsh.entity_pairs.v1", "max_tokens": 5}
    nlp = build(threshold=0.9, candidates=near, scorer=None)
    assert nlp.get_pipe("klsh_relations").from_bytes(content).labels


@pytest.fixture(scope="module")
def vector_content():
    return sentences.train(with_vectors(build())).get_pipe("klsh_relations").to_bytes()


def test_the_same_word_vectors_are_accepted(vector_content):
    component = with_vectors(build()).get_pipe("klsh_relations").from_bytes(vector_content)
    assert component.to_bytes() == vector_content


@pytest.mark.parametrize(
    ("make", "name"),
    [(build, "shape|name|sha256"), (lambda: with_vectors(build(), 2.0), "sha256")],
    ids=["none", "other"],
)
def test_other_word_vectors_are_refused(vector_content, make, name):
    component = make().get_pipe("klsh_relations")
    assert refused(component, vector_content, f"trained with other word vectors: ({name}) was")


def test_word_vectors_where_there_were_none_are_refused(content):
    component = with_vectors(build()).get_pipe("klsh_relations")
    assert refused(component, content, "trained with other word vectors")


def test_word_vectors_travel_with_the_pipeline(tmp_path):
    nlp = sentences.train(with_vectors(build()))
    nlp.to_disk(tmp_path)
    found = answers(spacy.load(tmp_path).pipe(map(bare, corpus(nlp.vocab))))
    assert found == answers(nlp.pipe(map(bare, corpus(nlp.vocab))))


class Bomb:
    """Leaves a trace when it is unpickled."""

    exploded = False

    def __reduce__(self):
        return setattr, (Bomb, "exploded", True)


@pytest.mark.parametrize("member", ["hashing/biases.npy", "classifier/roots.npy", "extra.npy"])
@pytest.mark.parametrize("raw", [False, True])
def test_a_pickled_array_is_refused_and_not_executed(empty, content, member, raw):
    buffer = io.BytesIO()
    if raw:
        pickle.dump(Bomb(), buffer)
    else:
        np.save(buffer, np.array([Bomb()], object), allow_pickle=True)
    with pytest.raises(ValueError, match="damaged"):
        empty.from_bytes(signed(npz(files(content), **{member: buffer.getvalue()})))
    assert not Bomb.exploded
    assert pickle.loads(pickle.dumps(Bomb())) is None and Bomb.exploded  # it would have
    Bomb.exploded = False


def test_a_pickle_in_the_place_of_the_arrays_is_refused_and_not_executed(empty, content):
    changed = signed({**files(content), "arrays.npz": pickle.dumps(Bomb())})
    assert refused(empty, changed) and not Bomb.exploded


def test_any_missing_array_is_refused(empty, content):
    for member in members(files(content)):
        with pytest.raises(ValueError, match=r"damaged|consistent"):
            empty.from_bytes(signed(npz(files(content), **{member: None})))
        assert empty.labels == ()


def test_a_missing_view_is_refused(empty, content):
    parts = {**files(content), "symbols.json": b"{}"}
    assert refused(empty, signed(parts))
