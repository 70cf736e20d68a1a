"""Pre-train a response generator on OpenSubtitles without EDOS (EDOS 5)."""

from pyspark.sql import DataFrame

from etl.lakehouse.outcome import Trained
from etl.lakehouse.stage import Model, StageRun, Units, stage
from etl.lakehouse.tables.replies import EXAMPLES
from etl.replies.regimes import PRETRAINED


@stage(
    reads=(EXAMPLES,),
    writes=Model("reply_pretrained"),
    settings=(
        "training.reply_pretrained",
        "training.processes",
        "models.training_threads",
        "replies.tokens",
        "replies.network",
    ),
    units=Units("replies"),
    on_request=True,
)
def replies_pretrain(examples: DataFrame, run: StageRun) -> Trained:
    from etl.lakehouse.trainings.replies import train_and_register_generator

    return train_and_register_generator(examples, run, PRETRAINED)


if __name__ == "__main__":
    replies_pretrain.main()
