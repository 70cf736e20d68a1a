"""Write batches of HITs as files, and read the answers to a form."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pyspark.sql import DataFrame

from conf.errors import InputError
from conf.form_settings import FormAnswers, FormPosting
from etl.annotation.batch import Batch
from etl.annotation.collecting import counted_answers, form_keys, read_answers, refuse_all_dropped
from etl.annotation.exports import Form, Tasks, fitting_tasks, form_files
from etl.annotation.hits import batch_id_of
from etl.annotation.tables import FILE
from etl.common.labelled_files import ROWS, files_under
from etl.pipeline.folders import Folders, located
from etl.pipeline.outcome import DROPPED_DDL, Outcome
from etl.pipeline.stage_run import StageRun


def write_form(tasks: DataFrame, form: Form, posting: FormPosting, run: StageRun) -> Outcome:
    """Write a questionnaire's page and key to ``<folder>/<purpose>-<batch id>``, and return rows of a table of files.

    Args:
        tasks: rows of the form's task table. Items that the page cannot show are left out.
        posting: where it is written, and where answers go.
    """

    def make(rows: Tasks) -> Batch:
        return form.make(rows, posting.post_to)

    def files(rows: Tasks) -> tuple[str, dict[str, str]]:
        return form_files(form, rows, posting.post_to)

    rows = [row.asDict(recursive=True) for row in tasks.collect()]
    return write_files(rows, Export(form.purpose, posting.folder, make, files), run)


def read_form(
    form: Form,
    questions: Mapping[str, Sequence[str] | None],
    required: int,
    rules: FormAnswers,
    name: str,
    run: StageRun,
) -> Outcome:
    """Read the valid answers to a questionnaire, and the ledger rows of the others.

    Args:
        questions, required: see ``etl.annotation.collecting.counted_answers``.

    Raises:
        InputError: there are answers, but no batches.
    """
    files = files_under(rules.answers, ROWS, f"{name}.answers")
    if files and not rules.batches:
        raise InputError(f"{name}.batches is empty: name the key.jsonl of each batch that was answered")
    keys = form_keys(run.spark, files_under(rules.batches, (".jsonl",), f"{name}.batches"), form)
    answers = read_answers(run.spark, files).cache()
    counted = counted_answers(answers, keys, questions, required, rules)
    counted = refuse_all_dropped(replace(counted, rows_in=answers.count()), f"{name}.answers")
    return files.with_skipped(counted, run.spark)


@dataclass(frozen=True)
class Export:
    """The parts of a batch of task rows.

    Attributes:
        purpose: its name in folders and keys.
        folder: of its folder; None: ``annotation`` beside the tables.
        make, files: functions that make its page's content, and its id and files.
    """

    purpose: str
    folder: str | None
    make: Callable[[Tasks], Batch]
    files: Callable[[Tasks], tuple[str, dict[str, str]]]


def write_files(tasks: list[dict[str, Any]], export: Export, run: StageRun) -> Outcome:
    """Write the files of a batch, and return rows of a table of files."""
    if not tasks:
        run.say("nothing to ask about, so nothing is written")
        return Outcome(run.spark.createDataFrame([], FILE))
    rows, rest = fitting_tasks(tasks, export.make)
    folder = (export.folder or f"{run.lakehouse.root.rstrip('/')}/annotation").rstrip("/")
    folder = f"{folder}/{export.purpose}-{batch_id_of(rows)}"
    folders = Folders(run.spark)
    hits = len({row["hit_id"] for row in rows})
    batch_id, contents = export.files(rows)
    written = []
    for file, text in sorted(contents.items()):
        path = located(f"{folder}/{file}")
        content = text.encode()
        folders.write_text(path, text)
        digest = hashlib.sha256(content).hexdigest()
        written.append((batch_id, file, path, len(content), digest, hits, len(rows)))
    run.say(f"{hits:,} HITs with {len(rows):,} items in {folder}")
    files = run.spark.createDataFrame(written, FILE)
    return Outcome(files, run.spark.createDataFrame(rest, DROPPED_DDL))
