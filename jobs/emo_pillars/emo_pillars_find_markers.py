"""Find the adverbs that rewriting takes out, and the emotions that they go with (Emo Pillars G, Table 9)."""

from pyspark.sql import DataFrame

from conf.wordlists import words
from etl.emo_pillars.markers import adverb_markers
from etl.lakehouse.outcome import Outcome
from etl.lakehouse.stage import StageRun, Units, stage
from etl.lakehouse.tables.emo_pillars import CONTEXTUAL_EXAMPLES
from etl.lakehouse.tables.emo_pillars_analysis import MARKERS

SETTINGS = ("removed_share", "marker_share", "marker_count")


@stage(
    reads=(CONTEXTUAL_EXAMPLES,),
    writes=MARKERS,
    settings=tuple(f"emo_pillars.analysis.{name}" for name in SETTINGS),
    units=Units("markers"),
    on_request=True,
)
def emo_pillars_find_markers(contextual: DataFrame, run: StageRun) -> Outcome:
    wanted = run.settings.emo_pillars.analysis
    rows = adverb_markers(
        contextual, words("emo_pillars/not_adverbs"), removed=wanted.removed_share, share=wanted.marker_share,
        least=wanted.marker_count,
    ).cache()  # fmt: skip
    return Outcome(rows, rows_in=rows.count())


if __name__ == "__main__":
    emo_pillars_find_markers.main()
