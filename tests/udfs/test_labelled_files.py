"""Labelled files as people have them: what is read of them, and the fault of every row and file that is not."""

import gzip
import json
import time
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from udfs import csv_records, labelled_files, text_files
from udfs.labelled_files import columns_of, documents_of, rows_of, texts_of, whole_id
from udfs.text_files import shown

Found = list[tuple[int, Any]]


def read(name: str, content: str | bytes, columns: tuple[str, ...] = ("a",)) -> Found:
    """Return (line, cells or fault) of each row."""
    stream = BytesIO(content.encode() if isinstance(content, str) else content)
    return [(row.line, row.value if row.fault is None else row.fault) for row in rows_of(name, stream, columns)]


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ("a,b\n1,2\n", [(2, {"a": "1", "b": "2"})]),
        ("b,a\r\n1,2\r\n", [(2, {"b": "1", "a": "2"})]),
        ("\ufeff a , b\n1,2", [(2, {"a": "1", "b": "2"})]),
        ("\n\r\n  \na,b\n\n1,2\n\n", [(6, {"a": "1", "b": "2"})]),
        ("a,b\r1,2\r", [(2, {"a": "1", "b": "2"})]),
        ('a,b\n1,"x ""y"", z\nw"\n3,4\n', [(2, {"a": "1", "b": 'x "y", z\nw'}), (4, {"a": "3", "b": "4"})]),
        ('a,b\n1,5" tall\n3,4\n', [(2, {"a": "1", "b": '5" tall'}), (3, {"a": "3", "b": "4"})]),
        ('a,b\n1,"open\n3,4\n5,"q"\n', [(2, "open_quote"), (3, {"a": "3", "b": "4"}), (4, {"a": "5", "b": "q"})]),
        ('a,b\n1,"open\n3,4\n', [(2, "open_quote"), (3, {"a": "3", "b": "4"})]),
        ('a,b\n1,"x" y\n3,4\n', [(2, "bad_quotes"), (3, {"a": "3", "b": "4"})]),
        ("a,b\n1\n1,2,3\n,\n", [(2, "too_few_cells"), (3, "too_many_cells"), (4, {"a": "", "b": ""})]),
        ('a\n\n""\nx\n', [(3, {"a": ""}), (4, {"a": "x"})]),
        ("a,b\n1,\u2028x\x0by\n", [(2, {"a": "1", "b": "\u2028x\x0by"})]),
        ("\ufeffa\u00a0,x\u00a0 y\u2028,\u200bb\n1,2,3\n", [(2, {"a": "1", "x y": "2", "b": "3"})]),
        ("a,c,c\n1,2,3\n", [(2, {"a": "1"})]),
        ("a,c,c\n1,2,2\n", [(2, {"a": "1", "c": "2"})]),
        (
            "a,b\n1,2\n\ufeffa,b\r\n3,4\n",
            [(2, {"a": "1", "b": "2"}), (3, "repeated_header"), (4, {"a": "3", "b": "4"})],
        ),
        ("a,b\n1,2\nb,a\n3,4\n", [(2, {"a": "1", "b": "2"}), (3, "repeated_header"), (4, {"a": "4", "b": "3"})]),
        ("a,b\nb,b\n", [(2, {"a": "b", "b": "b"})]),
        ("a\na\n", [(2, {"a": "a"})]),
        ("a,b,a\n1,2,3\n", [(0, "repeated_column")]),
        ("A,b\n1,2\n", [(0, "no_column")]),
        ('"a\n1,2\n', [(0, "no_header")]),
        ("", [(0, "no_header")]),
        (b"a,b\n1,\xff\n3,4\n\xed\xa0\x80,5\n", [(2, "not_unicode"), (3, {"a": "3", "b": "4"}), (4, "not_unicode")]),
        ("a,b\n1,2\n".encode("utf-16"), [(2, {"a": "1", "b": "2"})]),
        ("a,b\n1,caf\u00e9\n".encode("cp1252"), [(2, {"a": "1", "b": "caf\u00e9"})]),
        (b"a;b\n1,5;2\n", [(2, {"a": "1,5", "b": "2"})]),
        (b'a;b\n"x;y";"2\n3"\n', [(2, {"a": "x;y", "b": "2\n3"})]),
        (b"sep=;\na;b\n1;2\n", [(3, {"a": "1", "b": "2"})]),
        (b"a\tb\n1\t2\n", [(2, {"a": "1", "b": "2"})]),
        (b"PK\x03\x04\x14\x00,a,b\n1,2\n", [(0, "no_text")]),
        (b"\xd0\xcf\x11\xe0\xa1\xb1,a,b\n1,2\n", [(0, "no_text")]),
        ("a," + ",".join("x" * 3000) + "\n", [(0, "no_header")]),
    ],
)
def test_rows_of_csv(content: str | bytes, found: Found) -> None:
    assert read("votes.csv", content) == found
    packed = gzip.compress(content if isinstance(content, bytes) else content.encode())
    assert read("VOTES.CSV.GZ", packed) == read("votes.csv", packed) == found


@pytest.mark.parametrize(
    ("cell", "whole"),
    [
        ("109012", "109012"),
        ("1.09012E+05", "109012"),
        ("1,09012E+05", "109012"),
        ("1.090120e+05", "109012"),
        ("1.09E+05", None),
        ("1E+05", None),
        ("1e+05", None),
        ("1.5E+00", None),
        ("1.23456789012346E+17", None),
        ("109012.0", "109012"),
        ('="0109012"', "0109012"),
        ("1e5", "1e5"),
        ("0e1f3a", "0e1f3a"),
        ("hit:1_conv:2.0", "hit:1_conv:2.0"),
        ("1.5", "1.5"),
        ("109012\u00a0", "109012"),
        ("\u2009\u200b109012.0 ", "109012"),
        ("######", None),
        ("#", "#"),
        ("nan", ""),
        ("#N/A", ""),
        ("", ""),
    ],
)
def test_ids_that_a_spreadsheet_made_numbers_of(cell: str, whole: str | None) -> None:
    assert whole_id(cell) == whole
    rows = list(rows_of("v.jsonl", BytesIO(json.dumps({"a": cell, "b": "x"}).encode()), ("a",), ("a",)))
    assert [(row.value, row.fault) for row in rows] == (
        [(None, "rounded_id")] if whole is None else [({"a": whole, "b": "x"}, None)]
    )


@pytest.mark.parametrize(
    ("name", "content", "found"),
    [
        ("x.jsonl", '{"a\u00a0": 1}', [(1, {"a": "1"})]),
        ("x.jsonl", '{"a": 1, "b": null}\n\n{"a": [true]}\n', [(1, {"a": "1", "b": ""}), (3, {"a": "[true]"})]),
        ("x.jsonl", '\ufeff{"a": "1"}\r\n{"a"\n[]\n', [(1, {"a": "1"}), (2, "not_json"), (3, "no_object")]),
        ("x.jsonl", '{"b": 1}', [(1, "no_column")]),
        ("x.jsonl", '{"a": "\\ud83d"}\n{"a": "\\ud83d\\ude00"}\n', [(1, "not_unicode"), (2, {"a": "\U0001f600"})]),
        ("x.jsonl", '{"a": "\u2028"}\n', [(1, {"a": "\u2028"})]),
        ("x.jsonl", '{"a": ' * 50_000 + "\n" + '{"a": 2}', [(1, "too_deep"), (2, {"a": "2"})]),
        ("x.jsonl", '{"a": ' + "[" * 150 + "]" * 150 + "}", [(1, "too_deep")]),
        ("x.json", '[{"a": 1}, {"a": 2}]', [(1, {"a": "1"}), (2, {"a": "2"})]),
        (
            "x.json",
            f' [\n{{"a": "],"}}, {"[" * 50_000 + "]" * 50_000}, {{"a": 2}}]',
            [(1, {"a": "],"}), (2, "too_deep")],
        ),
        ("x.json", '[{"a": 1}, {"a": "x', [(1, {"a": "1"}), (2, "not_json")]),
        ("x.json", '[{"a": 1},', [(1, {"a": "1"}), (2, "not_json")]),
        ("x.json", '[{"a": 1}] rest', [(1, {"a": "1"}), (2, "not_json")]),
        ("x.json", '{\n"a": 1\n}\n', [(1, {"a": "1"})]),
        ("x.json", '{"a": 1}\n{"a": 2}', [(1, {"a": "1"}), (2, {"a": "2"})]),
        ("x.json", '{\n"a": 1\n', [(1, "not_json")]),
        ("x.json", "[]", []),
        ("x.jsonl", "", []),
        ("x.json", "[", [(1, "not_json")]),
    ],
)
def test_rows_of_json(name: str, content: str, found: Found) -> None:
    assert read(name, content) == found
    assert read(f"{name}.gz", gzip.compress(content.encode("utf-8", "surrogatepass"))) == found


def test_a_file_that_cannot_be_unpacked_is_read_so_far() -> None:
    packed = gzip.compress(b"a,b\n" + b"1,2\n" * 5_000, mtime=0)
    found = read("votes.csv.gz", packed[:-9])
    assert found[-1] == (0, "bad_gzip")
    assert len(found) > 1_000
    assert read("votes.csv.gz", packed[:5]) == [(0, "bad_gzip")]
    assert read("votes.csv.gz", b"a,b\n1,2\n") == [(2, {"a": "1", "b": "2"})]


def test_lengths_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (text_files, csv_records):
        monkeypatch.setattr(module, "MAX_ROW", 50)
    monkeypatch.setattr(text_files, "MAX_FILE", 1_000)
    monkeypatch.setattr(labelled_files, "MAX_DOCUMENT", 100)
    long = "x" * 60
    assert read("v.csv", f"a\n1\n{long}\n2\n") == [(2, {"a": "1"}), (3, "too_long"), (4, {"a": "2"})]
    assert read("v.csv", 'a\n"' + "xxxxxxxx\n" * 9)[:2] == [(2, "open_quote"), (3, {"a": "xxxxxxxx"})]
    assert read("v.csv.gz", gzip.compress(b"a\n" + b"1\n" * 600))[-1] == (0, "too_large")
    assert read("v.json", "[" + "1," * 80) == [(0, "too_large")]
    assert [row.fault for row in texts_of("t.txt", BytesIO(f"1\n{long}\n2".encode()))] == [None, "too_long", None]


@pytest.mark.parametrize(
    ("name", "content", "rows"),
    [
        ("v.csv", "a,b\n" + '1,"x\n' * 50_000, 50_000),
        ("v.csv", "a,b\n" + 'x","y\n' * 50_000, 50_000),
        ("v.csv", 'a,b\n1,"\n' + "x,y\n" * 50_000, 50_001),
        ("v.csv", "a\n" + '"' * 100_000 + "\n1\n", 2),
        ("v.json", "[" + '{"a":1},' * 50_000, 50_001),
        ("v.json", "[" + '"' * 200_001, 2),
        ("v.json", "[" + '{"a":' * 50_000, 1),
        ("v.jsonl", '{"a":\n' * 50_000, 50_000),
    ],
)
def test_hostile_files_take_time_in_proportion_to_their_size(name: str, content: str, rows: int) -> None:
    started = time.process_time()
    found = read(name, content)
    assert time.process_time() - started < 10
    assert len(found) <= rows


def test_headers_and_evidence() -> None:
    assert columns_of("v.csv", BytesIO(b"a,b\n1\n"), ("b",)).value == ["a", "b"]
    assert columns_of("v.csv", BytesIO(b"a,b\n1\n"), ("c",))[2:] == ("no_column", "c; it has a, b")
    assert columns_of("v.csv.gz", BytesIO(b"\x1f\x8ba,b\n1\n"), ()).fault == "bad_gzip"
    assert columns_of("v.jsonl", BytesIO(b'{\n{"b": 1}\n'), ("a",)).value == ["b"]
    assert shown("a\n b\ud800" + "x" * 999).startswith("a b\ufffdxx")
    assert len(shown("x" * 999)) == 200
    assert [row.value for row in texts_of("t.txt", BytesIO(b"\xef\xbb\xbfa\r\n\nb\x0c\n"))] == ["a", "", "b\x0c"]
    assert next(documents_of("d.json", BytesIO(json.dumps({"a": [1]}).encode()))).value == {"a": [1]}


@pytest.mark.slow
def test_the_real_files_are_read_whole(shared_data: Path) -> None:
    rows = {
        "edos/mturk_groundtruth_labels_9k.csv.gz": 8_187,
        "edos/similar_dialogs_3k.csv.gz": 2_225,
        "empathetic_dialogues/ed_annotated_all.csv.gz": 132_103,
        "plots/tagged_plots_movielens.csv": 2_448,
        "plots/wiki_movie_plots_subset.csv.gz": 1_999,
        "esconv/multiesc_test.jsonl": 195,
    }
    for name, number in rows.items():
        with (shared_data / name).open("rb") as stream:
            found = [row.fault for row in rows_of(name, stream)]
        assert (len(found), set(found)) == (number, {None})


@pytest.mark.parametrize(
    ("text", "kept", "faults"),
    [
        ('[{"a": 1}, {"a": 2, "b": [1, {"c": 3}, {"a": 4}, {"a": 5}]', [1], 1),
        ('[{"a": 1}, {"a": 2}]]', [1, 2], 1),
        ('[{"a": 1}]\n[{"a": 2}]', [1], 1),
        ('[{"a": 1}, {"a": 2}', [1, 2], 1),
        ('[{"a": 3}, {"a": 1, "a": 2}]', [3], 1),
        ('[{"a": 1},, {"a": 2},]', [1], 1),
        ("[", [], 1),
    ],
)
def test_elements_before_one_that_cannot_be_decoded_count(text: str, kept: list[object], faults: int) -> None:
    found = list(documents_of("x.json", BytesIO(text.encode())))
    assert [row.value["a"] for row in found if row.fault is None] == kept
    assert sum(row.fault is not None for row in found) == faults


@pytest.mark.parametrize(
    "hostile", ['[{"a": 1}' + ',{"a": 2' * 5_000, "[" + '{"a":[1,' * 5_000, '[{"a":1},' + '{"a":"' * 50_000]
)
def test_many_elements_that_do_not_close_end_in_time(hostile: str) -> None:
    began = time.process_time()
    assert len(list(documents_of("x.json", BytesIO(hostile.encode())))) <= 3
    assert time.process_time() - began < 10


def test_a_row_whose_columns_of_one_name_differ_is_a_fault() -> None:
    rows = list(rows_of("x.csv", BytesIO(b"id,seat,seat,,\n1,a,a,x,y\n2,a,b,x,y\n3,,,,\n")))
    assert [row.fault for row in rows] == [None, "repeated_column", None]
    assert "seat" in rows[1].detail
