"""The training of the turn segmenter on transcripts and on turn marks in subtitles.

The setting ``kind`` chooses the paper's linear SVM, an encoder that reads both sentences, or a cascade of the two.
"""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from conf.errors import InputError
from conf.training_settings import SegmenterOptions, SvmOptions, TurnPairSettings
from etl.common.splits import content_share
from etl.pipeline.outcome import Trained
from etl.pipeline.stage_run import StageRun
from etl.subtitles.transcript_files import example_frames
from etl.subtitles.transcripts import transcript_pairs
from etl.subtitles.turn_evaluation import (
    SEGMENTER,
    accuracy_metrics,
    at_most,
    rule_accuracies,
    split_held_out,
)
from etl.subtitles.turn_features import FeatureSpace, LemmaTable
from etl.subtitles.turn_pairs import films_by_hash, marked_pairs, transcript_rows, without_leaks
from etl.subtitles.turn_scorers import save_cascade, turn_scorer
from etl.subtitles.turn_scoring import with_margins
from etl.subtitles.turn_segmenter import (
    SOURCE_WEIGHTS,
    TurnSegmenter,
    mask_label_leakage,
    train_turn_segmenter,
)
from etl.training.experiment import title
from etl.training.registration import create_registry_schema, promote, training_context, training_tags
from etl.training.registry import model_store
from etl.training.tracking import Candidate, TrackedRun, tracked_run
from udfs.lemmas import lemma_dictionary
from udfs.models.loader import ResolvedModel, folder_digest

if TYPE_CHECKING:
    from udfs.models.trainable import TrainingResult

HELD_OUT_FILMS = 0.2
VALIDATION_GROUPS = 0.1


@dataclass(frozen=True)
class SegmenterKinds:
    """What the kinds of segmenter are trained with.

    Attributes:
        svm: the SVM's options.
        sure_margin: from which on a cascade's SVM decides alone.
        pairs: the encoder's options.
        encoder: URI of what the encoder kind starts from.
    """

    svm: SvmOptions
    sure_margin: float
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

    The champion's alias moves if the model's mean accuracy over the sources is higher than the champion's.

    Raises:
        InputError: ``subtitles.turn_examples`` has no known transcripts and the files have no marks.
    """
    training, held_out = pairs_apart(files, options, examples)
    training = training.persist()
    held_out = held_out.persist()
    sizes = {row["source"]: row["count"] for row in training.groupBy("source").count().collect()}
    if not sizes:
        raise InputError("no pairs to train the turn segmenter on: set subtitles.turn_examples to transcripts")
    held = held_out.count()
    run.say(", ".join(f"{count:,} pairs from {source}" for source, count in sorted(sizes.items())))
    # The whole dictionary, because finding the words of the pairs would cost more.
    table = LemmaTable.of(lemma_dictionary(language))
    folder = Path(run.folder)
    pairs = {f"pairs_{source}": str(count) for source, count in sizes.items()}
    params = {
        **options.model_dump(exclude={"name"}),
        **kinds.svm.model_dump(),
        "sure_margin": kinds.sure_margin,
        **pairs,
    }

    def evaluated(path: Path) -> DataFrame:
        model = ResolvedModel(path, f"{SEGMENTER}#sha256:{folder_digest(path)}")
        scorer = turn_scorer(path, table, run.compute.batch_size, run.compute.threads, run.worker_path(model))
        return rule_accuracies(with_margins(held_out, scorer))

    folder.mkdir(parents=True, exist_ok=True)
    tags = {**training_tags(run, options.name), "kind": "turn_segmenter"}
    name = title(options.kind, "+".join(sorted(sizes)), options.name)
    # A shared folder, because a cluster's workers load the new model to score the held-out pairs.
    with (
        tempfile.TemporaryDirectory(dir=folder) as scratch,
        tracked_run(model_store(run.tracking), name, params, tags) as tracked,
    ):
        model = Path(scratch) / "model"
        if options.kind == "svm":
            train_svm(training, table, kinds.svm).save(model)
        else:
            both = options.kind == "cascade"
            out = save_cascade(model, train_svm(training, table, kinds.svm), kinds.sure_margin) if both else model
            tracked.log_history(train_encoder(training, run, kinds, tracked, out))
        evaluation = evaluated(model).persist()
        tracked.log_metrics(accuracy_metrics(evaluation))
        tracked.client.log_text(tracked.run_id, accuracy_table(evaluation), "accuracy.txt")
        create_registry_schema(run, options.name)
        version = tracked.register(options.name, tracked.log_model(model, "turn_segmenter"))
    for line in accuracy_table(evaluation).splitlines():
        run.say(line)
    candidate = Candidate(options.name, version, "accuracy", mean_accuracy(evaluation), _digest(held_out))
    champion, promotion = promote(run, candidate, lambda path: mean_accuracy(evaluated(path)))
    run.say(f"champion: {promotion.reason}")
    rows = sum(sizes.values()) + held
    return Trained(champion.identity, rows, rows, figures={"accuracy": promotion.score})


def pairs_apart(
    files: DataFrame, options: SegmenterOptions, examples: Sequence[str], share: float = HELD_OUT_FILMS, fold: int = 0
) -> tuple[DataFrame, DataFrame]:
    """Return training and held-out pairs: transcripts are split by scene, marked subtitles by film.

    Args:
        files: ``subtitles.files``.
        options: how many pairs and films.
        examples: folders of transcripts.
        share, fold: choice of the held-out films, see ``turn_evaluation.split_held_out``.
    """
    training_pairs, held_out_pairs = transcript_pairs(*example_frames(examples))
    marked = marked_pairs(films_by_hash(files, options.films))
    marked_training, marked_held_out = split_held_out(marked, share, fold)
    transcripts = transcript_rows(held_out_pairs, files.sparkSession)
    # The subtitles may include the episodes of the transcripts' held-out scenes.
    marked_training = at_most(without_leaks(marked_training, transcripts), options.subtitle_pairs)
    held_out = transcripts.unionByName(at_most(marked_held_out, options.subtitle_pairs))
    return transcript_rows(training_pairs, files.sparkSession).unionByName(marked_training), held_out


def train_svm(training: DataFrame, table: LemmaTable, settings: SvmOptions) -> TurnSegmenter:
    """Return an SVM trained on these pairs, with the settings' features and regularization."""
    return train_turn_segmenter(
        training,
        table,
        space=FeatureSpace(settings.features, settings.lengths),
        regularization=settings.regularization,
        max_iterations=settings.max_iterations,
    )


def train_encoder(
    training: DataFrame, run: StageRun, kinds: SegmenterKinds, tracked: TrackedRun, out: Path
) -> "TrainingResult":
    """Train the pair classifier on these pairs, and write it to ``out``.

    A source with weight 0.4 in the SVM contributes 40 percent of its pairs, chosen by a hash. A tenth of the scenes
    and films is for validation.
    """
    from etl.training.loop.train import train_model
    from udfs.models.classifiers.turn_pair_classifier import LABELS, SentencePair, TurnPairClassifier
    from udfs.models.trainable import TrainingRows

    weights = F.create_map(*chain.from_iterable((F.lit(k), F.lit(v)) for k, v in sorted(SOURCE_WEIGHTS.items())))
    share = content_share(F.col("source"), F.col("left_text"), F.col("right_text"), salt="turn pairs")
    rows = mask_label_leakage(training).where(share < F.coalesce(weights[F.col("source")], F.lit(1.0)))
    ordered = rows.withColumn(
        "validation", content_share(F.col("split_group"), salt="turn pairs") < VALIDATION_GROUPS
    ).orderBy(F.xxhash64("left_text", "right_text"), "source", "split_group", "left_text", "right_text")
    parts: dict[bool, list[tuple[SentencePair, int]]] = {False: [], True: []}
    for row in ordered.toLocalIterator():
        pair = SentencePair(row["left_text"], row["right_text"], row["same_block"])
        parts[row["validation"]].append((pair, row["label"]))
    encoder = run.model(kinds.encoder)
    options = kinds.pairs
    start = partial(TurnPairClassifier.new, encoder.path, LABELS, options)
    return train_model(
        start, TrainingRows(parts[False], parts[True]), options, out, training_context(run, tracked, "turn_pairs")
    )


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
