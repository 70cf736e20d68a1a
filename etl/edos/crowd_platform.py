"""Write the files for a crowd platform such as Mechanical Turk: a table of HITs, their template, a HIT type."""

import csv
import html
import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

from conf.taxonomy import Taxonomy
from etl.annotation.hits import batch_id_of, hits_of
from etl.common.spelling import detokenised_text
from etl.edos.labelling import INTRODUCTION, PROMPT
from etl.edos.settings import Posting

LOCALE = "00000000000000000071"
"""Mechanical Turk's id of the qualification by country."""
COUNTRIES = ("US", "GB", "CA", "AU", "NZ")
"""Countries of the workers (EDOS 7)."""
WORKERS = 3
"""Answers to each HIT (EDOS 3.2)."""


def hits_csv(tasks: Sequence[Mapping[str, Any]]) -> str:
    """Return a CSV with one row per HIT. Its columns are template variables: ``${dialog_1}``, ``${option_1_2}``.

    Platforms insert variables without escaping, so texts are escaped HTML with ``<br>`` between turns. Turns start
    with an arrow as in Figure 4, and ids with a letter, so that spreadsheets find no formulas.
    """
    items, offered = _sizes(tasks)
    places = range(1, items + 1)
    batch_id = batch_id_of(tasks)
    options = [f"option_{place}_{number}" for place in places for number in range(1, offered + 1)]
    columns = ["hit_id", "batch_id", *(f"item_{n}" for n in places), *(f"dialog_{n}" for n in places), *options]
    table = io.StringIO()
    writer = csv.DictWriter(table, columns, restval="", lineterminator="\r\n")
    writer.writeheader()
    for hit_id, rows in hits_of(tasks):
        row: dict[str, str] = {"hit_id": hit_id, "batch_id": batch_id}
        for place, task in enumerate(rows, 1):
            row[f"item_{place}"] = task["item_id"]
            row[f"dialog_{place}"] = "<br>".join(f"→ {html.escape(detokenised_text(turn))}" for turn in task["turns"])
            row |= {f"option_{place}_{n}": label.capitalize() for n, label in enumerate(task["options"], 1)}
        writer.writerow({name: safe_cell(value) for name, value in row.items()})
    return table.getvalue()


def safe_cell(text: str) -> str:
    """Return a cell that spreadsheets do not interpret as a formula."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text


def hit_type(title: str, annotation: Posting) -> str:
    """Return Mechanical Turk's ``CreateHITType`` as JSON: reward, time, and English-speaking countries (EDOS 7)."""
    countries = [{"Country": country} for country in COUNTRIES]
    return json.dumps(
        {
            "Title": title,
            "Description": "Read short dialogs and say which emotion or intent the last statement shows.",
            "Keywords": "dialog, emotion, text, label",
            "Reward": f"{annotation.reward:.2f}",
            "AssignmentDurationInSeconds": 3600,
            "MaxAssignments": WORKERS,
            "QualificationRequirements": [
                {"QualificationTypeId": LOCALE, "Comparator": "In", "LocaleValues": countries}
            ],
        },
        indent=2,
    )


def template(tasks: Sequence[Mapping[str, Any]], taxonomy: Taxonomy) -> str:
    """Return a HIT as HTML with the variables of ``hits_csv``. The platform's editor adds form and button.

    The answers are ``Answer.label_1`` and, if that is Other, ``Answer.own_1`` (the worker's own words) or
    ``Answer.other_1`` (from the list). ``udfs.answer_files`` reads them.
    """
    items, offered = _sizes(tasks)
    rest = "".join(f"<option>{html.escape(name.capitalize())}</option>" for name in taxonomy.names)
    lessons = "".join(
        f"<dt>{html.escape(one.label.capitalize())}</dt>"
        f"<dd>{html.escape(one.about)} <i>{html.escape(one.example)}</i></dd>"
        for one in taxonomy.labels
    )
    parts = [f"<p>{html.escape(text)}</p>" for text in INTRODUCTION[:1]]
    parts.append(f"<details><summary>Tutorial</summary><dl>{lessons}</dl></details>")
    for place in range(1, items + 1):
        values = [f"${{option_{place}_{number}}}" for number in range(1, offered + 1)] + ["Other"]
        choices = "".join(
            f'<label style="margin-right:1em"><input type="radio" name="label_{place}" value="{value}" required> '
            f"{value}</label>"
            for value in values
        )
        parts.append(
            f"<fieldset><legend>Dialog {place}/{items}</legend><p>${{dialog_{place}}}</p><p>{html.escape(PROMPT)}</p>"
            f'{choices}<select name="other_{place}" aria-label="Which other one?"><option value="">Choose</option>'
            f'{rest}</select> <input type="text" name="own_{place}" maxlength="100" aria-label="Or your own word" '
            f'placeholder="or your own word"></fieldset>'
        )
    return "\n".join(parts) + "\n"


def _sizes(tasks: Sequence[Mapping[str, Any]]) -> tuple[int, int]:
    """Return the greatest number of items of a HIT, and of options of an item."""
    hits = hits_of(tasks)
    items = max((len(rows) for _, rows in hits), default=0)
    return items, max((len(row["options"]) for _, rows in hits for row in rows), default=0)
