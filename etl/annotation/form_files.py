"""Writing a batch of HITs as files, what was written as a table's rows, and reading the answers to a form."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pyspark.sql import DataFrame

from conf.errors import InputError
from etl.annotation.collecting import counted_answers, form_keys, read_answers
from etl.annotation.exports import Form, batch_files, form_files
from etl.pipeline.folders import Folders, located
from etl.pipeline.outside_files import files_under
from etl.pipeline.stage_run import StageRun
from etl.tables.edos import ANNOTATION_FILES
from etl.tables.outcome import Outcome


def write_batch(tasks: DataFrame, purpose: str, workers: int, run: StageRun) -> DataFrame:
    """Write a task table's HITs to ``<folder>/<purpose>-<batch id>``; rows of ``edos.annotation_files``.

    A batch is small (what people can answer) and is made on the driver. A changed table makes another batch in
    another folder: a batch that went out stays as it was, for its answers are still to come.
    """
    rows = [row.asDict() for row in tasks.collect()]
    if not rows:
        run.say("no HIT is full: nothing to write")
        return run.spark.createDataFrame([], ANNOTATION_FILES.schema)
    annotation = run.settings.edos.annotation
    batch_id, contents = batch_files(rows, purpose, run.settings.edos.taxonomy, annotation, workers)
    return _written(rows, f"{purpose}-{batch_id}", batch_id, contents, annotation.folder, run)


def write_form(tasks: DataFrame, form: Form, evaluation: Any, run: StageRun) -> DataFrame:
    """Write a questionnaire's page and key to ``<folder>/<purpose>-<batch id>``; rows of a table of files.

    Args:
        evaluation: settings with folder and post_to.
    """
    rows = [row.asDict(recursive=True) for row in tasks.collect()]
    if not rows:
        run.say("there is nothing to ask about: nothing to write")
        return run.spark.createDataFrame([], ANNOTATION_FILES.schema)
    batch_id, contents = form_files(form, rows, evaluation.post_to)
    return _written(rows, f"{form.purpose}-{batch_id}", batch_id, contents, evaluation.folder, run)


def read_form(
    form: Form, questions: Mapping[str, Sequence[str] | None], required: int, evaluation: Any, name: str, run: StageRun
) -> Outcome:
    """The answers to a questionnaire that count, and the ledger of the others.

    Args:
        questions, required: as for ``etl.annotation.collecting.counted_answers``.
        evaluation: settings with answers, batches, known_raters and keep_half_done.
        name: of those settings.

    Raises:
        InputError: there are answers, but no batch that says what they are about.
    """
    files = files_under(evaluation.answers, (".json", ".jsonl", ".csv"), f"{name}.answers")
    if files and not evaluation.batches:
        raise InputError(f"{name}.batches is empty: name the key.jsonl of each batch that was answered")
    keys = form_keys(run.spark, files_under(evaluation.batches, (".jsonl",), f"{name}.batches"), form)
    answers = read_answers(run.spark, files).cache()
    counted = counted_answers(answers, keys, questions, required, evaluation)
    return replace(counted, rows_in=answers.count())


def _written(
    rows: list[dict[str, Any]], name: str, batch_id: str, contents: Mapping[str, str], folder: str | None, run: StageRun
) -> DataFrame:
    folder = (folder or f"{run.lakehouse.root.rstrip('/')}/annotation").rstrip("/")
    written = _put(Folders(run.spark), f"{folder}/{name}", contents)
    hits = len({row["hit_id"] for row in rows})
    run.say(f"{hits:,} HITs with {len(rows):,} items in {folder}/{name}")
    return run.spark.createDataFrame(
        [(batch_id, *file, hits, len(rows)) for file in written], ANNOTATION_FILES.schema
    )  # fmt: skip


def _put(folders: Folders, folder: str, contents: Mapping[str, str]) -> list[tuple[str, str, int, str]]:
    """Put texts into a folder, each whole; (name, path, bytes, sha256) of each."""
    written = []
    for name, text in sorted(contents.items()):
        path, content = located(f"{folder}/{name}"), text.encode()
        folders.write_text(path, text)
        written.append((name, path, len(content), hashlib.sha256(content).hexdigest()))
    return written
