"""Write batches of HITs as files, and read the answers to a form."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pyspark.sql import DataFrame

from conf.errors import InputError
from etl.annotation.collecting import counted_answers, form_keys, read_answers
from etl.annotation.exports import Form, batch_files, form_files
from etl.common.labelled_files import ROWS, files_under
from etl.pipeline.folders import Folders, located
from etl.pipeline.stage_run import StageRun
from etl.tables.edos_annotation import ANNOTATION_FILES
from etl.tables.outcome import Outcome


def write_batch(tasks: DataFrame, purpose: str, workers: int, run: StageRun) -> DataFrame:
    """Write a task table's HITs to ``<folder>/<purpose>-<batch id>``, and return rows of ``edos.annotation_files``.

    The batch is built on the driver, as it is small. A changed table gives a new batch in another folder, so that
    exported batches stay valid for their answers.
    """
    rows = [row.asDict() for row in tasks.collect()]
    if not rows:
        run.say("no HIT is full: nothing to write")
        return run.spark.createDataFrame([], ANNOTATION_FILES.schema)
    annotation = run.settings.edos.annotation
    batch_id, contents = batch_files(rows, purpose, run.settings.edos.taxonomy, annotation, workers)
    return _written(rows, f"{purpose}-{batch_id}", batch_id, contents, annotation.folder, run)


def write_form(tasks: DataFrame, form: Form, evaluation: Any, run: StageRun) -> DataFrame:
    """Write a questionnaire's page and key to ``<folder>/<purpose>-<batch id>``, and return rows of a table of files.

    Args:
        tasks: rows of the form's task table.
        form: the questionnaire.
        evaluation: settings with folder and post_to.
        run: the stage's run.
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
    """Read the valid answers to a questionnaire, and the ledger rows of the others.

    Args:
        form: the questionnaire.
        questions, required: see ``etl.annotation.collecting.counted_answers``.
        evaluation: settings with answers, batches, known_raters and keep_half_done.
        name: key of these settings.
        run: the stage's run.

    Raises:
        InputError: there are answers, but no batches.
    """
    files = files_under(evaluation.answers, ROWS, f"{name}.answers")
    if files and not evaluation.batches:
        raise InputError(f"{name}.batches is empty: name the key.jsonl of each batch that was answered")
    keys = form_keys(run.spark, files_under(evaluation.batches, (".jsonl",), f"{name}.batches"), form)
    answers = read_answers(run.spark, files).cache()
    counted = counted_answers(answers, keys, questions, required, evaluation)
    return files.with_skipped(replace(counted, rows_in=answers.count()), run.spark)


def _written(
    rows: list[dict[str, Any]], name: str, batch_id: str, contents: Mapping[str, str], folder: str | None, run: StageRun
) -> DataFrame:
    folder = (folder or f"{run.lakehouse.root.rstrip('/')}/annotation").rstrip("/")
    folders, hits = Folders(run.spark), len({row["hit_id"] for row in rows})
    written = []
    for file, text in sorted(contents.items()):
        path, content = located(f"{folder}/{name}/{file}"), text.encode()
        folders.write_text(path, text)
        digest = hashlib.sha256(content).hexdigest()
        written.append((batch_id, file, path, len(content), digest, hits, len(rows)))
    run.say(f"{hits:,} HITs with {len(rows):,} items in {folder}/{name}")
    return run.spark.createDataFrame(written, ANNOTATION_FILES.schema)
