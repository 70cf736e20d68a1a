"""Export a batch as files: the page, files for a crowd platform, and the secret key."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from conf.taxonomy import Taxonomy
from etl.annotation.batch import Batch
from etl.annotation.crowd_platform import hit_type, hits_csv, template
from etl.annotation.labelling import batch_id_of, hits_of, labelling_batch
from etl.annotation.page import page_of

KEY = "key.jsonl"
KEY_COLUMNS = (
    "hit_id", "position", "item_id", "dialogue_id", "turn", "turns", "options", "quiz_label", "label", "confidence",
    "band", "stratum_turns",
)  # fmt: skip


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


def form_files(form: Form, tasks: Sequence[Mapping[str, Any]], post_to: str | None) -> tuple[str, dict[str, str]]:
    """Return the batch id and the files' contents by name: ``annotate.html``, and the secret ``key.jsonl``."""
    batch = form.make(tasks, post_to)
    columns = ("hit_id", "position", "item_id", *form.fact_names)
    return batch.batch_id, {"annotate.html": page_of(batch), KEY: key_lines(tasks, form.purpose, columns)}


def batch_files(
    tasks: Sequence[Mapping[str, Any]], purpose: str, taxonomy: Taxonomy, annotation: Any, workers: int
) -> tuple[str, dict[str, str]]:
    """Return the batch id and the contents of its page, platform files and key by file name.

    Only ``key.jsonl`` has right answers and dialogue ids. It must not be published. The setting
    ``edos.annotation.batches`` names it when answers are collected.

    Args:
        tasks: rows of a task table.
        purpose: ``crowd`` or ``audit``.
        taxonomy: ``edos.taxonomy``.
        annotation: ``edos.annotation``.
        workers: number of answers per HIT.
    """
    batch = labelling_batch(tasks, taxonomy, annotation.post_to)
    return batch.batch_id, {
        "annotate.html": page_of(batch),
        "hits.csv": hits_csv(tasks),
        "template.html": template(tasks, taxonomy),
        "hit_type.json": hit_type(batch.title, annotation, workers),
        KEY: key_lines(tasks, purpose),
    }


def key_lines(tasks: Sequence[Mapping[str, Any]], purpose: str, columns: Sequence[str] = KEY_COLUMNS) -> str:
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
