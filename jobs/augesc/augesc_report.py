"""Report on AugESC's conversations: one HTML page with the paper's tables and figures beside ours (AugESC 4 to 7)."""

from pyspark.sql import DataFrame

from etl.lakehouse.stage import StageRun, stage
from etl.lakehouse.tables.augesc import BIGRAM_GROWTH, CONVERSATIONS, STATISTICS, TYPICAL_WORDS, VIOLATIONS
from etl.lakehouse.tables.augesc_evaluation import COMPARISON_SCORES, RATING_SCORES
from etl.lakehouse.tables.augesc_faults import FAULTS


@stage(
    reads=(
        CONVERSATIONS, VIOLATIONS, STATISTICS, TYPICAL_WORDS, BIGRAM_GROWTH, RATING_SCORES, COMPARISON_SCORES, FAULTS,
    ),
    writes=None,
    settings=("augesc.report_folder",),
    shows="a page under `augesc.report_folder`",
    on_request=True,
)  # fmt: skip
def augesc_report(conversations: DataFrame, *rest: DataFrame | StageRun) -> None:
    from etl.lakehouse.publishing.augesc_report import write_augesc_report

    run = rest[-1]
    assert isinstance(run, StageRun)
    write_augesc_report(run)


if __name__ == "__main__":
    augesc_report.main()
