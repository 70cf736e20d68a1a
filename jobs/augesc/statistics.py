"""Describe the conversations: counts by role, bigrams, typical words, a report (AugESC 5)."""

from typing import Annotated

from pyspark.sql import DataFrame

from etl.augesc import statistics, tables
from etl.augesc.settings import FilterSettings, Reading, WordStatistics
from etl.augesc.tables import COMPARISON_SCORES, FAULTS, RATING_SCORES
from etl.pipeline import UNCOUNTED, At, RowAccounting, StageRun, stage
from etl.pipeline.outcome import Outcome

COMPARED = ("esconv", "ed", "reddit")


@stage(
    manual=True,
    reads=(tables.MEASURED_TEXTS, tables.CONVERSATIONS),
    writes=tables.STATISTICS,
    units=RowAccounting("conversations", rows_out="coalesce(sum(value) FILTER (WHERE measure = 'sessions'), 0)"),
)
def augesc_describe_conversations(measured: DataFrame, conversations: DataFrame) -> Outcome:
    """Compute statistics of the conversations by set and role (AugESC 5.1, Table 2)."""
    rows = statistics.role_statistics(statistics.conversations_by_set(measured, conversations))
    return Outcome(rows, rows_in=statistics.count_conversations(measured, conversations))


@stage(
    manual=True,
    reads=(tables.MEASURED_TEXTS, tables.CONVERSATIONS),
    writes=tables.BIGRAM_GROWTH,
    units="sizes",
)
def augesc_grow_bigrams(
    measured: DataFrame, conversations: DataFrame, points: Annotated[int, At("augesc.statistics.growth_points")]
) -> Outcome:
    """Count the distinct bigrams of growing numbers of conversations (AugESC 5.2, Figure 5)."""
    by_set = statistics.conversations_by_set(measured, conversations)
    return Outcome(statistics.bigram_growth(by_set, points), rows_in=statistics.count_sizes(by_set, points))


@stage(
    manual=True,
    reads=(tables.MEASURED_TEXTS, tables.CONVERSATIONS),
    writes=tables.TYPICAL_WORDS,
    units="words",
)
def augesc_compare_words(measured: DataFrame, conversations: DataFrame, counted: WordStatistics) -> Outcome:
    """Find the words that are typical of a set, by z-scored log-odds with a prior (AugESC 5.3, Figure 4)."""
    by_set = statistics.conversations_by_set(measured, conversations).where(f"data_set IN {COMPARED}")
    counts = statistics.word_counts(statistics.sampled(by_set, counted.sampled)).cache()
    rows = statistics.most_typical(statistics.log_odds(counts, counted.prior_words), counted.typical_words)
    return Outcome(rows, rows_in=statistics.count_typical_words(counts, counted.typical_words))


SHOWN = (
    tables.PAPER_READING,
    tables.STATISTICS,
    tables.TYPICAL_WORDS,
    tables.BIGRAM_GROWTH,
    RATING_SCORES,
    COMPARISON_SCORES,
    FAULTS,
)
"""Tables that the report shows where they are there."""


@stage(
    manual=True,
    reads=(tables.CONVERSATIONS, tables.VIOLATIONS, *SHOWN),
    optional=SHOWN,
    writes=None,
    shows="a page under `augesc.report_folder`",
)
def augesc_report(
    folder: Annotated[str | None, At("augesc.report_folder")],
    filters: Annotated[FilterSettings, UNCOUNTED],
    reading: Annotated[Reading, At("augesc.reading"), UNCOUNTED],
    run: StageRun,
) -> None:
    """Report on AugESC's conversations: one HTML page, the paper's tables and figures beside ours (AugESC 4 to 7)."""
    from etl.augesc.report import write_augesc_report

    write_augesc_report(run, folder, filters, reading)
