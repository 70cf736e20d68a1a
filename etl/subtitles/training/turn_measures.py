"""How often the linear turn segmenter is right at borders that it has not seen, by kind of border (EDOS 3.1)."""

import time
from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from etl.pipeline.stage_run import StageRun
from etl.subtitles.border_segmenter import BorderSegmenter, no_start, train_border_segmenter
from etl.subtitles.known_speakers import KNOWN_SOURCES
from etl.subtitles.settings import SegmenterOptions
from etl.subtitles.training.turn_segmenter import labelled, linear_training, of_series, pairs_apart
from etl.subtitles.turn_evaluation import HEADER, figures_by_source, figures_line
from etl.subtitles.turn_scoring import PairScorer, with_margins

EPISODES = (25, 50, 100, 200, 400)
"""Numbers of episodes that the curve is drawn by."""


def _report(run: StageRun, learned: str, pairs: DataFrame, scorer: PairScorer, seconds: float | None = None) -> None:
    for source, found in figures_by_source(labelled(with_margins(pairs, scorer))):
        run.say(figures_line(learned, source, found, seconds))


def measure_turn_segmenter(
    files: DataFrame, run: StageRun, options: SegmenterOptions, examples: Sequence[str], language: str
) -> None:
    """Print the figures of the packaged segmenter, of one trained as ``train_turn_segmenter`` does, and by series.

    Each series of the subtitles with known speakers is held out whole once: the segmenter begins with no weights and
    learns from the other series, and where they are two or more from each of them alone. Where the options name series,
    these alone are held out, and the segmenter also learns from fewer episodes of the others.
    """
    training, held_out = pairs_apart(files, options, examples, held_out=options.subtitle_pairs)
    training, held_out = training.persist(), held_out.persist()
    run.say(HEADER)
    packaged = BorderSegmenter.packaged()
    trained = train_border_segmenter(linear_training(training), language, packaged)
    for name, scorer in (("the package", packaged), ("the package and these", trained)):
        _report(run, name, held_out, scorer)
    series = F.substring_index("split_group", "/", 1)
    known = training.unionByName(held_out).where(F.col("source").isin(*KNOWN_SOURCES)).persist()
    names = sorted(row[0] for row in known.select(series).distinct().collect())
    for name in options.held_out or names:
        judged = known.where(of_series([name]))
        learned = [one for one in names if one != name]
        for others in [learned, *([one] for one in learned if len(learned) > 1)] if learned else []:
            learned_from = known.where(series.isin(*others) & ~of_series([name]))
            _report_training(run, learned_from, judged, language, ", ".join(others))
        for count in EPISODES if options.held_out else ():
            groups = known.where(~of_series([name])).select("split_group").distinct()
            if groups.count() <= count:
                break
            some = groups.orderBy(F.sha2("split_group", 256)).limit(count)
            _report_training(run, known.join(F.broadcast(some), "split_group"), judged, language, f"{count} episodes")


def _report_training(run: StageRun, known: DataFrame, judged: DataFrame, language: str, learned: str) -> None:
    """Train from no weights, and print the figures on a series that was held out."""
    start = time.monotonic()
    scorer = train_border_segmenter(known, language, no_start(language))
    _report(run, learned, judged, scorer, time.monotonic() - start)
