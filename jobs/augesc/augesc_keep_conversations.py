"""Keep the tuned model's texts that meet all requirements: the AugESC conversations (AugESC 4.3, 5)."""

from pyspark.sql import DataFrame

from etl.augesc.conversations import kept_conversations
from etl.lakehouse.outcome import Outcome
from etl.lakehouse.stage import StageRun, Units, stage
from etl.lakehouse.tables.augesc import CONVERSATIONS, MEASURED_TEXTS, VIOLATIONS


@stage(
    reads=(MEASURED_TEXTS, VIOLATIONS),
    writes=CONVERSATIONS,
    units=Units("texts", rows_in="count_if(method = 'augmenter')"),
    on_request=True,
)
def augesc_keep_conversations(measured: DataFrame, violations: DataFrame, run: StageRun) -> Outcome:
    return kept_conversations(measured, violations)


if __name__ == "__main__":
    augesc_keep_conversations.main()
