"""Count what the conversations are like, by set and role (AugESC 5.1, Table 2)."""

from pyspark.sql import DataFrame

from etl.augesc.statistics import role_statistics, said_in
from etl.lakehouse.outcome import Outcome
from etl.lakehouse.stage import StageRun, Units, stage
from etl.lakehouse.tables.augesc import CONVERSATIONS, MEASURED_TEXTS, STATISTICS


@stage(
    reads=(MEASURED_TEXTS, CONVERSATIONS),
    writes=STATISTICS,
    units=Units("figures"),
    on_request=True,
)
def augesc_describe_conversations(measured: DataFrame, conversations: DataFrame, run: StageRun) -> Outcome:
    said = said_in(measured, conversations)
    rows = role_statistics(said).cache()
    return Outcome(rows, rows_in=rows.count())


if __name__ == "__main__":
    augesc_describe_conversations.main()
