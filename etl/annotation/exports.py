"""Export a batch as files: the page, files for a crowd platform, and the secret key."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from conf.errors import InputError
from etl.annotation.batch import Batch
from etl.annotation.hits import batch_id_of, hits_of
from etl.annotation.page import page_of
from etl.pipeline.outcome import DroppedRow

KEY = "key.jsonl"


@dataclass(frozen=True)
class Form:
    """A questionnaire for people who are not paid by the HIT.

    Attributes:
        purpose: its name in folders and keys.
        facts: DDL of the columns of its task table that the page hides and the key joins with the answers.
        make: function that makes a batch from rows of its task table and a URL for the answers.
    """

    purpose: str
    facts: str
    make: Callable[[Sequence[Mapping[str, Any]], str | None], Batch]

    @property
    def fact_names(self) -> tuple[str, ...]:
        return tuple(part.split()[0] for part in self.facts.split(", "))


Tasks = Sequence[Mapping[str, Any]]


def fitting_tasks(tasks: Tasks, make: Callable[[Tasks], Batch]) -> tuple[Tasks, list[DroppedRow]]:
    """Return the items that a page can show, and ledger rows of the others, such as those with a turn beyond its limit.

    Args:
        make: function that makes a batch of rows.

    Raises:
        InputError: no item alone is at fault.
    """
    try:
        make(tasks)
        return tasks, []
    except ValidationError as error:
        whole = error
    fit: list[Mapping[str, Any]] = []
    rest: list[DroppedRow] = []
    for task in tasks:
        try:
            make([task])
            fit.append(task)
        except ValidationError as error:
            first = error.errors()[0]
            reason = "too_long_for_page" if first["type"] == "string_too_long" else "unfit_for_page"
            detail = f"{error.title} {'.'.join(map(str, first['loc']))}: {first['msg']}"
            rest.append(DroppedRow("item", f"{task['hit_id']}/{task['item_id']}", reason, detail, 1))
    if not rest or not fit:
        raise InputError(f"the page cannot show the items: {whole.errors()[0]['msg']}: check the settings of the form")
    return fit, rest


def form_files(form: Form, tasks: Tasks, post_to: str | None) -> tuple[str, dict[str, str]]:
    """Return the batch id and the files' contents by name: ``annotate.html``, and the secret ``key.jsonl``."""
    batch = form.make(tasks, post_to)
    columns = ("hit_id", "position", "item_id", *form.fact_names)
    return batch.batch_id, {"annotate.html": page_of(batch), KEY: key_lines(tasks, form.purpose, columns)}


def key_lines(tasks: Tasks, purpose: str, columns: Sequence[str]) -> str:
    """Return the key: one line of JSON per item, with the columns that the page hides."""
    batch_id = batch_id_of(tasks)
    lines = []
    for _, rows in hits_of(tasks):
        for task in rows:
            known = {name: _plain(task[name]) for name in columns if task.get(name) is not None}
            lines.append(json.dumps({"batch_id": batch_id, "purpose": purpose, **known}, ensure_ascii=False))
    return "".join(f"{line}\n" for line in lines)


def _plain(value: Any) -> Any:
    return round(value, 4) if isinstance(value, float) else value
