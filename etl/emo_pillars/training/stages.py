"""Families of trainings: on passages, and on other labelled sets. Each has one function."""

from collections.abc import Callable
from typing import Annotated, Any

from pyspark.sql import DataFrame

from conf.taxonomy import GOEMOTIONS, EmotionTaxonomy, require_goemotions
from etl.emo_pillars.settings import MultiLabelSettings, NamedMultiLabelSettings, TransferSettings
from etl.pipeline.outcome import Trained
from etl.pipeline.signatures import At, receiver_of
from etl.pipeline.stage_run import StageRun
from etl.pipeline.stages import Declare, Incremental, Model, RowAccounting, Stage, Units, stage
from etl.pipeline.tables import Table

Encoder = Annotated[str, At("models.emo_pillars_encoder")]


def passage_stage(model: str, reads: Table) -> Declare:
    """Declare the training of a multi-label classifier of passages. Its function returns the passages.

    Args:
        model: key under ``models`` and ``training``.
    """

    def declare(passages: Callable[[DataFrame], DataFrame]) -> Stage:
        def trained(
            examples: DataFrame,
            options: Annotated[NamedMultiLabelSettings, At(f"training.{model}")],
            encoder: Encoder,
            taxonomy: EmotionTaxonomy,
            run: StageRun,
        ) -> Trained:
            from etl.emo_pillars.training.multi_label import train_and_register_multi_label

            labels = taxonomy.names
            return train_and_register_multi_label(passages(examples), run, model, options, encoder, labels)

        return stage(
            reads=(reads,),
            writes=Model(model),
            manual=True,
            units="passages",
            resources=(GOEMOTIONS,),
        )(receiver_of(trained).named_by(passages))

    return declare


def transfer_stage(task: str, reads: Table, writes: Table, *models: str) -> Declare:
    """Declare a stage that tunes Emo Pillars' models on another labelled set, one batch a training.

    Args:
        task: key of the set under ``training``.
        models: keys under ``models`` of the models to tune.
    """
    TaskOptions = Annotated[MultiLabelSettings, At(f"training.{task}")]

    def trials(
        rows: DataFrame,
        transfer: TransferSettings,
        options: TaskOptions,
        encoder: Encoder,
        taxonomy: EmotionTaxonomy,
        run: StageRun,
    ) -> DataFrame:
        from etl.emo_pillars.training.transfer import Transfer, planned_transfers

        require_goemotions(taxonomy, f"the transfer to {task}")
        return planned_transfers(rows, run, Transfer(task, transfer, options, encoder))

    def results(
        planned: DataFrame,
        rows: DataFrame,
        transfer: TransferSettings,
        options: TaskOptions,
        encoder: Encoder,
        run: StageRun,
    ) -> DataFrame:
        from etl.emo_pillars.training.transfer import Transfer, run_transfers

        tuned = Transfer(task, transfer, options, encoder)
        return run_transfers(planned, rows, run, tuned, writes)

    def declare(described: Callable[..., Any]) -> Stage:
        return stage(
            manual=True,
            reads=(reads,),
            writes=writes,
            models=models,
            resources=(GOEMOTIONS,),
            units=RowAccounting("trials", rows_out="count(DISTINCT trial)"),
            incremental=Incremental("trial", cost_per_minute=1e-6, prepare=trials, units=Units.PLANNED),
        )(receiver_of(results).named_by(described))

    return declare
