"""Train the context-less model on original utterances (Emo Pillars 5.1.1)."""

from pyspark.sql import DataFrame

from etl.lakehouse.outcome import Trained
from etl.lakehouse.stage import Model, StageRun, Units, stage
from etl.lakehouse.tables.emo_pillars import EXAMPLES


@stage(
    reads=(EXAMPLES,),
    writes=Model("emo_pillars_contextless"),
    settings=("training.emo_pillars_contextless", "models.emo_pillars_encoder", "models.training_threads"),
    units=Units("passages"),
    on_request=True,
)
def emo_pillars_train_contextless(examples: DataFrame, run: StageRun) -> Trained:
    from etl.lakehouse.trainings.multi_label import contextless, train_and_register_multi_label

    return train_and_register_multi_label(contextless(examples), run, "emo_pillars_contextless")


if __name__ == "__main__":
    emo_pillars_train_contextless.main()
