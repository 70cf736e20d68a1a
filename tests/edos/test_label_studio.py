"""Batches as tasks of Label Studio, and its answers as answers of the page."""

import json
from io import BytesIO
from typing import Any
from xml.etree import ElementTree

import pytest

from conf.taxonomy import load_taxonomy
from etl.annotation.hits import batch_id_of
from etl.edos.label_studio import label_studio_files
from tests.annotation.batches import task
from udfs.answer_files import answers_in

TAXONOMY = load_taxonomy("edos")
TASKS = [task("h1", 1, turns=["<b> \u2028 ?", "I 'm fine ."]), task("h1", 2), task("h2", 1, quiz_label="proud")]


def files() -> dict[str, str]:
    return label_studio_files(TASKS, batch_id_of(TASKS), TAXONOMY)


def read(name: str, content: Any) -> list[dict[str, Any]]:
    text = content if isinstance(content, str) else json.dumps(content)
    return list(answers_in(name, BytesIO(text.encode())))


def label_studio_export(**changes: Any) -> list[dict[str, Any]]:
    """The exported tasks with one annotation each, as Label Studio writes them."""
    exported = []
    for number, one in enumerate(json.loads(files()["label_studio.json"]), 1):
        result = {"from_name": "label", "to_name": "dialogue", "type": "choices", "value": {"choices": ["sad"]}}
        annotation = {
            "id": number,
            "completed_by": 7,
            "was_cancelled": False,
            "lead_time": 4.25,
            "result": [result],
            "created_at": "2026-01-02T03:04:05Z",
            "updated_at": "2026-01-02T03:05:00Z",
            **changes,
        }
        exported.append({"id": number, **one, "annotations": [annotation], "predictions": [], "project": 1})
    return exported


def test_every_item_is_a_task_with_its_options_and_no_right_answer() -> None:
    tasks = json.loads(files()["label_studio.json"])
    assert [(one["data"]["hit_id"], one["data"]["item_id"]) for one in tasks] == [
        ("h1", "ih11"),
        ("h1", "ih12"),
        ("h2", "ih21"),
    ]
    assert tasks[0]["data"]["dialogue"][1] == {"author": "2", "text": "I'm fine."}
    assert [one["value"] for one in tasks[0]["data"]["options"]] == ["guilty", "sad", "ashamed", "Other"]
    for content in files().values():
        assert "quiz" not in content
        assert "77-" not in content
        assert "0.93" not in content


def test_the_interfaces_name_the_fields_of_the_tasks_and_every_label() -> None:
    view = ElementTree.fromstring(files()["label_studio.xml"])
    fields = {tag.get("value", "")[1:] for tag in view if tag.get("value", "").startswith("$")}
    assert fields <= set(json.loads(files()["label_studio.json"])[0]["data"])
    assert fields == {"dialogue", "options"}
    names = [tag.get("name") for tag in view if tag.get("name")]
    assert len(names) == len(set(names))
    assert {tag.get("toName") for tag in view.iter("Choices")} <= set(names)
    assert [tag.get("value") for tag in view.iter("Choice")] == list(TAXONOMY.names)


def test_answers_of_label_studio_come_back() -> None:
    rows = read("export.json", label_studio_export())
    assert [(row["hit_id"], row["item_id"]) for row in rows] == [("h1", "ih11"), ("h1", "ih12"), ("h2", "ih21")]
    assert {(row["worker_id"], row["question"], row["value"], row["seconds"]) for row in rows} == {
        ("label-studio-7", "label", "sad", 4.25)
    }
    assert rows[0]["submitted"] == "2026-01-02T03:05:00Z"
    assert rows[0]["batch_id"] == batch_id_of(TASKS)
    other = [
        {"from_name": "label", "type": "choices", "value": {"choices": ["Other"]}},
        {"from_name": "other", "type": "choices", "value": {"choices": ["proud"]}},
    ]
    named = read("export.json", label_studio_export(result=other, completed_by={"id": 7, "email": "a@b.example"}))[0]
    assert (named["value"], named["other"], named["worker_id"]) == ("proud", True, "label-studio-a@b.example")


@pytest.mark.parametrize(
    "changes",
    [
        {"was_cancelled": True},
        {"result": []},
        {"result": None},
        {"result": ["x"]},
        {"result": [{"value": 1}]},
        {"result": [{"from_name": "label", "value": {"choices": []}}]},
        {"result": [{"from_name": "label", "value": {"choices": [{}]}}]},
    ],
)
def test_an_annotation_without_a_choice_has_no_answer(changes: dict[str, Any]) -> None:
    rows = read("export.json", label_studio_export(**changes))
    assert len(rows) == 3
    assert all(row["value"] is None for row in rows)
    assert all(row.get("fault") is None for row in rows)


@pytest.mark.parametrize("data", [None, 1, [], {}, {"hit_id": {}}])
def test_a_task_without_ids_is_no_known_item(data: Any) -> None:
    exported = [{**one, "data": data} for one in label_studio_export()]
    assert all(row["hit_id"] is None for row in read("export.json", exported))
    assert read("export.json", [{"data": {}, "annotations": [3]}])[0]["fault"] == "not_readable"


def label_studio_task(annotations: list[dict[str, Any]]) -> bytes:
    return json.dumps([{"data": {"hit_id": "h", "item_id": "i"}, "annotations": annotations}]).encode()


def label_studio_choice(worker: int, *labels: str, name: str = "label") -> dict[str, Any]:
    return {"completed_by": worker, "result": [{"from_name": name, "value": {"choices": list(labels)}}]}


def test_a_task_of_label_studio_may_have_any_number_of_annotations() -> None:
    given = [label_studio_choice(worker, "Joyful") for worker in range(2_500)]
    rows = list(answers_in("x.json", BytesIO(label_studio_task(given))))
    assert len({row["worker_id"] for row in rows}) == 2_500
    assert not any(row.get("fault") for row in rows)


def test_of_several_choices_in_label_studio_none_wins_unseen() -> None:
    twice = label_studio_choice(1, "Joyful")
    twice["result"] += label_studio_choice(1, "Sad")["result"]
    rows = list(answers_in("x.json", BytesIO(label_studio_task([twice, label_studio_choice(2, "Joyful", "Sad")]))))
    assert [row["worker_id"] for row in rows] == ["label-studio-1", "label-studio-2"]
    assert all("several choices" in str(row["detail"]) for row in rows)
