"""Reader of answers from the annotation page, Mechanical Turk, Label Studio or Potato; input is untrusted."""

from collections.abc import Iterator
from typing import Any, BinaryIO, Final

import pyarrow as pa

from udfs.labelled_files import documents_of, rows_of

ANSWER_FORMAT: Final = "edos-lakehouse answers"
COLUMNS: Final = (
    "batch_id",
    "hit_id",
    "worker_id",
    "item_id",
    "position",
    "question",
    "value",
    "other",
    "seconds",
    "submitted",
)
CLAIMS: Final = ("seat", "sign")
"""Columns of answers that came by a signed link."""
OTHER: Final = "Other"
"""The option that leads to all labels."""
POTATO_VALUES: Final = ("text_box", "free_response", "select-one", "dropdown")
"""Names under which Potato stores a typed or chosen value; of other schemes the name itself is the label."""
MAX_TEXT: Final = 500
MAX_ITEMS: Final = 1_000
DAY: Final = 86_400.0

Row = dict[str, Any]
SCHEMA: Final = pa.schema(
    [(name, pa.string()) for name in ("place", "batch_id", "hit_id", "worker_id", "item_id", "question", "value")]
    + [("other", pa.bool_()), ("seconds", pa.float64())]
    + [(name, pa.string()) for name in ("submitted", *CLAIMS, "fault", "detail")]
)
DDL: Final = (
    "place string, batch_id string, hit_id string, worker_id string, item_id string, question string, value string, "
    "other boolean, seconds double, submitted string, seat string, sign string, fault string, detail string"
)


def answers_in(name: str, stream: BinaryIO) -> Iterator[Row]:
    """Yield a row of ``SCHEMA`` for each answer in a file; unreadable parts give rows with fault and detail.

    The ending of the file's name distinguishes CSV from JSON.
    """
    form = name.lower().removesuffix(".gz")
    rows = _csv_rows(name, stream) if form.endswith(".csv") else _json_rows(name, stream)
    for number, row in enumerate(rows, 1):
        yield {"place": f"{name}#{number}", **row}


def _json_rows(name: str, stream: BinaryIO) -> Iterator[Row]:
    for row in documents_of(name, stream):
        if row.fault is not None:
            yield _fault(f"{row.fault}: {row.detail}")
        else:
            yield from _document_rows(row.value)


def _document_rows(parsed: Any) -> Iterator[Row]:
    for document in parsed if isinstance(parsed, list) else [parsed]:
        if isinstance(document, dict) and isinstance(document.get("annotations"), list) and "data" in document:
            yield from _label_studio_rows(document)
            continue
        if isinstance(document, dict) and isinstance(document.get("label_annotations"), dict):
            yield from _potato_rows(document)
            continue
        if not isinstance(document, dict) or not str(document.get("format", "")).startswith(ANSWER_FORMAT):
            yield _fault("not what the annotation page writes")
            continue
        items = document.get("answers")
        if not isinstance(items, list) or len(items) > MAX_ITEMS:
            yield _fault("answers is no list of at most a thousand items")
            continue
        for item in items:
            yield from _item_rows(document, item)


def _item_rows(document: dict[str, Any], item: Any) -> Iterator[Row]:
    answers = item.get("answers") if isinstance(item, dict) else None
    if not isinstance(answers, dict):
        yield _fault("an item without answers")
        return
    for question, answer in answers.items():
        if not isinstance(answer, dict):
            yield _fault(f"question {question}: no answer")
            continue
        values = answer.get("values")
        value = "|".join(_text(one) or "" for one in values[:MAX_ITEMS]) if isinstance(values, list) else None
        yield {
            "batch_id": _text(document.get("batch_id")),
            "hit_id": _text(document.get("hit_id")),
            "worker_id": _text(document.get("worker_id")),
            "item_id": _text(item.get("item_id")),
            "question": _text(question),
            "value": value if value is not None else _text(answer.get("value")),
            "other": answer.get("other") is True,
            "seconds": _seconds(item.get("seconds")),
            "submitted": _text(document.get("submitted")),
            **{name: _text(document.get(name)) for name in CLAIMS},
        }


def _label_studio_rows(task: dict[str, Any]) -> Iterator[Row]:
    """Yield a row for each annotation of a task in Label Studio's JSON export; a skipped task has no answer."""
    data = task["data"] if isinstance(task["data"], dict) else {}
    ids = {name: _text(data.get(name)) for name in ("batch_id", "hit_id", "item_id")}
    for annotation in task["annotations"][:MAX_ITEMS]:
        if not isinstance(annotation, dict):
            yield _fault("an annotation that is no object")
            continue
        chosen = {}
        results = annotation.get("result")
        for result in results[:MAX_ITEMS] if isinstance(results, list) else []:
            value = result.get("value") if isinstance(result, dict) else None
            choices = value.get("choices") if isinstance(value, dict) else None
            if isinstance(choices, list) and choices:
                chosen[_text(result.get("from_name"))] = _text(choices[0])
        other = chosen.get("label") == OTHER
        by = annotation.get("completed_by")
        worker = by.get("email") or by.get("id") if isinstance(by, dict) else by
        skipped = annotation.get("was_cancelled") is True
        yield {
            **ids,
            "worker_id": None if worker is None else f"label-studio-{_text(worker)}",
            "question": "label",
            "value": None if skipped else chosen.get("other") if other else chosen.get("label"),
            "other": other,
            "seconds": _seconds(annotation.get("lead_time")),
            "submitted": _text(annotation.get("updated_at") or annotation.get("created_at")),
        }


def _potato_rows(line: dict[str, Any]) -> Iterator[Row]:
    """Yield a row for each question of a line of Potato's ``annotated_instances.jsonl``."""
    hit_id, _, item_id = (_text(line.get("instance_id", line.get("id"))) or "").rpartition("/")
    worker = _text(line.get("user_id"))
    for question, answer in line["label_annotations"].items():
        found = [(name, value) for name, value in answer.items() if value] if isinstance(answer, dict) else []
        if len(found) != 1:
            yield _fault(f"question {question}: {len(found)} answers")
            continue
        name, value = found[0]
        yield {
            "hit_id": hit_id or None,
            "item_id": item_id or None,
            "worker_id": None if worker is None else f"potato-{worker}",
            "question": _text(question),
            "value": _text(value if name in POTATO_VALUES else name),
            "other": False,
        }


def _csv_rows(name: str, stream: BinaryIO) -> Iterator[Row]:
    for row in rows_of(name, stream):
        cells = row.value
        if row.fault is not None:
            yield _fault(f"{row.fault}: {row.detail}")
        elif {"WorkerId", "Input.hit_id"} <= cells.keys():
            yield from _assignment_rows(cells)
        elif missing := [column for column in COLUMNS if column not in cells]:
            yield _fault(f"no column {', '.join(missing)}")
            return
        else:
            answer = {column: _text(_unquoted(cells[column])) for column in COLUMNS if column != "position"}
            other = (answer["other"] or "").lower() == "true"
            seconds = _seconds(answer["seconds"])
            yield {**answer, "other": other, "seconds": seconds, **{name: _text(cells.get(name)) for name in CLAIMS}}


def _assignment_rows(line: dict[str, Any]) -> Iterator[Row]:
    """Yield the answers in a row of Mechanical Turk's results for the exported template."""
    places = [name.removeprefix("Input.item_") for name in line if name and name.startswith("Input.item_")]
    items = {place: _text(line[f"Input.item_{place}"]) for place in places}
    count = sum(item is not None for item in items.values())
    seconds = _seconds(line.get("WorkTimeInSeconds"))
    rejected = {"fault": "rejected", "detail": "the requester refused the assignment"}
    for place, item in items.items():
        if item is None:
            continue
        value = _text(line.get(f"Answer.label_{place}"))
        other = (value or "").lower() == "other"
        yield {
            "batch_id": _text(line.get("Input.batch_id")),
            "hit_id": _text(line["Input.hit_id"]),
            "worker_id": _text(line["WorkerId"]),
            "item_id": item,
            "question": "label",
            "value": _text(line.get(f"Answer.other_{place}")) if other else value,
            "other": other,
            "seconds": None if seconds is None else seconds / count,
            "submitted": _text(line.get("SubmitTime")),
            "seat": "platform",
            "sign": _text(line.get("Input.sign")),
            **(rejected if line.get("AssignmentStatus") == "Rejected" else {}),
        }


def _unquoted(cell: str | None) -> str | None:
    """Remove the quote that the page writes before a cell that looks like a formula."""
    return cell[1:] if cell and cell[0] == "'" and cell[1:2] in tuple("=+-@\t\r") else cell


def _fault(detail: str) -> Row:
    return {"fault": "not_readable", "detail": detail[:MAX_TEXT]}


def _text(value: Any) -> str | None:
    """Return a value as stripped text without control characters, of limited length; None if it is empty."""
    if value is None or isinstance(value, dict | list):
        return None
    plain = "".join(" " if ord(character) < 32 else character for character in str(value)[:MAX_TEXT]).strip()
    return plain or None


def _seconds(value: Any) -> float | None:
    """Return a number of seconds within a day; None for anything else."""
    try:
        seconds = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return seconds if 0 <= seconds <= DAY else None
