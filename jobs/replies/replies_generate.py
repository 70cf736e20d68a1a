"""Let each response generator reply to the test histories of all three sets, by beam search (EDOS 5)."""

from pyspark.sql import DataFrame

from etl.lakehouse.generators import planned_replies, replies
from etl.lakehouse.stage import Model, Sliced, StageRun, Units, stage
from etl.lakehouse.tables.replies import EXAMPLES, GENERATED


@stage(
    reads=(EXAMPLES,),
    writes=GENERATED,
    asks=(Model("reply_pretrained"), Model("reply_edos"), Model("reply_empathetic")),
    settings=("replies.evaluation.examples", "replies.decoding"),
    sliced=Sliced("request_id", cost_per_minute=60, prepare=planned_replies, plans=True),
    units=Units("replies"),
    on_request=True,
)
def replies_generate(requests: DataFrame, examples: DataFrame, run: StageRun) -> DataFrame:
    return replies(requests, run)


if __name__ == "__main__":
    replies_generate.main()
