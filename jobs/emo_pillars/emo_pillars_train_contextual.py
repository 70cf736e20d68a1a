"""Train the context-aware model on original utterances with their contexts (Emo Pillars 5.2.1)."""

from pyspark.sql import DataFrame

from etl.lakehouse.outcome import Trained
from etl.lakehouse.stage import Model, StageRun, Units, stage
from etl.lakehouse.tables.emo_pillars import CONTEXTUAL_EXAMPLES


@stage(
    reads=(CONTEXTUAL_EXAMPLES,),
    writes=Model("emo_pillars_contextual"),
    settings=("training.emo_pillars_contextual", "models.emo_pillars_encoder", "models.training_threads"),
    units=Units("passages"),
    on_request=True,
)
def emo_pillars_train_contextual(examples: DataFrame, run: StageRun) -> Trained:
    from etl.lakehouse.trainings.multi_label import contextual, train_and_register_multi_label

    return train_and_register_multi_label(contextual(examples, rewritten=False), run, "emo_pillars_contextual")


if __name__ == "__main__":
    emo_pillars_train_contextual.main()
