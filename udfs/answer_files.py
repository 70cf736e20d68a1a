"""Reader of answers from the annotation page and other tools; input is untrusted.

Read are the page's JSON and CSV, Mechanical Turk's results of the exported template (one column a field, one column an
option, or crowd-form's ``Answer.taskAnswers``), and Label Studio's JSON. Another file is refused with
the column that it lacks and the export to choose.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Any, BinaryIO, Final

import pyarrow as pa

from udfs.json_texts import JsonError, parsed_json
from udfs.labelled_files import MISSING, ROUNDED, documents_of, rows_of, whole_ids
from udfs.text_files import plain_name

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
IDS: Final = ("batch_id", "hit_id", "item_id")
WORKER_AND_IDS: Final = ("worker_id", *IDS)
TRUE: Final = ("true", "on", "1", "1.0", "wahr", "vrai", "verdadero", "vero", "verdadeiro", "waar", "prawda", "истина")
FALSE: Final = ("false", "off", "0", "0.0", "falsch", "faux", "falso", "onwaar", "fałsz", "ложь")
"""Values of an option's column, as spreadsheets in several languages write true and false."""
OTHER: Final = "Other"
"""The option that leads to all labels."""
EXPORTS: Final = "Choose the export JSON in Label Studio, the batch results in Mechanical Turk"
_TURK_TIME: Final = re.compile(r"[A-Z][a-z]{2} ([A-Z][a-z]{2}) ([0-9]{1,2}) ([0-9:]{8}) ([A-Z]{2,4}) ([0-9]{4})")
MAX_TEXT: Final = 500
MAX_ITEMS: Final = 1_000
DAY: Final = 86_400.0

Row = dict[str, Any]
SCHEMA: Final = pa.schema(
    [(name, pa.string()) for name in ("place", "batch_id", "hit_id", "worker_id", "item_id", "question", "value")]
    + [("other", pa.bool_()), ("seconds", pa.float64())]
    + [(name, pa.string()) for name in ("submitted", "fault", "detail")]
)
DDL: Final = (
    "place string, batch_id string, hit_id string, worker_id string, item_id string, question string, value string, "
    "other boolean, seconds double, submitted string, fault string, detail string"
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
            for document in row.value if isinstance(row.value, list) else [row.value]:
                yield from _document_rows(document)


def _document_rows(document: Any) -> Iterator[Row]:
    """Yield the answers of one JSON document, by the tool that writes such documents."""
    if not isinstance(document, dict):
        yield _fault(f"not what the annotation page writes: a {type(document).__name__} in place of an object")
    elif str(document.get("format", "")).startswith(ANSWER_FORMAT):
        yield from _page_rows(document)
    elif "data" in document and isinstance(document.get("annotations", document.get("completions")), list):
        yield from _label_studio_rows(document)
    else:
        known = ", ".join(map(str, list(document)[:8])) or "nothing"
        yield _fault(f"not what the annotation page writes: an object with {known}. {EXPORTS}")


def _page_rows(document: dict[str, Any]) -> Iterator[Row]:
    items = document.get("answers")
    if not isinstance(items, list) or len(items) > MAX_ITEMS:
        yield _fault("answers is no list of at most a thousand items")
        return
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
        if isinstance(values, list) and len(values) > MAX_ITEMS:
            yield _fault(f"question {question}: {len(values)} values")
            continue
        value = "|".join(_text(one) or "" for one in values) if isinstance(values, list) else None
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
        }


def _label_studio_rows(task: dict[str, Any]) -> Iterator[Row]:
    """Yield a row for each annotation of a task in Label Studio's JSON export; a skipped task has no answer."""
    data = task["data"] if isinstance(task["data"], dict) else {}
    ids = {name: _text(data.get(name)) for name in IDS}
    annotations: list[Any] = task["annotations"] if "annotations" in task else task["completions"]
    for annotation in annotations:
        if not isinstance(annotation, dict):
            yield _fault("an annotation that is no object")
            continue
        skipped = annotation.get("was_cancelled") is True
        chosen, fault = ({}, None) if skipped else _label_studio_choices(annotation.get("result"))
        by = annotation.get("completed_by")
        worker = by.get("email") or by.get("id") if isinstance(by, dict) else by
        yield {
            **ids,
            "worker_id": None if worker is None else f"label-studio-{_text(worker)}",
            "question": "label",
            **_label_or_other(chosen),
            "other": chosen.get("label") == OTHER,
            "seconds": _seconds(annotation.get("lead_time")),
            "submitted": _text(annotation.get("updated_at") or annotation.get("created_at")),
            **({} if fault is None else _fault(fault)),
        }


def _label_studio_choices(results: Any) -> tuple[dict[Any, str | None], str | None]:
    """Return what was chosen in each control of an annotation, and why it cannot be used (None: it can)."""
    chosen: dict[Any, str | None] = {}
    for result in results if isinstance(results, list) else []:
        value = result.get("value") if isinstance(result, dict) else None
        given = (value.get("choices") or value.get("text")) if isinstance(value, dict) else None
        options = given[:MAX_ITEMS] if isinstance(given, list) else [given] if isinstance(given, str) else []
        if not options:
            continue
        name = _text(result.get("from_name"))
        if len(options) > 1 or name in chosen:
            return {}, f"{name}: several choices, one is expected"
        chosen[name] = _text(options[0])
    return chosen, None


def _label_or_other(chosen: Mapping[Any, str | None]) -> Row:
    """Return the value of a choice: its label, or under Other the worker's own words or the label from the list."""
    label = chosen.get("label")
    return {"value": (chosen.get("own") or chosen.get("other")) if label == OTHER else label}


def _options(value: Any) -> list[str]:
    """Return what was chosen, from a text, a list, ``{"choices": [...]}``, or such JSON in a cell."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            value = parsed_json(value)
        except JsonError:
            return [value]
    if isinstance(value, dict):
        value = value.get("choices", value.get("text", value.get("labels")))
    values = value if isinstance(value, list) else [value]
    return [text for text in map(_text, values[:MAX_ITEMS]) if text is not None]


def _csv_rows(name: str, stream: BinaryIO) -> Iterator[Row]:
    for row in rows_of(name, stream):
        cells = row.value
        if row.fault is not None:
            yield _fault(f"{row.fault}: {row.detail}")
        elif {"WorkerId", "Input.hit_id"} <= cells.keys():
            fault = _template_fault(cells)
            if fault:
                yield _fault(fault)
                return
            yield from _assignment_rows(cells)
        elif {"WorkerId", "HITId"} <= cells.keys():
            yield _fault("no column Input.hit_id: download the results of a batch that was made from hits.csv")
            return
        elif missing := [column for column in COLUMNS if column not in cells]:
            has = ", ".join(list(cells)[:8])
            yield _fault(f"no column {', '.join(missing)}; it has {has}. {EXPORTS}")
            return
        elif (found := whole_ids(cells, WORKER_AND_IDS))[1] is not None:
            yield _fault(f"{ROUNDED}: {found[1]}")
        else:
            cells = cells | found[0]
            answer = {column: _text(_unquoted(cells[column])) for column in COLUMNS if column != "position"}
            other = (answer["other"] or "").lower() in TRUE
            seconds = _seconds(answer["seconds"])
            yield {**answer, "other": other, "seconds": seconds}


def _places(line: Mapping[str, Any]) -> list[str]:
    return [found[1] for name in line if (found := re.fullmatch(r"Input\.item_(\d+)", name))]


def _template_fault(line: Mapping[str, Any]) -> str | None:
    """Return why a table of results is none of the exported template: the columns that it lacks."""
    if not _places(line):
        return "no column Input.item_1"
    if "Answer.taskAnswers" in line or any(name.startswith("Answer.label_") for name in line):
        return None
    others = [name for name in line if name.startswith("Answer.")][:5]
    return f"no column Answer.label_1{', only ' + ', '.join(others) if others else ''}: use template.html of the batch"


def _fields(line: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return what was chosen in each field of a form, of whichever of three ways of writing.

    A field is a column with its value, or columns ``<field>.<option>`` of true and false, or in the JSON of
    ``taskAnswers``, where a choice is an object of options with true and false.
    """
    found: dict[str, list[str]] = {}
    for name, cell in line.items():
        if not name.startswith("Answer.") or cell is None:
            continue
        field, parted, option = name.removeprefix("Answer.").partition(".")
        if field == "taskAnswers":
            found.update(_task_answers(cell))
        elif not parted:
            found[field] = [text] if (text := _text(cell)) else []
        else:
            chosen = _text(cell) or ""
            known = chosen.lower() in (*TRUE, *FALSE, "")
            found.setdefault(field, []).extend([option] * (chosen.lower() in TRUE) if known else [chosen])
    return found


def _task_answers(cell: str) -> dict[str, list[str]]:
    try:
        given = parsed_json(cell)
    except JsonError:
        return {}
    found: dict[str, list[str]] = {}
    for form in given if isinstance(given, list) else [given]:
        for field, value in form.items() if isinstance(form, dict) else ():
            if isinstance(value, dict) and all(isinstance(one, bool) for one in value.values()):
                found[field] = [option for option, chosen in value.items() if chosen]
            elif isinstance(value, dict):
                found[field] = [text for one in value.values() for text in _options(one)]
            else:
                found[field] = _options(value)
    return found


def _field_rows(
    facts: Row, items: Mapping[str, str | None], chosen: Mapping[str, list[str]], seconds: float | None
) -> Iterator[Row]:
    """Yield the answer to each item of a form with the fields ``label_1``, ``other_1`` and ``own_1``, and so on."""
    known = {place: item for place, item in items.items() if item is not None}
    for place, item in known.items():
        labels = chosen.get(f"label_{place}", [])
        row = {**facts, "item_id": item, "question": "label"}
        if len(labels) > 1:
            yield {**row, **_fault(f"{len(labels)} options chosen: {', '.join(labels)}")}
            continue
        value = labels[0] if labels else None
        other = (value or "").lower() == "other"
        named = [*chosen.get(f"own_{place}", []), *chosen.get(f"other_{place}", [])]
        yield {
            **row,
            "value": (named[0] if named else None) if other else value,
            "other": other,
            "seconds": None if seconds is None else seconds / len(known),
            **({"fault": facts["fault"], "detail": facts["detail"]} if "fault" in facts else {}),
        }


def _assignment_rows(line: dict[str, Any]) -> Iterator[Row]:
    """Yield the answers in a row of Mechanical Turk's results for the exported template."""
    refused = {"fault": "rejected", "detail": "the requester refused the assignment"}
    facts = {
        "batch_id": _text(line.get("Input.batch_id")),
        "hit_id": _text(line["Input.hit_id"]),
        "worker_id": _text(line["WorkerId"]),
        "submitted": _submitted(_text(line.get("SubmitTime"))),
        **(refused if line.get("AssignmentStatus") == "Rejected" else {}),
    }
    items = {place: _text(line[f"Input.item_{place}"]) for place in _places(line)}
    yield from _field_rows(facts, items, _fields(line), _seconds(line.get("WorkTimeInSeconds")))


def _submitted(time: str | None) -> str | None:
    """Return a time of Mechanical Turk (``Wed Mar 18 09:30:00 PDT 2026``) in the form that orders as text, in UTC."""
    match = _TURK_TIME.fullmatch(time or "")
    if match is None:
        return time
    month, day, clock, zone, year = match.groups()
    try:
        return (
            parsedate_to_datetime(f"{day} {month} {year} {clock} {zone}").astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        )
    except ValueError:
        return time


def _unquoted(cell: str | None) -> str | None:
    """Remove the quote that the page writes before a cell that looks like a formula."""
    return cell[1:] if cell and cell[0] == "'" and cell[1:2] in tuple("=+-@\t\r") else cell


def _fault(detail: str) -> Row:
    return {"fault": "not_readable", "detail": detail[:MAX_TEXT]}


def _text(value: Any) -> str | None:
    """Return a value as stripped text without control characters, of limited length; None if it is empty or missing.

    Blanks of any kind are plain ones.
    """
    if value is None or isinstance(value, dict | list):
        return None
    plain = "".join(
        " " if ord(character) < 32 or character.isspace() else character for character in str(value)[:MAX_TEXT]
    ).strip()
    return None if not plain_name(plain) or plain.lower() in MISSING else plain


def _seconds(value: Any) -> float | None:
    """Return a number of seconds within a day; None for anything else."""
    try:
        seconds = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return seconds if 0 <= seconds <= DAY else None
