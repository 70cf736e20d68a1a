"""Tune models on GoEmotions and measure them, by seed and as they are; only when named (Emo Pillars 5.1.2)."""

from pyspark.sql import DataFrame

from etl.lakehouse.stage import Model, Sliced, StageRun, Units, stage
from etl.lakehouse.tables.emo_pillars import GOEMOTIONS, GOEMOTIONS_RESULTS


def trials_to_do(comments: DataFrame, run: StageRun) -> DataFrame:
    from etl.lakehouse.trainings.transfer import planned_transfers

    return planned_transfers(comments, run, "goemotions")


@stage(
    reads=(GOEMOTIONS,),
    writes=GOEMOTIONS_RESULTS,
    asks=(Model("emo_pillars_contextless"), Model("emo_pillars_contextless_rewritten")),
    settings=("training.goemotions", "emo_pillars.transfer", "models.emo_pillars_encoder", "models.training_threads"),
    sliced=Sliced("trial", cost_per_minute=1e-6, prepare=trials_to_do, plans=True),  # a slice is one training
    units=Units("trials", rows_out="count(DISTINCT trial)"),
    on_request=True,
)
def emo_pillars_transfer_goemotions(trials: DataFrame, comments: DataFrame, run: StageRun) -> DataFrame:
    from etl.lakehouse.trainings.transfer import run_transfers

    return run_transfers(trials, comments, run, "goemotions", GOEMOTIONS_RESULTS)


if __name__ == "__main__":
    emo_pillars_transfer_goemotions.main()
