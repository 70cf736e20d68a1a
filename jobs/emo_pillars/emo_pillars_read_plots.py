"""Read story plots from CSV or WikiPlots files, each cut to what a prompt holds (Emo Pillars 4)."""

from etl.emo_pillars.plots import DROPPED, taken_plots
from etl.emo_pillars.plots import PLOTS as ROWS
from etl.lakehouse.files.stories import read_stories
from etl.lakehouse.outcome import Outcome
from etl.lakehouse.stage import StageRun, Units, stage
from etl.lakehouse.tables.emo_pillars import PLOTS


@stage(
    writes=PLOTS,
    inputs=("emo_pillars.plots",),
    settings=("emo_pillars.plot_limit", "emo_pillars.plot_words", "emo_pillars.english_share"),
    units=Units("plots"),
    on_request=True,
)
def emo_pillars_read_plots(run: StageRun) -> Outcome:
    own = run.settings.emo_pillars
    stories = read_stories(own.plots) if own.plots else ()
    found = taken_plots(stories, own.plot_limit, own.plot_words, own.english_share)
    rows = run.spark.createDataFrame(found.taken, ROWS)
    return Outcome(rows, run.spark.createDataFrame(found.dropped, DROPPED), rows_in=found.rows_in)


if __name__ == "__main__":
    emo_pillars_read_plots.main()
