import gzip

import pytest

from conf.errors import InputError
from conf.taxonomy import edos_labels
from etl.edos.weak_examples import examples_of, parse_example, read_weak_examples
from udfs.text_files import Row

LABELS = edos_labels()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("29 <SEP> the rain stopped just in time", ("the rain stopped just in time", 29)),
        ("0<SEP>a shadow on the wall", ("a shadow on the wall", 0)),
        (" 40 <SEP>  it is Tuesday \r", ("it is Tuesday", 40)),
        ("007 <SEP> odd but whole", ("odd but whole", 7)),
        ("3 <SEP> he said <SEP> twice", ("he said <SEP> twice", 3)),
        ("41 <SEP> one too many", "label_id_outside_taxonomy"),
        ("99999999999999 <SEP> far too many", "label_id_outside_taxonomy"),
        ("-1 <SEP> below", "bad_label_id"),
        ("two <SEP> words", "bad_label_id"),
        ("² <SEP> a digit, but no number", "bad_label_id"),
        ("٣ <SEP> digits of another script", "bad_label_id"),
        (" <SEP> nothing before", "bad_label_id"),
        ("5 <SEP>   ", "no_text"),
        ("5 the separator is missing", "no_separator"),
        ("5 <sep> lower case", "no_separator"),
    ],
)
def test_each_kind_of_line(line, expected):
    assert parse_example(line, len(LABELS)) == expected


def test_lines_left_out_come_back_with_place_and_reason():
    lines = ["1 <SEP> fine", "", "41 <SEP> x", "no", "1 <SEP> fine"]
    examples = examples_of([Row(number, line) for number, line in enumerate(lines, 1)], LABELS, "votes.txt")
    assert examples.rows == (("fine", 1), ("fine", 1))
    assert [(line.id, line.reason) for line in examples.dropped] == [
        ("votes.txt:3", "label_id_outside_taxonomy"),
        ("votes.txt:4", "no_separator"),
    ]
    assert examples.reasons() == {"label_id_outside_taxonomy": 1, "no_separator": 1}


def test_a_plain_and_a_packed_file_read_the_same(tmp_path):
    content = "\ufeff1 <SEP> café\n2 <SEP> a line\u2028that goes on\n".encode()
    (tmp_path / "a.txt").write_bytes(content)
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(content))
    plain = read_weak_examples(tmp_path / "a.txt", LABELS)
    assert plain.rows == (("café", 1), ("a line\u2028that goes on", 2))
    assert read_weak_examples(tmp_path / "a.txt.gz", LABELS).rows == plain.rows


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("missing.txt", None, "no such file"),
        ("empty.txt", b"", "no line is"),
        ("other.txt", b"id,text\n1,hello\n", "no line is"),
        ("plain.txt.gz", b"\x1f\x8b1 <SEP> fine\n", "plain.txt.gz: bad_gzip"),
    ],
)
def test_files_that_give_nothing_are_refused_in_one_line(tmp_path, name, content, message):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=message) as error:
        read_weak_examples(tmp_path / name, LABELS)
    assert "\n" not in str(error.value)


def test_a_file_that_unpacks_too_large_ends_at_the_limit(tmp_path, monkeypatch):
    monkeypatch.setattr("udfs.text_files.MAX_FILE", 130)
    (tmp_path / "bomb.txt.gz").write_bytes(gzip.compress(b"1 <SEP> fine\n" * 100))
    examples = read_weak_examples(tmp_path / "bomb.txt.gz", LABELS)
    assert len(examples.rows) == 10
    assert [line.reason for line in examples.dropped] == ["too_large"]


def test_a_file_that_ends_early_is_read_so_far(tmp_path):
    (tmp_path / "cut.txt.gz").write_bytes(gzip.compress(b"1 <SEP> fine\n" * 1000, mtime=0)[:-9])
    examples = read_weak_examples(tmp_path / "cut.txt.gz", LABELS)
    assert examples.rows
    assert examples.dropped[0].reason == "bad_gzip"
    assert examples.dropped[0].units == 0


def test_a_line_that_is_not_utf8_is_left_out(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"1 <SEP> fine\n2 <SEP> caf\xe9\n3 <SEP> fine\n")
    examples = read_weak_examples(tmp_path / "a.txt", LABELS)
    assert [label for _, label in examples.rows] == [1, 3]
    assert [(line.id, line.reason) for line in examples.dropped] == [("a.txt:2", "not_unicode")]


def test_the_released_files(shared_data):
    folder = shared_data / "empathetic_intents"
    train = read_weak_examples(folder / "classifier_train.txt.gz", LABELS)
    valid = read_weak_examples(folder / "classifier_valid.txt", LABELS)
    assert (len(train.rows), train.dropped) == (25_023, ())
    assert (len(valid.rows), valid.dropped) == (3_544, ())
    assert {label for _, label in train.rows} == set(range(41))
