"""Let the tuned model go on from each query, several times (AugESC 4.2)."""

from pyspark.sql import DataFrame

from etl.augesc.generation import augmenter_asked
from etl.lakehouse.asking import answered, asks_for
from etl.lakehouse.stage import Model, StageRun, Units, stage
from etl.lakehouse.tables.augesc import QUERIES
from etl.lakehouse.tables.llm import AUGMENTED


def pending(queries: DataFrame, run: StageRun) -> DataFrame:
    return augmenter_asked(queries, run.settings.augesc)


@stage(
    reads=(QUERIES,),
    writes=AUGMENTED,
    asks=(Model("augmenter"),),
    settings=("augesc.generation.queries", "augesc.generation.decoding", "augesc.samples_per_query"),
    sliced=asks_for(pending, per_minute=3),
    units=Units("prompts"),
    on_request=True,
    when="augesc.generation.augments",
)
def augesc_ask_augmenter(requests: DataFrame, queries: DataFrame, run: StageRun) -> DataFrame:
    return answered(requests, run, "augmenter")


if __name__ == "__main__":
    augesc_ask_augmenter.main()
