"""Fine-tune the pre-trained response generator on EDOS (EDOS 5)."""

from pyspark.sql import DataFrame

from etl.lakehouse.outcome import Trained
from etl.lakehouse.stage import Model, StageRun, Units, stage
from etl.lakehouse.tables.replies import EXAMPLES
from etl.replies.regimes import ON_EDOS


@stage(
    reads=(EXAMPLES,),
    writes=Model("reply_edos"),
    asks=(Model("reply_pretrained"),),
    settings=("training.reply_edos", "training.processes", "models.training_threads", "replies.network.dropout"),
    units=Units("replies"),
    on_request=True,
)
def train_response_generator(examples: DataFrame, run: StageRun) -> Trained:
    from etl.lakehouse.trainings.replies import train_and_register_generator

    return train_and_register_generator(examples, run, ON_EDOS)


if __name__ == "__main__":
    train_response_generator.main()
