"""Declarations of the stages that train a model, and of those that tune one on other labelled sets."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from pyspark.sql import DataFrame

from conf.taxonomy import GOEMOTIONS
from etl.pipeline.stage_run import StageRun
from etl.pipeline.stages import Declare, Incremental, Model, RowAccounting, Stage, manual_stage, stage
from etl.replies.regimes import Regime
from etl.tables import Table
from etl.tables.outcome import Trained


def training_stage(model: str, *settings: str, units: str, **declared: Any) -> Declare:
    """Declare a manual stage that trains ``models.<model>`` with the options ``training.<model>``.

    Args:
        settings: in addition to ``training.<model>`` and ``models.training_threads``.
        units: name of a row, in the plural.
        declared: further arguments of ``stage``.
    """
    names = (f"training.{model}", "models.training_threads", *settings)
    return stage(**{"writes": Model(model), "settings": names, "units": units, "manual": True, **declared})


def trained_generator(examples: DataFrame, run: StageRun, regime: Regime) -> Trained:
    """Train the response generator of a regime."""
    from etl.training.recipes.replies import train_and_register_generator

    return train_and_register_generator(examples, run, regime)


def transfer_stage(task: str, reads: Table, writes: Table, *models: str) -> Declare:
    """Declare a stage that tunes Emo Pillars' models on another labelled set, one slice a training.

    Args:
        task: key of the set under ``training``.
        reads: the set's table.
        writes: the table of results.
        models: keys under ``models`` of the models to tune.
    """

    def trials(rows: DataFrame, run: StageRun) -> DataFrame:
        from etl.training.recipes.transfer import planned_transfers

        return planned_transfers(rows, run, task)

    def declare(described: Callable[..., Any]) -> Stage:
        @wraps(described)
        def results(planned: DataFrame, rows: DataFrame, run: StageRun) -> DataFrame:
            from etl.training.recipes.transfer import run_transfers

            return run_transfers(planned, rows, run, task, writes)

        return manual_stage(
            reads=(reads,),
            writes=writes,
            models=models,
            resources=(GOEMOTIONS,),
            units=RowAccounting("trials", rows_out="count(DISTINCT trial)"),
            settings=(
                f"training.{task}",
                "emo_pillars.transfer",
                "models.emo_pillars_encoder",
                "models.training_threads",
            ),
            incremental=Incremental("trial", cost_per_minute=1e-6, prepare=trials, content_keyed=True),
        )(results)

    return declare
