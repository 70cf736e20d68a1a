"""Ask each response generator how likely it finds the test replies of all three sets: perplexity (EDOS 5)."""

from pyspark.sql import DataFrame

from etl.lakehouse.generators import likelihoods, planned_likelihoods
from etl.lakehouse.stage import Model, Sliced, StageRun, Units, stage
from etl.lakehouse.tables.replies import EXAMPLES, LIKELIHOODS


@stage(
    reads=(EXAMPLES,),
    writes=LIKELIHOODS,
    asks=(Model("reply_pretrained"), Model("reply_edos"), Model("reply_empathetic")),
    settings=("replies.evaluation.examples",),
    sliced=Sliced("request_id", cost_per_minute=3_000, prepare=planned_likelihoods, plans=True),
    units=Units("replies"),
    on_request=True,
)
def replies_score(requests: DataFrame, examples: DataFrame, run: StageRun) -> DataFrame:
    return likelihoods(requests, run)


if __name__ == "__main__":
    replies_score.main()
