"""Compare the sets' words: which are typical of one, by log-odds with a prior, z-scored (AugESC 5.3, Figure 4)."""

from pyspark.sql import DataFrame

from etl.augesc.statistics import log_odds, most_typical, said_in, sampled, word_counts
from etl.lakehouse.outcome import Outcome
from etl.lakehouse.stage import StageRun, Units, stage
from etl.lakehouse.tables.augesc import CONVERSATIONS, MEASURED_TEXTS, TYPICAL_WORDS

COMPARED = ("esconv", "ed", "reddit")


@stage(
    reads=(MEASURED_TEXTS, CONVERSATIONS),
    writes=TYPICAL_WORDS,
    settings=("augesc.statistics.sampled", "augesc.statistics.prior_words", "augesc.statistics.typical_words"),
    units=Units("words"),
    on_request=True,
)
def augesc_compare_words(measured: DataFrame, conversations: DataFrame, run: StageRun) -> Outcome:
    wanted = run.settings.augesc.statistics
    said = said_in(measured, conversations).where(f"data_set IN {COMPARED}")
    counts = word_counts(sampled(said, wanted.sampled)).cache()
    rows = most_typical(log_odds(counts, wanted.prior_words), wanted.typical_words).cache()
    return Outcome(rows, rows_in=rows.count())


if __name__ == "__main__":
    augesc_compare_words.main()
