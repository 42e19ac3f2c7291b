"""2,000 changes to a saved component: each is refused, or answers as before."""

import io
import json
import zipfile
from copy import copy
from functools import reduce
from operator import getitem

import numpy as np
import pytest
import strategies
from hypothesis import given, settings
from hypothesis import strategies as st
from pipeline import sentences
from pipeline.forgery import as_json, as_npy, files, members, npz, signed

BYTES, ARCHIVE, META, SYMBOLS, ARRAYS = (
    settings(strategies.THOROUGH, max_examples=n) for n in (600, 300, 500, 200, 400)
)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)


def learned(*numbers):
    """A component with word vectors that saw the sentences of these numbers."""
    nlp = sentences.with_vectors(sentences.build())
    docs = [sentences.annotated(nlp.vocab, i) for i in numbers]
    return sentences.train(nlp, docs).get_pipe("klsh_relations")


@pytest.fixture(scope="module")
def saved():
    return learned(*range(len(sentences.PATTERNS)))


@pytest.fixture(scope="module")
def other():
    return learned(0, 1, 3, 4, 5)


@pytest.fixture(scope="module")
def content(saved):
    return saved.to_bytes()


@pytest.fixture(scope="module")
def load(saved, other):
    """Load bytes over another model; the restored component, or None if they are refused."""
    docs = [sentences.bare(doc) for doc in sentences.corpus(other.vocab, 3)]
    expected, before = saved.predict(docs), other.predict(docs)
    assert before != expected

    def load(changed):
        component = copy(other)
        parts = [component, component.hashing, component.classifier]
        states = [dict(vars(part)) for part in parts]
        try:
            component.from_bytes(changed)
        except ValueError as error:
            assert type(error) is ValueError and ";" in str(error)  # … ; what to do
            assert all(
                vars(part).keys() == state.keys()
                and all(vars(part)[name] is value for name, value in state.items())
                for part, state in zip(parts, states, strict=True)
            )
            return None
        assert component.predict(docs) == expected
        return component

    yield load
    assert other.predict(docs) == before


def changed_bytes(draw, content):
    """`content` with bytes flipped, cut, inserted, moved or repeated."""
    i, j, k = sorted(draw(st.tuples(*[st.integers(0, len(content))] * 3)))
    kind = draw(st.sampled_from(["flip", "cut", "insert", "remove", "move", "repeat", "over"]))
    if kind == "flip":
        flipped = bytearray(content)
        for place in draw(st.lists(st.integers(0, len(content) - 1), min_size=1, max_size=4)):
            flipped[place] ^= draw(st.integers(1, 255))
        return bytes(flipped)
    new = draw(st.binary(min_size=1, max_size=9))
    return {
        "cut": content[:i],
        "insert": content[:i] + new + content[i:],
        "remove": content[:i] + content[j:],
        "move": content[:i] + content[j:k] + content[i:j] + content[k:],
        "repeat": content[:j] + content[i:],
        "over": content[:i] + new + content[i + len(new) :],
    }[kind]


@BYTES
@given(st.data())
def test_changed_bytes(content, load, data):
    changed = changed_bytes(data.draw, content)
    restored = load(changed)
    assert restored.to_bytes() == content if restored else changed != content


@ARCHIVE
@given(st.data())
def test_a_changed_archive_with_right_checksums(content, load, data):
    """Only the readers of zip, deflate and npy can tell, or it means the same."""
    parts = files(content)
    changed = changed_bytes(data.draw, parts["arrays.npz"])
    restored = load(signed({**parts, "arrays.npz": changed}))
    assert restored.to_bytes() == content if restored else changed != parts["arrays.npz"]


def places(value, path=()):
    """Paths to all entries of nested dictionaries."""
    for key, inner in value.items():
        yield (*path, key)
        if isinstance(inner, dict):
            yield from places(inner, (*path, key))


def is_plausible(path, value):
    """What no check can tell from the truth."""
    if path[0] == "thresholds":
        return len(path) == 2 and type(value) in (int, float) and 0 <= value <= 1
    words = isinstance(value, list) and all(isinstance(word, str) for word in value)
    return path == ("entity_labels",) and words and len(value) > 0


@META
@given(st.data())
def test_changed_entries_of_meta(content, load, data):
    parts = files(content)
    meta = json.loads(parts["meta.json"])
    entries = [path for path in places(meta) if not path[0].startswith("checksum")]
    path = data.draw(st.sampled_from(entries))
    *above, name = path
    entry = reduce(getitem, above, meta)
    former = entry.pop(name)
    kind = data.draw(st.sampled_from(["remove", "replace", "rename", "add", "wrap", "change"]))
    if kind == "replace":
        entry[name] = data.draw(VALUES.filter(lambda value: not is_plausible(path, value)))
    elif kind == "rename":
        entry[data.draw(st.text(max_size=9))] = former
    elif kind == "add":
        entry |= {data.draw(st.text(max_size=9)): data.draw(VALUES), name: former}
    elif kind == "wrap":
        entry[name] = data.draw(st.sampled_from([[former], {name: former}, str(former)]))
    elif kind == "change" and isinstance(former, list):
        odd = data.draw(st.sampled_from([None, 1, [], {}, former]))
        entry[name] = data.draw(st.sampled_from([[*former, odd], [odd, *former[1:]], former * 2]))
    load(signed({**parts, "meta.json": as_json(meta)}))


@SYMBOLS
@given(st.data())
def test_changed_symbols(content, load, data):
    parts = files(content)
    symbols = json.loads(parts["symbols.json"])
    place = data.draw(st.integers(0, len(symbols["path"]) - 1))
    odd = VALUES.filter(lambda value: not isinstance(value, str))
    words = list(symbols["path"])
    changed = data.draw(
        st.one_of(
            VALUES,
            st.builds(lambda value: {"path": value}, VALUES),
            st.builds(lambda value: {**symbols, "tree": value}, VALUES | st.just(words)),
            st.builds(lambda value: {"path": [*words[:place], value, *words[place + 1 :]]}, odd),
            st.builds(lambda value: {"path": [*words, value]}, VALUES),
            st.just({"path": words[:place] + words[place + 1 :]}),
            st.just({"path": [*words[:place], words[place - 1], *words[place + 1 :]]}),
            st.just({"path": "".join(words)}),
            st.just({"path": dict.fromkeys(words)}),
        )
    )
    assert not load(signed({**parts, "symbols.json": as_json(changed)}))


RESHAPED = {
    "flat": lambda array: array.reshape(-1),
    "deep": lambda array: array[None],
    "wide": lambda array: array[..., None],
    "turned": lambda array: array.T,
    "backwards": lambda array: np.asfortranarray(array),
    "empty": lambda array: array[:0] if array.ndim else array.reshape(1)[:0],
    "short": lambda array: array[:-1] if array.ndim else array - 1,
    "long": lambda array: np.concatenate([array, array[-1:]]) if array.ndim else array + 1,
    "narrow": lambda array: array[..., :-1] if array.ndim else array * 0,
    "doubled": lambda array: np.concatenate([array, array], axis=-1) if array.ndim else -array,
    "swapped": lambda array: array.astype(array.dtype.newbyteorder(">")),
}
DTYPES = ("f2", "f8", "c8", "i1", "i8", "u4", "u8", "?", "U3", "S4", "M8[s]", "V4")
KINDS = ("value", "shape", "dtype", "header", "swap", "remove", "add")


@ARRAYS
@given(st.data())
def test_changed_arrays(content, load, data):
    parts = files(content)
    former = members(parts)
    names = st.sampled_from(sorted(former))
    name, another = data.draw(names), data.draw(names)
    array = np.load(io.BytesIO(former[name]))
    kind = data.draw(st.sampled_from(KINDS if array.size else KINDS[1:]))
    if kind == "value":
        floats = [np.nan, np.inf, -np.inf]
        limits = [2**31 - 1, -(2**31), -2] if array.dtype == np.int32 else [-2, -(2**63)]
        place = data.draw(st.integers(0, array.size - 1))
        value = data.draw(st.sampled_from(floats if array.dtype.kind == "f" else limits))
        array.reshape(-1)[place] = value
        changed = {name: as_npy(array)}
    elif kind == "shape":
        changed = {name: as_npy(RESHAPED[data.draw(st.sampled_from(sorted(RESHAPED)))](array))}
    elif kind == "dtype":
        changed = {name: as_npy(np.zeros(array.shape, data.draw(st.sampled_from(DTYPES))))}
    elif kind == "header":
        size = len(former[name]) - array.nbytes
        changed = {name: changed_bytes(data.draw, former[name][:size]) + former[name][size:]}
    elif kind == "swap":
        changed = {name: former[another], another: former[name]}
    elif kind == "remove":
        changed = {name: None}
    else:
        extra = st.sampled_from(["x", "x.npy", "hashing/x.npy", "reference/path/parents.npy"])
        changed = {data.draw(extra): former[another]}
    method = data.draw(st.sampled_from([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED]))
    assert not load(signed(npz(parts, method, **changed))) or kind not in ("value", "remove", "add")
