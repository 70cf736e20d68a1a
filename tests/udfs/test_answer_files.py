"""Answer files from people we do not know: read where they can be, reported where not."""

import json
from io import BytesIO
from pathlib import Path

import pyarrow as pa
import pytest

from conf.errors import InputError
from udfs.answer_files import COLUMNS, MAX_TEXT, SCHEMA, answers_in
from udfs.file_mapper import FileMapper


def document(**more: object) -> dict:
    item = {"item_id": "i1", "position": 1, "seconds": 3.2, "answers": {"label": {"value": "sad"}}}
    return {
        "format": "edos-lakehouse answers 1",
        "batch_id": "b1",
        "hit_id": "h1",
        "worker_id": "w1",
        "submitted": "2024-05-01T10:00:00.000Z",
        "answers": [item],
    } | more


LACKING = "batch_id, item_id, position, question, value, other, seconds, submitted"


def read(content: str | bytes, name: str = "a.json") -> list[dict]:
    return list(answers_in(name, BytesIO(content.encode() if isinstance(content, str) else content)))


def test_json_json_lines_and_csv_tell_the_same() -> None:
    pretty = read(json.dumps(document(), indent=1))
    lines = read(f"{json.dumps(document())}\n\n{json.dumps(document(hit_id='h2'))}\n", "a.jsonl")
    table = read(f"{','.join(COLUMNS)}\r\nb1,h1,w1,i1,1,label,sad,false,3.2,2024-05-01T10:00:00.000Z\r\n", "a.CSV")
    assert pretty == [
        {
            "place": "a.json#1",
            "batch_id": "b1",
            "hit_id": "h1",
            "worker_id": "w1",
            "item_id": "i1",
            "question": "label",
            "value": "sad",
            "other": False,
            "seconds": 3.2,
            "submitted": "2024-05-01T10:00:00.000Z",
        }
    ]
    assert [row["hit_id"] for row in lines] == ["h1", "h2"]
    assert [{**row, "place": ""} for row in table] == [{**row, "place": ""} for row in pretty]


@pytest.mark.parametrize(
    ("content", "name", "detail"),
    [
        ("{", "a.json", "not_json: {"),
        ("[" * 100_000, "a.json", "too_deep: [["),
        ('{"a": 1}', "a.json", "not what the annotation page writes"),
        ("[1, null]", "a.json", "not what the annotation page writes"),
        (json.dumps(document(answers={})), "a.json", "answers is no list"),
        (json.dumps(document(answers=[{}] * 1001)), "a.json", "answers is no list"),
        (json.dumps(document(answers=["x"])), "a.json", "an item without answers"),
        (json.dumps(document(answers=[{"answers": {"label": "sad"}}])), "a.json", "question label: no answer"),
        ("hit_id,worker_id\nh1,w1\n", "a.csv", "no column batch_id, item_id"),
        ("hit_id,worker_id,Answer\nh1,w1,a\n", "a.csv", f"no column {LACKING}; it has hit_id, worker_id, Answer."),
        (f"{','.join(COLUMNS)}\nb1,h1,1.09E+05,i1,1,label,Sad,false,3,x\n", "a.csv", "rounded_id: worker_id 1.09E+05"),
        (b"\xff\xfe\x00", "a.json", "not_utf8"),
        ("", "a.csv", "no_header"),
        (f"{','.join(COLUMNS)}\nb1,h1\n", "a.csv", "too_few_cells: 2 of 10"),
    ],
)
def test_what_cannot_be_read_is_reported(content: str | bytes, name: str, detail: str) -> None:
    rows = read(content, name)
    assert rows
    assert all(row["fault"] == "not_readable" and len(row["detail"]) <= MAX_TEXT for row in rows)
    assert rows[0]["detail"].startswith(detail)


def test_values_are_bounded_and_plain() -> None:
    item = {"item_id": ["i1"], "seconds": "NaN", "answers": {"label": {"value": "a\x00b\n" + "x" * 9999, "other": 1}}}
    (row,) = read(json.dumps(document(worker_id="  w 1 ", submitted={"a": 1}, answers=[item])))
    assert row["item_id"] is None
    assert row["submitted"] is None
    assert row["seconds"] is None
    assert row["worker_id"] == "w 1"
    assert row["other"] is False
    assert row["value"].startswith("a b x")
    assert len(row["value"]) <= MAX_TEXT
    for seconds, kept in ((1e9, None), (-1, None), (float("inf"), None), (True, 1.0), ("7.5", 7.5)):
        given = {"item_id": "i", "seconds": seconds, "answers": {"label": {"value": "sad"}}}
        assert read(json.dumps(document(answers=[given])))[0]["seconds"] == kept


def test_several_values_and_guarded_cells() -> None:
    item = {"item_id": "i1", "answers": {"fits": {"values": ["joy", "fear"]}, "notes": {"value": "=1+1"}}}
    assert [row["value"] for row in read(json.dumps(document(answers=[item])))] == ["joy|fear", "=1+1"]
    line = "b1,h1,w1,i1,1,notes,'=1+1,false,1,x"
    assert read(f"{','.join(COLUMNS)}\n{line}\n", "a.csv")[0]["value"] == "=1+1"


def test_a_platforms_results_are_read() -> None:
    head = "HITId,WorkerId,AssignmentStatus,WorkTimeInSeconds,SubmitTime,Input.hit_id,Input.batch_id,Input.item_1,"
    head += "Input.item_2,Input.item_3,Answer.label_1,Answer.label_2,Answer.other_1,Answer.other_2"
    lines = ["3X,W1,Approved,120,now,h1,b1,i1,i2,,Sad,Other,,Lonely", "3X,W2,Rejected,9,now,h1,b1,i1,i2,,Sad,,,"]
    rows = read("\n".join([head, *lines]), "Batch_1_results.csv")
    assert [(row["worker_id"], row["item_id"], row["value"], row["other"], row["seconds"]) for row in rows] == [
        ("W1", "i1", "Sad", False, 60.0),
        ("W1", "i2", "Lonely", True, 60.0),
        ("W2", "i1", "Sad", False, 4.5),
        ("W2", "i2", None, False, 4.5),
    ]
    assert [row.get("fault") for row in rows] == [None, None, "rejected", "rejected"]


@pytest.mark.parametrize(
    ("row", "found"),
    [
        ("b1,h1,109012.0,i1,1,label,Sad,WAHR,3,x", ("109012", "Sad", True)),
        ("b1,h1,1.09012E+05,i1,1,label,Sad,FALSCH,3,x", ("109012", "Sad", False)),
        ("b1,h1,nan,i1,1,label,\u00a0Sad\u200b\u00a0,true,3,x", (None, "Sad\u200b", True)),
        ("b1,h1,w1,i1,1,label,NaN,,3,x", ("w1", None, False)),
        ("b1,h1,w1,i1,1,label,#N/A,,3,x", ("w1", None, False)),
        ('b1,h1,w1,i1,1,label,"Sad\rAngry",,3,x', ("w1", "Sad Angry", False)),
        ("b1,h1,w1,i1,1,label,Sad\u2028Angry,,3,x", ("w1", "Sad Angry", False)),
    ],
)
def test_cells_as_spreadsheets_and_pandas_write_them(row: str, found: tuple[str | None, str | None, bool]) -> None:
    (answer,) = read(f"{','.join(COLUMNS)}\n{row}\n", "a.csv")
    assert (answer["worker_id"], answer["value"], answer["other"]) == found


@pytest.mark.parametrize("yes", ["true", "TRUE", "1.0", "WAHR", "VRAI"])
def test_options_in_columns_of_other_spreadsheets(yes: str) -> None:
    head = "HITId,WorkerId,Input.hit_id,Input.item_1,Answer.label_1.Sad,Answer.label_1.Angry,Answer.label_1.Proud"
    (row,) = read(f"{head}\n3X,W1,h1,i1,{yes},nan,FALSE\n", "a.csv")
    assert (row["value"], row.get("fault")) == ("Sad", None)


def test_times_of_mechanical_turk_are_in_order() -> None:
    head = "HITId,WorkerId,SubmitTime,Input.hit_id,Input.item_1,Answer.label_1"
    times = ("Wed Mar 18 23:30:00 PDT 2026", "Sat Mar 21 00:10:00 UTC 2026", "yesterday")
    rows = read("\n".join([head, *(f"3X,W{n},{time},h1,i1,Sad" for n, time in enumerate(times))]), "a.csv")
    assert [row["submitted"] for row in rows] == ["2026-03-19T06:30:00Z", "2026-03-21T00:10:00Z", "yesterday"]


def test_rows_fit_the_schema(tmp_path: Path) -> None:
    contents = {"a.json": json.dumps(document()), "b.json": "{"}
    for name, content in contents.items():
        (tmp_path / name).write_text(content, "utf-8")
    batch = pa.RecordBatch.from_pydict({"path": [str(tmp_path / name) for name in contents], "name": list(contents)})
    found = [row for one in FileMapper(answers_in, SCHEMA)(iter([batch])) for row in one.to_pylist()]
    assert [row["place"] for row in found] == ["a.json#1", "b.json#1"]
    assert list(found[0]) == SCHEMA.names
    assert found[1]["fault"] == "not_readable"


def test_a_file_that_a_worker_does_not_see_is_told() -> None:
    batch = pa.RecordBatch.from_pydict({"path": ["/nowhere/a.json"], "name": ["a.json"]})
    with pytest.raises(
        InputError, match=r"/nowhere/a\.json does not exist on a worker: put it where all machines can read it"
    ):
        list(FileMapper(answers_in, SCHEMA)(iter([batch])))
