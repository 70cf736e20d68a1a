"""Tune context-aware models on EmoContext, others relabelled or not; only when named (Emo Pillars 5.2.2)."""

from pyspark.sql import DataFrame

from etl.lakehouse.stage import Model, Sliced, StageRun, Units, stage
from etl.lakehouse.tables.emo_pillars import EMOCONTEXT, EMOCONTEXT_RESULTS


def trials_to_do(dialogues: DataFrame, run: StageRun) -> DataFrame:
    from etl.lakehouse.trainings.transfer import planned_transfers

    return planned_transfers(dialogues, run, "emocontext")


@stage(
    reads=(EMOCONTEXT,),
    writes=EMOCONTEXT_RESULTS,
    asks=(Model("emo_pillars_contextual"), Model("emo_pillars_contextual_rewritten")),
    settings=("training.emocontext", "emo_pillars.transfer", "models.emo_pillars_encoder", "models.training_threads"),
    sliced=Sliced("trial", cost_per_minute=1e-6, prepare=trials_to_do, plans=True),  # a slice is one training
    units=Units("trials", rows_out="count(DISTINCT trial)"),
    on_request=True,
)
def emo_pillars_transfer_emocontext(trials: DataFrame, dialogues: DataFrame, run: StageRun) -> DataFrame:
    from etl.lakehouse.trainings.transfer import run_transfers

    return run_transfers(trials, dialogues, run, "emocontext", EMOCONTEXT_RESULTS)


if __name__ == "__main__":
    emo_pillars_transfer_emocontext.main()
