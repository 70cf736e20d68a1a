"""A batch as files: the page, a table and a HIT type for a crowd platform, and the key that stays at home."""

import csv
import html
import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

from etl.annotation.labelling import as_read, batch_id_of, hits_of, labelling_batch
from etl.annotation.page import page_of

KEY = "key.jsonl"
KEY_COLUMNS = (
    "hit_id", "position", "item_id", "dialogue_id", "turn", "turns", "options", "quiz_label", "label", "confidence",
    "band", "stratum_turns",
)  # fmt: skip
LOCALE = "00000000000000000071"
"""Mechanical Turk's own id of the qualification by country."""


def batch_files(
    tasks: Sequence[Mapping[str, Any]], purpose: str, annotation: Any, workers: int
) -> tuple[str, dict[str, str]]:
    """(batch id, file name to content): ``annotate.html``, ``hits.csv``, ``hit_type.json``, ``key.jsonl``.

    Only ``key.jsonl`` holds right answers and dialogue ids: it is what ``edos.annotation.batches`` names when answers
    come back, and it must not be published.

    Args:
        tasks: rows of a task table.
        purpose: ``crowd`` or ``audit``.
        annotation: ``edos.annotation``.
        workers: how many answers to a HIT are wanted.
    """
    batch = labelling_batch(tasks, annotation.post_to)
    return batch.batch_id, {
        "annotate.html": page_of(batch),
        "hits.csv": hits_csv(tasks),
        "hit_type.json": hit_type(batch.title, annotation, workers),
        KEY: key_lines(tasks, purpose),
    }


def hits_csv(tasks: Sequence[Mapping[str, Any]]) -> str:
    """One row a HIT; the columns are a crowd platform's template variables: ``${dialog_1}``, ``${option_1_2}``.

    Platforms put variables into a template as they are: texts are HTML with everything escaped, turns parted by
    ``<br>``. Each starts with an arrow as in Figure 4, and ids with a letter: no spreadsheet sees a formula.
    """
    hits = hits_of(tasks)
    items = max((len(rows) for _, rows in hits), default=0)
    offered = max((len(row["options"]) for _, rows in hits for row in rows), default=0)
    options = [f"option_{place}_{number}" for place in range(1, items + 1) for number in range(1, offered + 1)]
    head = ["hit_id", "batch_id", *(f"item_{n + 1}" for n in range(items)), *(f"dialog_{n + 1}" for n in range(items))]
    batch_id = batch_id_of(tasks)
    table = io.StringIO()
    writer = csv.DictWriter(table, [*head, *options], restval="", lineterminator="\r\n")
    writer.writeheader()
    for hit_id, rows in hits:
        row: dict[str, str] = {"hit_id": hit_id, "batch_id": batch_id}
        for place, task in enumerate(rows, 1):
            row[f"item_{place}"] = task["item_id"]
            row[f"dialog_{place}"] = "<br>".join(f"→ {html.escape(as_read(turn))}" for turn in task["turns"])
            row |= {f"option_{place}_{n}": label.capitalize() for n, label in enumerate(task["options"], 1)}
        writer.writerow({name: safe_cell(value) for name, value in row.items()})
    return table.getvalue()


def safe_cell(text: str) -> str:
    """A cell that no spreadsheet takes for a formula."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text


def hit_type(title: str, annotation: Any, workers: int) -> str:
    """What Mechanical Turk's ``CreateHITType`` is told: reward, time, and that workers live where English is
    the first language of most (EDOS 7)."""
    countries = [{"Country": country} for country in annotation.countries]
    return json.dumps(
        {
            "Title": title,
            "Description": "Read short dialogs and say which emotion or intent the last statement shows.",
            "Keywords": "dialog, emotion, text, label",
            "Reward": f"{annotation.reward:.2f}",
            "AssignmentDurationInSeconds": 3600,
            "MaxAssignments": workers,
            "QualificationRequirements": [
                {"QualificationTypeId": LOCALE, "Comparator": "In", "LocaleValues": countries}
            ],
        },
        indent=2,
    )  # fmt: skip


def key_lines(tasks: Sequence[Mapping[str, Any]], purpose: str) -> str:
    """The key: one line of JSON an item, with what the page does not tell."""
    batch_id = batch_id_of(tasks)
    lines = []
    for _, rows in hits_of(tasks):
        for task in rows:
            known = {name: task[name] for name in KEY_COLUMNS if name in task and task[name] is not None}
            lines.append(json.dumps({"batch_id": batch_id, "purpose": purpose, **known}, ensure_ascii=False))
    return "".join(f"{line}\n" for line in lines)
