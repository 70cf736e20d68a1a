"""Ask the steered response generator for each intent on test histories, and to compare for none (ours, EDOS 6)."""

from pyspark.sql import DataFrame

from etl.lakehouse.generators import planned_steering, replies
from etl.lakehouse.stage import Model, Sliced, StageRun, Units, stage
from etl.lakehouse.tables.replies import EXAMPLES, STEERED


@stage(
    reads=(EXAMPLES,),
    writes=STEERED,
    asks=(Model("reply_steered"), Model("reply_empathetic")),
    settings=("replies.evaluation.contexts", "replies.evaluation.intents", "replies.decoding"),
    sliced=Sliced("request_id", cost_per_minute=60, prepare=planned_steering, plans=True),
    units=Units("replies"),
    on_request=True,
)
def replies_steer(requests: DataFrame, examples: DataFrame, run: StageRun) -> DataFrame:
    return replies(requests, run)


if __name__ == "__main__":
    replies_steer.main()
