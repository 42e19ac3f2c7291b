import csv

from hypothesis import given, settings
from hypothesis import strategies as st
from streaming import made

from spacy_klsh.streaming.sources import Options, Text, plan
from spacy_klsh.streaming.tsv_sink import write_tsv


def test_triples_as_tsv(tmp_path):
    write_tsv(made.RECORDS, tmp_path / "a.tsv")
    header, *lines = (tmp_path / "a.tsv").read_text(encoding="utf-8").splitlines()
    assert header.startswith("document\thead\tlabel\ttail\tscore\t")
    assert lines[0].startswith('x/a.txt:1\t"Ada ""Park"""\tFOUNDED\tthe firm Lumen 🧬\t0.8712\t')
    assert len(lines) == 2 + 2 + 1 + 2


def test_line_breaks_in_ids_are_quoted(tmp_path):
    record = {**made.ADA, "id": "a\rb\nc"}
    write_tsv([record], tmp_path / "a.tsv")
    with (tmp_path / "a.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, delimiter="\t", strict=True))
    assert [row[0] for row in rows] == ["document", *[record["id"]] * 2]


@settings(max_examples=30, deadline=None)
@given(records=st.lists(made.records(), max_size=3))
def test_tsv_reads_back(tmp_path_factory, records):
    path = tmp_path_factory.mktemp("tsv") / "a.tsv"
    write_tsv(records, path)
    with path.open(encoding="utf-8", newline="") as file:
        assert list(csv.reader(file, delimiter="\t", strict=True))[1:] == made.naive_rows(records)


def test_our_own_reader_reads_the_table(tmp_path):
    path = tmp_path / "a.tsv"
    write_tsv(made.RECORDS, path)
    (shard,) = plan([str(path)], Options(text_field="head", id_field="document"))
    first, *_ = items = list(shard.read())
    assert all(isinstance(item, Text) for item in items) and len(items) == 7
    assert first.text == 'Ada "Park"' and first.fields["tail"] == "the firm Lumen 🧬"
