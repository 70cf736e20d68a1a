"""Declare the two stages of a questionnaire, which write its page and collect its answers."""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

from pyspark.sql import DataFrame

from conf.form_settings import FormAnswers, FormPosting
from etl.annotation.exports import Form
from etl.annotation.form_files import read_form, write_form
from etl.pipeline.outcome import Outcome
from etl.pipeline.signatures import At, receiver_of
from etl.pipeline.stage_run import StageRun
from etl.pipeline.stages import Declare, RowAccounting, Stage, stage
from etl.pipeline.tables import Table

Questions = Mapping[str, Sequence[str] | None]


def form_stage(form: Form, section: str, tasks: Table, files: Table, *resources: str) -> Declare:
    """Declare the stage that writes a table of tasks as a questionnaire's page with a key.

    Args:
        section: key of its settings, with folder and post_to.
        resources: files of ``conf`` that the page shows.
    """

    def declare(described: Callable[..., Any]) -> Stage:
        def written(rows: DataFrame, posting: Annotated[FormPosting, At(section)], run: StageRun) -> Outcome:
            return write_form(rows, form, posting, run)

        return stage(
            manual=True,
            reads=(tasks,),
            writes=files,
            units=RowAccounting("items", rows_out="coalesce(max(items), 0)"),
            resources=resources,
        )(receiver_of(written).named_by(described))

    return declare


def form_answers_stage(
    form: Form,
    section: str,
    questions: Questions | Callable[[], Questions],
    required: int,
    writes: Table,
    *resources: str,
) -> Declare:
    """Declare the stage that collects a questionnaire's answers. Its function converts valid answers to output rows.

    Args:
        section: key of its settings, with answers, batches, known_raters and keep_half_done.
        questions, required: see ``etl.annotation.collecting.counted_answers``.
        resources: files of ``conf`` with the questions.
    """

    def declare(rows_of: Callable[[Outcome], Outcome]) -> Stage:
        def collected(rules: Annotated[FormAnswers, At(section)], run: StageRun) -> Outcome:
            asked = questions() if callable(questions) else questions
            return rows_of(read_form(form, asked, required, rules, section, run))

        return stage(
            manual=True,
            writes=writes,
            units="answers",
            resources=resources,
        )(receiver_of(collected).named_by(rows_of))

    return declare
