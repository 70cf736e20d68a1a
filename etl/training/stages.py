"""Declarations of the stages that train a model, and of those that tune one on other labelled sets."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Annotated, Any

from pyspark.sql import DataFrame

from conf.emo_pillars_settings import TransferSettings
from conf.taxonomy import GOEMOTIONS
from conf.training_settings import MultiLabelSettings
from etl.pipeline.signatures import At, receiver_of
from etl.pipeline.stage_run import StageRun
from etl.pipeline.stages import Declare, Incremental, Model, RowAccounting, Stage, Units, manual_stage, stage
from etl.tables import Table


def training_stage(model: str, *, units: str, **declared: Any) -> Declare:
    """Declare a stage that trains ``models.<model>``; its function receives the options ``training.<model>``.

    Args:
        units: name of a row, in the plural.
        declared: further arguments of ``stage``.
    """
    return stage(**{"writes": Model(model), "units": units, **declared})


manual_training_stage = partial(training_stage, manual=True)
"""Declare a training that runs only when it is named, or a named stage needs it, as :func:`training_stage` does."""


def transfer_stage(task: str, reads: Table, writes: Table, *models: str) -> Declare:
    """Declare a stage that tunes Emo Pillars' models on another labelled set, one batch a training.

    Args:
        task: key of the set under ``training``.
        reads: the set's table.
        writes: the table of results.
        models: keys under ``models`` of the models to tune.
    """
    TaskOptions = Annotated[MultiLabelSettings, At(f"training.{task}")]
    Encoder = Annotated[str, At("models.emo_pillars_encoder")]

    def trials(
        rows: DataFrame,
        transfer: TransferSettings,
        options: TaskOptions,
        encoder: Encoder,
        run: StageRun,
    ) -> DataFrame:
        from etl.training.recipes.transfer import Transfer, planned_transfers

        return planned_transfers(rows, run, Transfer(task, transfer, options, encoder))

    def results(
        planned: DataFrame,
        rows: DataFrame,
        transfer: TransferSettings,
        options: TaskOptions,
        encoder: Encoder,
        run: StageRun,
    ) -> DataFrame:
        from etl.training.recipes.transfer import Transfer, run_transfers

        tuned = Transfer(task, transfer, options, encoder)
        return run_transfers(planned, rows, run, tuned, writes)

    def declare(described: Callable[..., Any]) -> Stage:
        return manual_stage(
            reads=(reads,),
            writes=writes,
            models=models,
            resources=(GOEMOTIONS,),
            units=RowAccounting("trials", rows_out="count(DISTINCT trial)"),
            incremental=Incremental("trial", cost_per_minute=1e-6, prepare=trials, units=Units.PLANNED),
        )(replace(receiver_of(results), function=described))

    return declare
