"""How often the linear turn segmenter is right at borders that it has not seen, by kind of border (EDOS 3.1)."""

import time
from collections.abc import Iterator, Sequence

import numpy as np
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from etl.pipeline.stage_run import StageRun
from etl.subtitles.border_segmenter import UNIT, BorderSegmenter, no_start, train_border_segmenter
from etl.subtitles.known_speakers import BETWEEN_CUES, WITHIN_CUES
from etl.subtitles.settings import SegmenterOptions
from etl.subtitles.training.turn_segmenter import labelled, linear_training, pairs_apart
from etl.subtitles.turn_scoring import PairScorer, with_margins

BINS = 10
EPISODES = (25, 50, 100, 200, 400)
"""Numbers of episodes that the curve is drawn by."""
KNOWN = (BETWEEN_CUES, WITHIN_CUES)


def border_figures(label: np.ndarray, log_odds: np.ndarray) -> dict[str, float]:
    """Return how good predicted changes of speaker are at borders of one kind.

    Args:
        label: 1 where the speaker changes, else 0.
        log_odds: as predicted.

    Returns:
        borders; right; floor (always the more frequent answer); auc (null of one answer); true and predicted (shares of
        changes); error (expected calibration error by tenths of the borders); sure_half (right among the surer half).
    """
    from sklearn.metrics import roc_auc_score

    predicted = 1 / (1 + np.exp(-log_odds))
    right = (log_odds > 0) == (label == 1)
    order = np.argsort(predicted, kind="stable")
    parts = [part for part in np.array_split(order, BINS) if len(part)]
    error = sum(len(part) * abs(predicted[part].mean() - label[part].mean()) for part in parts) / len(label)
    surest = np.argsort(-np.abs(log_odds), kind="stable")[: max(1, len(label) // 2)]
    share = float(label.mean())
    return {
        "borders": float(len(label)),
        "right": float(right.mean()),
        "floor": max(share, 1 - share),
        "auc": float(roc_auc_score(label, log_odds)) if 0 < share < 1 else float("nan"),
        "true": share,
        "predicted": float((log_odds > 0).mean()),
        "error": float(error),
        "sure_half": float(right[surest].mean()),
    }


HEADER = (
    f"{'learned from':<26}{'judged on':<26}{'borders':>8}{'right':>7}{'floor':>7}{'AUC':>7}{'changes':>8}{'true':>6}"
    f"{'error':>7}{'sure half':>10}  trained"
)


def figures_line(learned: str, judged: str, found: dict[str, float]) -> str:
    """Return a row of the printed table under :data:`HEADER`."""
    return (
        f"{learned:<26}{judged:<26}{found['borders']:>8,.0f}{found['right']:>7.1%}{found['floor']:>7.1%}"
        f"{found['auc']:>7.3f}{found['predicted']:>8.0%}{found['true']:>6.0%}{found['error']:>7.3f}{found['sure_half']:>10.1%}"
    )


def _judged(pairs: DataFrame, scorer: PairScorer) -> Iterator[tuple[str, dict[str, float]]]:
    rows = labelled(with_margins(pairs, scorer)).select("source", "label", "margin").toPandas()
    for source, part in rows.groupby("source"):
        yield str(source), border_figures(part["label"].to_numpy(), UNIT * part["margin"].to_numpy())


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
        for source, found in _judged(held_out, scorer):
            run.say(figures_line(name, f"{source}, held out", found))
    series = F.substring_index("split_group", "/", 1)
    known = training.unionByName(held_out).where(F.col("source").isin(*KNOWN)).persist()
    names = sorted(row[0] for row in known.select(series).distinct().collect())
    for name in options.held_out or names:
        judged = known.where(series == name)
        learned = [one for one in names if one != name]
        for others in [learned, *([one] for one in learned if len(learned) > 1)] if learned else []:
            _report_training(run, known.where(series.isin(*others)), judged, language, ", ".join(others), name)
        for count in EPISODES if options.held_out else ():
            groups = known.where(series != name).select("split_group").distinct()
            if groups.count() <= count:
                break
            some = groups.orderBy(F.sha2("split_group", 256)).limit(count)
            _report_training(
                run, known.join(F.broadcast(some), "split_group"), judged, language, f"{count} episodes", name
            )


def _report_training(
    run: StageRun, known: DataFrame, judged: DataFrame, language: str, learned: str, name: str
) -> None:
    """Train from no weights, and print the figures on a series that was held out."""
    start = time.monotonic()
    scorer = train_border_segmenter(known, language, no_start(language))
    seconds = time.monotonic() - start
    for source, found in _judged(judged, scorer):
        run.say(figures_line(learned, f"{name}, {source}", found) + f"{seconds:>8.0f} s")
