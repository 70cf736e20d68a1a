"""Fine-tune the response generator further, to be told the intent of its reply (ours, EDOS 6)."""

from pyspark.sql import DataFrame

from etl.lakehouse.outcome import Trained
from etl.lakehouse.stage import Model, StageRun, Units, stage
from etl.lakehouse.tables.replies import EXAMPLES
from etl.replies.regimes import STEERED


@stage(
    reads=(EXAMPLES,),
    writes=Model("reply_steered"),
    asks=(Model("reply_empathetic"),),
    settings=("training.reply_steered", "training.processes", "models.training_threads", "replies.network.dropout"),
    units=Units("replies"),
    on_request=True,
)
def replies_tune_steered(examples: DataFrame, run: StageRun) -> Trained:
    from etl.lakehouse.trainings.replies import train_and_register_generator

    return train_and_register_generator(examples, run, STEERED)


if __name__ == "__main__":
    replies_tune_steered.main()
