"""Count how many different bigrams more and more conversations have (AugESC 5.2, Figure 5)."""

from pyspark.sql import DataFrame

from etl.augesc.statistics import bigram_growth, said_in
from etl.lakehouse.outcome import Outcome
from etl.lakehouse.stage import StageRun, Units, stage
from etl.lakehouse.tables.augesc import BIGRAM_GROWTH, CONVERSATIONS, MEASURED_TEXTS


@stage(
    reads=(MEASURED_TEXTS, CONVERSATIONS),
    writes=BIGRAM_GROWTH,
    settings=("augesc.statistics.growth_points",),
    units=Units("sizes"),
    on_request=True,
)
def augesc_grow_bigrams(measured: DataFrame, conversations: DataFrame, run: StageRun) -> Outcome:
    said = said_in(measured, conversations)
    rows = bigram_growth(said, run.settings.augesc.statistics.growth_points).cache()
    return Outcome(rows, rows_in=rows.count())


if __name__ == "__main__":
    augesc_grow_bigrams.main()
