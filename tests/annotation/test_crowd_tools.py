"""Answers as crowd tools write them: one table of forms, read, or refused with the column and the export to choose."""

import csv
import io
import json
from typing import Any

import pytest

from udfs.answer_files import answers_in

MTURK = {
    "HITId": "H",
    "WorkerId": "W1",
    "AssignmentStatus": "Approved",
    "WorkTimeInSeconds": "60",
    "Input.hit_id": "h1",
    "Input.batch_id": "b1",
    "Input.item_1": "i1",
    "Input.item_2": "i2",
}


def table(*rows: dict[str, Any]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(dict.fromkeys(name for row in rows for name in row)), restval="")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def read(name: str, content: Any) -> list[dict[str, Any]]:
    text = content if isinstance(content, str) else json.dumps(content)
    return list(answers_in(name, io.BytesIO(text.encode())))


def mturk(**answers: str) -> tuple[str, str]:
    return "r.csv", table({**MTURK, **{f"Answer.{name}": value for name, value in answers.items()}})


def options(**answers: str) -> tuple[str, str]:
    return mturk(**{name.replace("__", "."): value for name, value in answers.items()})


def task_answers(*answers: dict[str, Any]) -> tuple[str, str]:
    return mturk(taskAnswers=json.dumps(list(answers)))


FORMS: dict[str, tuple[str, Any]] = {
    "mturk columns": mturk(label_1="Sad", label_2="Proud"),
    "mturk own words": mturk(label_1="Sad", label_2="Other", other_2="", own_2="Proud"),
    "mturk options": options(label_1__Proud="false", label_1__Sad="true", label_2__Proud="true", label_2__Sad="false"),
    "mturk options, on": options(label_1__Sad="on", label_2__Proud="on"),
    "mturk classifier columns": options(label_1__label="Sad", label_2__label="Proud"),
    "crowd-form": task_answers({"label_1": {"Sad": True, "Other": False}, "label_2": {"Sad": False, "Proud": True}}),
    "crowd-form, two forms": task_answers({"label_1": {"Sad": True}}, {"label_2": {"Proud": True}}),
    "crowd-classifier": task_answers({"label_1": {"label": "Sad"}, "label_2": {"label": "Proud"}}),
    "crowd-classifier-multi": task_answers({"label_1": {"labels": ["Sad"]}, "label_2": {"labels": ["Proud"]}}),
    "crowd-form, other": task_answers({"label_1": {"Sad": True}, "label_2": {"Other": True}, "other_2": "Proud"}),
    "label studio completions": (
        "r.json",
        [
            {
                "data": {"hit_id": "h1", "item_id": item},
                "completions": [{"result": [{"from_name": "label", "value": {"choices": [label]}}]}],
            }
            for item, label in (("i1", "Sad"), ("i2", "Proud"))
        ],
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_each_form_gives_the_same_answers(form: str) -> None:
    rows = read(*FORMS[form])
    assert not [row for row in rows if row.get("fault")]
    assert [(row["hit_id"], row["item_id"]) for row in rows] == [("h1", "i1"), ("h1", "i2")]
    assert [row["value"] for row in rows] == ["Sad", "Proud"]
    assert {row["question"] for row in rows} == {"label"}


REFUSED: dict[str, tuple[str, Any, str]] = {
    "another template": (*mturk(emotion="Sad"), "no column Answer.label_1"),
    "batch made elsewhere": ("r.csv", table({"HITId": "H", "WorkerId": "W"}), "no column Input.hit_id"),
    "another object": ("r.json", [{"task": 1, "answer": "Sad"}], "an object with task, answer"),
    "another table": ("r.csv", table({"who": "a", "what": "b"}), "Choose the export"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_not_read_says_the_column_and_the_export(case: str) -> None:
    name, content, told = REFUSED[case]
    rows = read(name, content)
    assert len(rows) == 1
    assert rows[0]["fault"] == "not_readable"
    assert told in rows[0]["detail"]


@pytest.mark.parametrize(
    "cell", ["", "no JSON", "3", "null", '[3, null, {"label_1": null}]', '{"label_1": {"Sad": false}}']
)
def test_task_answers_without_a_choice_have_no_answer(cell: str) -> None:
    rows = read(*mturk(taskAnswers=cell))
    assert [row["item_id"] for row in rows] == ["i1", "i2"]
    assert {row["value"] for row in rows} == {None}


def test_two_options_of_one_item_are_a_fault_of_that_item_alone() -> None:
    rows = read(*task_answers({"label_1": {"Sad": True, "Proud": True}, "label_2": {"Proud": True}}))
    assert [row.get("fault") for row in rows] == ["not_readable", None]


def test_annotations_beyond_a_thousand_are_read() -> None:
    task = {"data": {"hit_id": "h", "item_id": "i"}, "annotations": [{"result": []}] * 1_002}
    rows = read("r.json", [task])
    assert len(rows) == 1_002
    assert [row.get("fault") for row in rows[-3:]] == [None, None, None]
