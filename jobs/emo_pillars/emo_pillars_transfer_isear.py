"""Tune models on ISEAR's folds and measure them, and as they are; only when named (Emo Pillars 5.1.3)."""

from pyspark.sql import DataFrame

from etl.lakehouse.stage import Model, Sliced, StageRun, Units, stage
from etl.lakehouse.tables.emo_pillars import ISEAR, ISEAR_RESULTS


def trials_to_do(reports: DataFrame, run: StageRun) -> DataFrame:
    from etl.lakehouse.trainings.transfer import planned_transfers

    return planned_transfers(reports, run, "isear")


@stage(
    reads=(ISEAR,),
    writes=ISEAR_RESULTS,
    asks=(Model("emo_pillars_contextless"), Model("emo_pillars_contextless_rewritten")),
    settings=("training.isear", "emo_pillars.transfer", "models.emo_pillars_encoder", "models.training_threads"),
    sliced=Sliced("trial", cost_per_minute=1e-6, prepare=trials_to_do, plans=True),  # a slice is one training
    units=Units("trials", rows_out="count(DISTINCT trial)"),
    on_request=True,
)
def emo_pillars_transfer_isear(trials: DataFrame, reports: DataFrame, run: StageRun) -> DataFrame:
    from etl.lakehouse.trainings.transfer import run_transfers

    return run_transfers(trials, reports, run, "isear", ISEAR_RESULTS)


if __name__ == "__main__":
    emo_pillars_transfer_isear.main()
