import pytest
from streaming import made

from spacy_klsh.streaming.outputs import To, find_output
from spacy_klsh.streaming.sinks import SINKS


def bytes_of(path):
    if path.is_file():
        return path.read_bytes()
    return {file.name: file.read_bytes() for file in sorted(path.iterdir())}


@pytest.fixture(params=SINKS)
def sink(request):
    if request.param is To.parquet:
        pytest.importorskip("pyarrow", reason="the extra parquet is not installed")
    return SINKS[request.param]


def broken(records):
    yield from records
    raise RuntimeError("the records break off")


def test_the_same_records_give_the_same_bytes(sink, tmp_path):
    sink(made.RECORDS, tmp_path / "a")
    sink(iter(made.RECORDS), tmp_path / "new" / "folder" / "b")
    assert bytes_of(tmp_path / "a") == bytes_of(tmp_path / "new" / "folder" / "b")
    sink(made.RECORDS[::-1], tmp_path / "c")
    assert bytes_of(tmp_path / "a") != bytes_of(tmp_path / "c")


def test_what_is_there_is_replaced_by_something_whole_or_not_at_all(sink, tmp_path):
    sink(made.RECORDS[:1], tmp_path / "a")
    before = bytes_of(tmp_path / "a")
    with pytest.raises(RuntimeError, match="break off"):
        sink(broken(made.RECORDS), tmp_path / "a")
    assert bytes_of(tmp_path / "a") == before
    sink(made.RECORDS, tmp_path / "a")
    assert bytes_of(tmp_path / "a") != before
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_no_records_are_a_file_as_well(sink, tmp_path):
    sink([], tmp_path / "a")
    assert (tmp_path / "a").exists()


def test_folders_of_others_are_never_replaced(tmp_path):
    (tmp_path / "a.txt").write_text("mine", encoding="utf-8")
    for write in (lambda: find_output(tmp_path, To.brat), lambda: SINKS["brat"]([], tmp_path)):
        with pytest.raises(FileExistsError, match=r"has files of others in it .*; name a new one"):
            write()
    assert (tmp_path / "a.txt").read_text(encoding="utf-8") == "mine"
    (tmp_path / "empty").mkdir()
    SINKS["brat"](made.RECORDS, tmp_path / "empty")
    assert len(list((tmp_path / "empty").iterdir())) == 9


@pytest.mark.parametrize(
    ("name", "to", "expected"),
    [
        ("a.jsonl", None, To.jsonl),
        ("a.TSV", None, To.tsv),
        ("a.spacy", None, To.docbin),
        ("a.db", None, To.sqlite),
        ("folder", To.brat, To.brat),
        ("a.txt", To.tsv, To.tsv),
        (None, None, To.jsonl),
    ],
)
def test_outputs_by_name(tmp_path, name, to, expected):
    assert find_output(name and tmp_path / name, to) is expected


def test_unknown_outputs_are_an_error(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match=r"a\.out ends in none of \.jsonl, .*--to jsonl\|tsv\|"):
        find_output(tmp_path / "a.out")
    with pytest.raises(ValueError, match="tsv cannot go to standard output; name a file with -o"):
        find_output(None, To.tsv)
    monkeypatch.setattr("spacy_klsh.streaming.outputs.find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError, match=r"python -m pip install spacy-klsh\[parquet\]"):
        find_output(tmp_path / "a.parquet")
