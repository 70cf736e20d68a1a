"""Report on Emo Pillars: one HTML page with the paper's figures of sections 4, 7, G and H beside ours."""

from pyspark.sql import DataFrame

from etl.lakehouse.stage import StageRun, stage
from etl.lakehouse.tables.emo_pillars import CONTEXTUAL_EXAMPLES, EXAMPLES
from etl.lakehouse.tables.emo_pillars_analysis import (
    CHANGES,
    EVALUATION_SCORES,
    MARKERS,
    QUERY_EXAMPLES,
    SIMILARITIES,
    TOPIC_CATEGORIES,
    TOPIC_NAMES,
    TOPICS,
)


@stage(
    reads=(
        EXAMPLES, CONTEXTUAL_EXAMPLES, SIMILARITIES, CHANGES, TOPICS, TOPIC_NAMES, TOPIC_CATEGORIES, QUERY_EXAMPLES,
        MARKERS, EVALUATION_SCORES,
    ),
    writes=None,
    settings=("emo_pillars.analysis.report_folder",),
    shows="a page under `emo_pillars.analysis.report_folder`",
    on_request=True,
)  # fmt: skip
def emo_pillars_report(examples: DataFrame, *rest: DataFrame | StageRun) -> None:
    from etl.lakehouse.publishing.emo_pillars_report import write_emo_pillars_report

    run = rest[-1]
    assert isinstance(run, StageRun)
    write_emo_pillars_report(run)


if __name__ == "__main__":
    emo_pillars_report.main()
