"""Count the silences between neighbouring sentences by length: why 5 s part two dialogues (EDOS C, Figure 5)."""

from pyspark.sql import DataFrame

from etl.lakehouse.outcome import Outcome
from etl.lakehouse.stage import StageRun, Units, stage
from etl.lakehouse.tables.subtitles import CHOSEN_UPLOADS, FILES, GAPS
from etl.subtitles.gaps import count_pairs, gap_histogram


@stage(reads=(CHOSEN_UPLOADS, FILES), writes=GAPS, units=Units("pairs", rows_out="sum(pairs)"), on_request=True)
def measure_gaps(chosen: DataFrame, files: DataFrame, run: StageRun) -> Outcome:
    own = files.join(chosen.select("source_path"), "source_path", "left_semi")
    return Outcome(gap_histogram(own), rows_in=count_pairs(own))


if __name__ == "__main__":
    measure_gaps.main()
