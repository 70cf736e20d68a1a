"""The training of the turn segmenter on transcripts and on turn marks in subtitles.

The setting ``kind`` chooses a linear model of words, marks and times, a linear SVM as in the paper, an encoder that
reads a window of sentences, or the linear model and the encoder together.
"""

import re
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from itertools import chain
from operator import or_
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from etl.common.splits import content_share
from etl.pipeline.model_loader import ResolvedModel, folder_digest
from etl.pipeline.outcome import Trained
from etl.pipeline.spark_api import arrow_table
from etl.pipeline.stage_run import StageRun
from etl.subtitles.border_segmenter import (
    PAIR_KEY,
    SOURCE_WEIGHTS,
    UNIT,
    BorderSegmenter,
    train_border_segmenter,
)
from etl.subtitles.known_speakers import known_pairs
from etl.subtitles.settings import SegmenterOptions, TurnPairSettings
from etl.subtitles.transcript_files import example_frames, known_episodes
from etl.subtitles.transcripts import transcript_pairs
from etl.subtitles.turn_evaluation import (
    HEADER,
    MAJORITY,
    SEGMENTER,
    accuracy_metrics,
    at_most,
    figures_by_source,
    figures_line,
    rule_accuracies,
    split_held_out,
)
from etl.subtitles.turn_features import FeatureSpace, LemmaTable
from etl.subtitles.turn_pairs import LABELS, MARKS, PAIRS, films_by_hash, marked_pairs, pair_rows, without_leaks
from etl.subtitles.turn_scorers import (
    ENCODER_WEIGHTS,
    EQUAL_WEIGHTS,
    WindowScorer,
    fitted_weights,
    save_windows,
    turn_scorer,
    windows_of,
)
from etl.subtitles.turn_scoring import PairScorer, pairs_of, with_margins
from etl.subtitles.turn_segmenter import train_turn_segmenter
from etl.training.experiment import DESCRIPTION, title
from etl.training.model_card import ABOUT
from etl.training.registration import create_registry_schema, promote, training_context, training_tags
from etl.training.registry import model_store
from etl.training.tracking import Candidate, TrackedRun, tracked_run
from udfs.lemmas import lemma_dictionary

if TYPE_CHECKING:
    from udfs.models.classifiers.turn_window_classifier import Window
    from udfs.models.trainable import TrainingResult

_compute: Any = pc

_NOT_OF_METRICS = re.compile(r"[^\w./ -]")
HELD_OUT_FILMS = 0.2
VALIDATION_GROUPS = 0.1
KNOWN_HELD_OUT = 0.1
"""Share of the episodes with known speakers that is held out."""
ENCODER_SHARES: Mapping[str, float] = {"dailydialog": 0.0}
"""Share of a source's pairs that an encoder learns from, else all: DailyDialog is written, and each line is a turn."""


@dataclass(frozen=True)
class SegmenterKinds:
    """The settings with which the kinds of segmenter are trained.

    Attributes:
        lengths: whether the SVM reads lengths and repeated lemmas.
        pairs: the encoder's options.
        encoder: URI of what the encoder kind starts from.
    """

    lengths: bool
    pairs: TurnPairSettings
    encoder: str


def train_and_register_turn_segmenter(
    files: DataFrame,
    run: StageRun,
    options: SegmenterOptions,
    kinds: SegmenterKinds,
    examples: Sequence[str],
    language: str,
) -> Trained:
    """Train on transcripts and marks, evaluate every rule on each held-out source, log and register (EDOS 3.1).

    The champion's alias moves if the model's mean accuracy over the sources is higher than the champion's. The model of
    a pilot, or one that learned from no film, does not replace that of the whole corpus (``Candidate.films``). Where
    there is too little to learn from, the packaged segmenter is registered (:func:`too_little`).
    """
    training, held_out = pairs_apart(files, widest(options, kinds.pairs), examples, held_out=options.subtitle_pairs)
    training = training.persist()
    held_out = held_out.persist()
    sizes = {row["source"]: row["count"] for row in labelled(training).groupBy("source").count().collect()}
    held = labelled(held_out).count()
    why = too_little(options, sum(sizes.values()), labelled(training).select("label").distinct().count())
    origins = ", ".join(f"{count:,} of {source}" for source, count in sorted(sizes.items()))
    run.say(why or f"learns where the speaker changes from {sum(sizes.values()):,} pairs of lines ({origins})")
    # The whole dictionary, because finding the words of the pairs would cost more.
    table = LemmaTable.of(lemma_dictionary(language))
    folder = Path(run.folder)
    params = {
        **options.model_dump(exclude={"name"}),
        **{f"pairs_{source}": str(count) for source, count in sizes.items()},
    }

    def scorer_of(path: Path) -> PairScorer:
        model = ResolvedModel(path, f"{SEGMENTER}#sha256:{folder_digest(path)}")
        return turn_scorer(path, table, run.compute.batch_size, run.compute.threads, run.worker_path(model))

    def scored(scorer: PairScorer) -> DataFrame:
        return labelled(with_margins(held_out, scorer)).persist()

    folder.mkdir(parents=True, exist_ok=True)
    tags = {**training_tags(run, options.name), "kind": "turn_segmenter", DESCRIPTION: ABOUT["turn_segmenter"]}
    name = title(options.name, "packaged" if why else options.kind, "+".join(sorted(sizes)) or "no pairs")
    # A shared folder, because a cluster's workers load the new model to score the held-out pairs.
    with (
        tempfile.TemporaryDirectory(dir=folder) as scratch,
        tracked_run(model_store(run.tracking), name, params, tags) as tracked,
    ):
        model = Path(scratch) / "model"
        if why:
            BorderSegmenter.packaged().save(model)
        else:
            train_kind(training, table, run, options, kinds, tracked, model, language)
        if options.kind in ("encoder", "both") and not why:
            weigh_windows(training, scorer_of(model), model, run)
        scorer = scorer_of(model)
        judged = scored(scorer)
        figures = judged_parts(judged, scorer, "packaged" if why else options.kind)
        evaluation = rule_accuracies(judged).persist()
        tracked.log_metrics(accuracy_metrics(evaluation))
        if held:
            tracked.log_metrics({"accuracy": mean_accuracy(evaluation)}, "held_out_")
        for part, source, found in figures:
            known = {name: figure for name, figure in found.items() if np.isfinite(figure)}
            tracked.log_metrics(known, _NOT_OF_METRICS.sub("_", f"{part}.{source}."))
        tables = [accuracy_table(evaluation), HEADER, *(figures_line(*row) for row in figures)]
        tracked.client.log_text(tracked.run_id, "\n".join(tables), "accuracy.txt")
        create_registry_schema(run, options.name)
        version = tracked.register(options.name, tracked.log_model(model, "turn_segmenter"))
    if held:
        run.say(right_line(evaluation.select("rule", "pairs", "accuracy").collect()))
    candidate = Candidate(
        options.name,
        version,
        "accuracy",
        mean_accuracy(evaluation),
        _digest(held_out),
        films=0 if why else films_behind(files, sizes),
    )
    champion, promotion = promote(run, candidate, lambda path: mean_accuracy(rule_accuracies(scored(scorer_of(path)))))
    if promotion.champion_before is not None:
        run.say(promotion.in_words)
    rows = sum(sizes.values()) + held
    return Trained(champion.identity, rows, rows, figures={"accuracy": candidate.score, "rows": held} if held else {})


def judged_parts(judged: DataFrame, scorer: PairScorer, name: str) -> list[tuple[str, str, dict[str, float]]]:
    """Return (segmenter, source, figures) of held-out pairs: of the whole model, and of its parts where it is a sum.

    Args:
        judged: held-out pairs with the model's ``margin``.
        scorer: the model.
        name: of the whole model.
    """
    parts = [(name, judged)]
    if isinstance(scorer, WindowScorer) and scorer.linear is not None:
        by_linear, by_encoder, constant = scorer.weights
        both = with_margins(judged.withColumnRenamed("margin", "sum"), scorer.linear)
        odds = (F.col("sum") - constant - by_linear * F.col("margin")) / by_encoder
        parts += [("linear", both), ("encoder", both.withColumn("margin", odds / UNIT))]
    return [(part, source, found) for part, rows in parts for source, found in figures_by_source(rows)]


def too_little(options: SegmenterOptions, pairs: int, answers: int) -> str:
    """Return why the packaged segmenter is registered and none is trained, or "".

    Args:
        options: ``min_pairs`` among them.
        pairs: how many pairs there are to learn from.
        answers: how many of the two answers occur among them.
    """
    if pairs >= options.min_pairs and answers == 2:
        return ""
    found = f"fewer than training.turn_segmenter.min_pairs={options.min_pairs:,}"
    if pairs >= options.min_pairs:
        found = "all with the same answer"
    return (
        f"{pairs:,} pairs of lines to learn from, {found}: the packaged segmenter decides where no mark does "
        "(subtitles.turn_examples names more to learn from)"
    )


def right_line(accuracies: Iterable[tuple[str, int, float | None]]) -> str:
    """Return in one line how often the segmenter is right about held-out borders, beside constant answers.

    Args:
        accuracies: rule, number of pairs and accuracy, of each source; of `rule_accuracies`.
    """
    known = [(rule, pairs, right) for rule, pairs, right in accuracies if right is not None]
    borders = sum(pairs for rule, pairs, _ in known if rule == SEGMENTER)
    right, constant = (
        sum(pairs * share for rule, pairs, share in known if rule == name) / max(borders, 1)
        for name in (SEGMENTER, MAJORITY)
    )
    return (
        f"right at {right:.0%} of {borders:,} borders that it did not learn from, without their marks; the commoner "
        f"answer alone: {constant:.0%} (more in MLflow: accuracy.txt of its run)"
    )


def pairs_apart(
    files: DataFrame,
    options: SegmenterOptions,
    examples: Sequence[str],
    share: float = HELD_OUT_FILMS,
    fold: int = 0,
    *,
    held_out: int | None = None,
) -> tuple[DataFrame, DataFrame]:
    """Return training and held-out pairs: transcripts are split by scene, marked subtitles by film.

    Of subtitles with known speakers one episode in ten is held out, or the series that the options name.

    Args:
        files: ``subtitles.files``.
        options: how many pairs and films.
        examples: folders of transcripts.
        share, fold: choice of the held-out films, see ``turn_evaluation.split_held_out``.
        held_out: pairs of each kind of mark, at most; None: as many as are learned from.
    """
    training_pairs, held_out_pairs = transcript_pairs(*example_frames(examples))
    marked = marked_pairs(films_by_hash(files, options.films))
    marked_training, marked_held_out = split_held_out(marked, share, fold)
    transcripts = pair_rows(held_out_pairs, files.sparkSession)
    known = pair_rows(known_pairs(known_episodes(examples)), files.sparkSession)
    whole = of_series(options.held_out)
    known, known_held_out = (
        (known.where(~whole), known.where(whole)) if options.held_out else split_held_out(known, KNOWN_HELD_OUT, fold)
    )
    # The subtitles may include the episodes of the transcripts' held-out scenes.
    marked_training = at_most(without_leaks(marked_training, transcripts), options.subtitle_pairs)
    most = options.subtitle_pairs if held_out is None else held_out
    judged = transcripts.unionByName(known_held_out).unionByName(at_most(marked_held_out, most))
    known = without_leaks(known, transcripts)
    return pair_rows(training_pairs, files.sparkSession).unionByName(known).unionByName(marked_training), judged


def of_series(names: Sequence[str]) -> Column:
    """Return whether a pair is of one of these series, or of episodes that begin as a name with a slash does."""
    beginnings = [name if "/" in name else f"{name}/" for name in names]
    return reduce(or_, (F.col("split_group").startswith(beginning) for beginning in beginnings), F.lit(False))


def linear_training(pairs: DataFrame) -> DataFrame:
    """Return the pairs that the linear segmenter learns from.

    Between the cues of a film with labels only changes are known, and would be the only answer.
    """
    one_answer = (F.col("source") == LABELS) & ~F.coalesce(F.col("same_block"), F.lit(False))
    return pairs.where(~one_answer)


def labelled(pairs: DataFrame) -> DataFrame:
    """Return the pairs with a known truth."""
    return pairs.where(F.col("label").isNotNull())


def widest(options: SegmenterOptions, pairs: TurnPairSettings) -> SegmenterOptions:
    """Return the options with as many pairs and films as any part of the kind learns from."""
    if options.kind in ("linear", "svm"):
        return options
    most = max(options.subtitle_pairs, pairs.subtitle_pairs)
    return options.model_copy(update={"subtitle_pairs": most, "films": max(options.films, pairs.films)})


def train_kind(
    training: DataFrame,
    table: LemmaTable,
    run: StageRun,
    options: SegmenterOptions,
    kinds: SegmenterKinds,
    tracked: TrackedRun,
    model: Path,
    language: str,
) -> None:
    """Train what the kind consists of, and write it to the folder ``model``.

    With an encoder a tenth of the scenes and films is kept apart from the linear model, too: on it the two are weighed.
    """
    space = FeatureSpace(lengths=kinds.lengths)
    if options.kind == "linear":
        train_border_segmenter(linear_training(training), language, BorderSegmenter.packaged()).save(model)
        return
    if options.kind == "svm":
        train_turn_segmenter(labelled(training), table, space=space).save(model)
        return
    learned, _ = validation_apart(training)
    bounded = at_most(learned, options.subtitle_pairs, only=MARKS)
    linear = None
    weights = ENCODER_WEIGHTS
    if options.kind == "both":
        linear = train_border_segmenter(linear_training(bounded), language, BorderSegmenter.packaged())
        weights = EQUAL_WEIGHTS
    tracked.log_history(train_encoder(training, run, kinds, tracked, save_windows(model, linear, weights)))


def weigh_windows(training: DataFrame, scorer: PairScorer, model: Path, run: StageRun) -> None:
    """Fit the weights of an encoder, and of a linear model beside it, on pairs that neither learned from."""
    if not isinstance(scorer, WindowScorer):
        raise TypeError("only the kinds encoder and both have weights")
    apart = linear_training(validation_apart(training)[1])
    scored = with_margins(apart, scorer.log_odds).withColumnRenamed("margin", "odds")
    columns = ["source", "label", "odds"]
    if scorer.linear is not None:
        scored = with_margins(scored, scorer.linear)
        columns.append("margin")
    rows = labelled(scored).select(*columns).orderBy(*columns).toPandas()
    weight = rows["source"].map(SOURCE_WEIGHTS).fillna(1.0).to_numpy(dtype=float)
    margins = None if scorer.linear is None else rows["margin"].to_numpy()
    weights = fitted_weights(margins, rows["odds"].to_numpy(), rows["label"].to_numpy() == 1, weight)
    save_windows(model, scorer.linear, weights)
    run.say("weights: linear {:.2f}, encoder {:.2f}, constant {:.2f}".format(*weights))


def validation_apart(training: DataFrame) -> tuple[DataFrame, DataFrame]:
    """Return the pairs that both kinds learn from, and those of a tenth of the scenes and films, by hash."""
    held = content_share(F.col("split_group"), salt="turn pairs") < VALIDATION_GROUPS
    return training.where(~held), training.where(held)


def films_behind(files: DataFrame, sizes: Mapping[str, int]) -> int:
    """Return the number of films of the corpus, or 0 if the model learned from none of them."""
    return files.select("movie_id").distinct().count() if any(sizes.get(source) for source in MARKS) else 0


def train_encoder(
    training: DataFrame, run: StageRun, kinds: SegmenterKinds, tracked: TrackedRun, out: Path
) -> "TrainingResult":
    """Train the encoder on windows of these pairs, and write it to ``out``.

    It learns from all pairs, apart from ``ENCODER_SHARES``. A tenth of the scenes and films is for validation.
    """
    from etl.training.loop.train import train_model
    from udfs.models.classifiers.turn_window_classifier import LABELS, TurnWindowClassifier
    from udfs.models.trainable import TrainingRows

    shares = F.create_map(*chain.from_iterable((F.lit(k), F.lit(v)) for k, v in sorted(ENCODER_SHARES.items())))
    content = content_share(F.col("source"), F.col("left_text"), F.col("right_text"), salt="turn pairs")
    marked = at_most(training, kinds.pairs.subtitle_pairs, only=MARKS)
    rows = linear_training(marked).where(content < F.coalesce(shares[F.col("source")], F.lit(1.0)))
    parts = [labelled_windows(part) for part in validation_apart(rows)]
    encoder = run.model(kinds.encoder)
    options = kinds.pairs
    start = partial(TurnWindowClassifier.new, encoder.path, LABELS, options)
    return train_model(
        start, TrainingRows(parts[0], parts[1]), options, out, training_context(run, tracked, "turn_pairs")
    )


def labelled_windows(pairs: DataFrame) -> list[tuple["Window", tuple[int, ...]]]:
    """Return the windows over pairs that have a known truth somewhere, with the truth at each border."""
    from udfs.models.classifiers.turn_window_classifier import UNKNOWN

    rows = pairs.select(*PAIRS.names).orderBy("split_group", "place", *PAIR_KEY)
    found = []
    for batch in arrow_table(rows, PAIRS).combine_chunks().to_batches():
        label = np.asarray(_compute.fill_null(batch.column("label"), UNKNOWN))
        for at, window in zip(*windows_of(*pairs_of(batch), shared=0), strict=True):
            if (label[at] != UNKNOWN).any():
                found.append((window, tuple(label[at].tolist())))
    return found


def mean_accuracy(evaluation: DataFrame) -> float:
    """Return the model's mean accuracy over the sources, on pairs without marks."""
    row = evaluation.where(F.col("rule") == SEGMENTER).agg(F.avg("accuracy")).first()
    return float(row[0]) if row is not None and row[0] is not None else 0.0


def _digest(held_out: DataFrame) -> str:
    """Return a digest of the held-out pairs, independent of their order."""
    row = held_out.agg(F.count("*"), F.bit_xor(F.xxhash64("source", "left_text", "right_text", "label"))).first()
    return f"{row[0]}:{row[1]}" if row is not None else "0"


def accuracy_table(evaluation: DataFrame) -> str:
    """Return a text table of accuracies by source (rows) and rule (columns)."""
    rows = evaluation.orderBy("source", "rule").collect()
    cells = {(row["source"], row["rule"]): row["accuracy"] for row in rows}
    rules = sorted({row["rule"] for row in rows})
    lines = [f"{'source':10s} {'pairs':>7s}  " + "  ".join(f"{rule:>15s}" for rule in rules)]
    for source, pairs in {row["source"]: row["pairs"] for row in rows}.items():
        found = [cells.get((source, rule)) for rule in rules]
        shown = [" " * 15 if accuracy is None else f"{accuracy:15.4f}" for accuracy in found]
        lines.append(f"{source:10s} {pairs:7,d}  " + "  ".join(shown))
    return "\n".join(lines)
