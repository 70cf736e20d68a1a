"""Let the model before its tuning go on from queries, for comparison (AugESC 4.3)."""

from pyspark.sql import DataFrame

from etl.augesc.generation import untuned_asked
from etl.lakehouse.asking import answered, asks_for
from etl.lakehouse.stage import Model, StageRun, Units, stage
from etl.lakehouse.tables.augesc import QUERIES
from etl.lakehouse.tables.llm import UNTUNED


def pending(queries: DataFrame, run: StageRun) -> DataFrame:
    return untuned_asked(queries, run.settings.augesc)


@stage(
    reads=(QUERIES,),
    writes=UNTUNED,
    asks=(Model("augmenter_base"),),
    settings=(
        "augesc.generation.queries", "augesc.generation.baseline_queries", "augesc.generation.untuned_decoding",
    ),
    sliced=asks_for(pending),
    units=Units("prompts"),
    on_request=True,
    when="augesc.generation.compares_untuned",
)  # fmt: skip
def augesc_ask_untuned(requests: DataFrame, queries: DataFrame, run: StageRun) -> DataFrame:
    return answered(requests, run, "augmenter_base")


if __name__ == "__main__":
    augesc_ask_untuned.main()
