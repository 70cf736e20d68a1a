"""Describe the conversations: counts by role, bigrams, typical words, a report (AugESC 5)."""

from typing import Any

from pyspark.sql import DataFrame

from etl.augesc import statistics
from etl.pipeline import RowAccounting, StageRun, manual_stage, under
from etl.tables import augesc as tables
from etl.tables.augesc_evaluation import COMPARISON_SCORES, RATING_SCORES
from etl.tables.augesc_faults import FAULTS
from etl.tables.outcome import Outcome

COMPARED = ("esconv", "ed", "reddit")


@manual_stage(
    reads=(tables.MEASURED_TEXTS, tables.CONVERSATIONS),
    writes=tables.STATISTICS,
    units=RowAccounting("conversations", rows_out="coalesce(sum(value) FILTER (WHERE measure = 'sessions'), 0)"),
)
def augesc_describe_conversations(measured: DataFrame, conversations: DataFrame, run: StageRun) -> Outcome:
    """Compute statistics of the conversations by set and role (AugESC 5.1, Table 2)."""
    rows = statistics.role_statistics(statistics.conversations_by_set(measured, conversations))
    return Outcome(rows, rows_in=statistics.count_conversations(measured, conversations))


@manual_stage(
    reads=(tables.MEASURED_TEXTS, tables.CONVERSATIONS),
    writes=tables.BIGRAM_GROWTH,
    settings=("augesc.statistics.growth_points",),
    units="sizes",
)
def augesc_grow_bigrams(measured: DataFrame, conversations: DataFrame, run: StageRun) -> Outcome:
    """Count the distinct bigrams of growing numbers of conversations (AugESC 5.2, Figure 5)."""
    by_set = statistics.conversations_by_set(measured, conversations)
    points = run.settings.augesc.statistics.growth_points
    return Outcome(statistics.bigram_growth(by_set, points), rows_in=statistics.count_sizes(by_set, points))


@manual_stage(
    reads=(tables.MEASURED_TEXTS, tables.CONVERSATIONS),
    writes=tables.TYPICAL_WORDS,
    units="words",
    settings=under("augesc.statistics", "sampled", "prior_words", "typical_words"),
)
def augesc_compare_words(measured: DataFrame, conversations: DataFrame, run: StageRun) -> Outcome:
    """Find the words that are typical of a set, by z-scored log-odds with a prior (AugESC 5.3, Figure 4)."""
    settings = run.settings.augesc.statistics
    by_set = statistics.conversations_by_set(measured, conversations).where(f"data_set IN {COMPARED}")
    counts = statistics.word_counts(statistics.sampled(by_set, settings.sampled)).cache()
    rows = statistics.most_typical(statistics.log_odds(counts, settings.prior_words), settings.typical_words)
    return Outcome(rows, rows_in=statistics.count_typical_words(counts, settings.typical_words))


@manual_stage(
    reads=(
        tables.CONVERSATIONS,
        tables.VIOLATIONS,
        tables.STATISTICS,
        tables.TYPICAL_WORDS,
        tables.BIGRAM_GROWTH,
        RATING_SCORES,
        COMPARISON_SCORES,
        FAULTS,
    ),
    writes=None,
    settings=("augesc.report_folder",),
    shows="a page under `augesc.report_folder`",
    options=("augesc.filters",),
)
def augesc_report(*inputs: Any) -> None:
    """Report on AugESC's conversations: one HTML page, the paper's tables and figures beside ours (AugESC 4 to 7)."""
    from etl.publishing.reports import write_augesc_report

    write_augesc_report(inputs[-1])
