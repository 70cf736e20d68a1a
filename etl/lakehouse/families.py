"""Stages that several data sets have alike: trainings, transfers, and questionnaires that are written and collected."""

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any

from pyspark.sql import DataFrame

from conf.taxonomy import GOEMOTIONS
from etl.annotation.exports import Form
from etl.lakehouse.asking import Declare
from etl.lakehouse.files.hit_batches import read_form, write_form
from etl.lakehouse.outcome import Outcome
from etl.lakehouse.stage import Model, Sliced, Stage, StageRun, Units, manual_stage, setting, stage, under
from etl.lakehouse.tables import Table

Questions = Mapping[str, Sequence[str] | None]


def trains(model: str, *settings: str, units: str, **declared: Any) -> Declare:
    """Declare a training of ``models.<model>`` under ``training.<model>``, which runs when it is named.

    Args:
        model: that it trains.
        settings: that count beside ``training.<model>`` and ``models.training_threads``.
        units: what a row is, in the plural.
        declared: what else ``stage`` takes.
    """
    own = (f"training.{model}", "models.training_threads", *settings)
    return stage(**{"writes": Model(model), "settings": own, "units": units, "on_request": True, **declared})


def tunes_on(task: str, reads: Table, writes: Table, *models: str) -> Declare:
    """Declare the transfers of Emo Pillars to another labelled set: one training after the other, each a slice.

    Args:
        task: the set, a key under ``training``.
        reads: its table.
        writes: the table of results.
        models: keys under ``models`` of those that are tuned.
    """

    def trials(rows: DataFrame, run: StageRun) -> DataFrame:
        from etl.lakehouse.trainings.transfer import planned_transfers

        return planned_transfers(rows, run, task)

    def declare(described: Callable[..., Any]) -> Stage:
        @wraps(described)
        def results(planned: DataFrame, rows: DataFrame, run: StageRun) -> DataFrame:
            from etl.lakehouse.trainings.transfer import run_transfers

            return run_transfers(planned, rows, run, task, writes)

        return manual_stage(
            reads=(reads,), writes=writes, asks=models, units=Units("trials", rows_out="count(DISTINCT trial)"),
            settings=(
                f"training.{task}", "emo_pillars.transfer", "models.emo_pillars_encoder", "models.training_threads",
            ),
            sliced=Sliced("trial", cost_per_minute=1e-6, prepare=trials, plans=True), resources=(GOEMOTIONS,),
        )(results)  # fmt: skip

    return declare


def writes_form(form: Form, section: str, tasks: Table, files: Table, *resources: str) -> Declare:
    """Declare the stage that writes a table of tasks as a questionnaire's page, with the key to its answers.

    Args:
        form: the questionnaire.
        section: the key of its settings, with folder and post_to.
        tasks: read.
        files: written.
        resources: files of ``conf`` that the page shows.
    """

    def declare(described: Callable[..., Any]) -> Stage:
        @wraps(described)
        def written(rows: DataFrame, run: StageRun) -> DataFrame:
            return write_form(rows, form, setting(run.settings, section), run)

        return manual_stage(
            reads=(tasks,), writes=files, settings=under(section, "folder", "post_to"),
            units=Units("items", rows_out="coalesce(max(items), 0)"), resources=resources,
        )(written)  # fmt: skip

    return declare


def collects_form(
    form: Form, section: str, questions: Questions | Callable[[], Questions], required: int, writes: Table,
    *resources: str,
) -> Declare:  # fmt: skip
    """Declare the stage that collects a questionnaire's answers, by a function from those that count to its rows.

    Args:
        form: the questionnaire.
        section: the key of its settings, with answers, batches, known_raters and keep_half_done.
        questions, required: as for ``etl.annotation.collecting.counted_answers``.
        writes: its table.
        resources: files of ``conf`` that the questions come from.
    """

    def declare(rows_of: Callable[[Outcome], Outcome]) -> Stage:
        @wraps(rows_of)
        def collected(run: StageRun) -> Outcome:
            asked = questions() if callable(questions) else questions
            return rows_of(read_form(form, asked, required, setting(run.settings, section), section, run))

        return manual_stage(
            writes=writes, settings=under(section, "known_raters", "keep_half_done"),
            inputs=under(section, "answers", "batches"), units="answers", resources=resources,
        )(collected)  # fmt: skip

    return declare
