"""The trainings of EDOS's classifiers: the weak labeler, the dialogue classifier and the self-labeler."""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from conf.errors import InputError
from conf.taxonomy import Taxonomy
from conf.training_settings import EmotionClassifierSettings, WeakLabelerSettings
from etl.edos.weak_examples import WeakExamples, read_weak_examples
from etl.pipeline.outcome import DroppedRow, Trained
from etl.pipeline.stage_run import StageRun
from etl.training.held_out_classifiers import ClassifierTest, answers_to
from etl.training.registration import Recipe, train_and_register
from udfs.models.classifiers.calibration import calibration, set_temperature
from udfs.models.classifiers.classifier import ENCODER, SequenceClassifier
from udfs.models.classifiers.dialogue_classifier import DialogueClassifier
from udfs.models.classifiers.weak_labeler import WeakLabeler
from udfs.models.loader import ResolvedModel
from udfs.models.trainable import TrainingResult, TrainingRows

VALIDATION_SHARE = 0.1
SPLITS = ("train", "validation", "test")
CROWD = "crowd"
PARTS = ("classifier_train", "classifier_valid", "classifier_test")
Rows = list[tuple[tuple[str, ...], int]]


def train_and_register_weak_labeler(
    run: StageRun, options: WeakLabelerSettings, taxonomy: Taxonomy, encoder_uri: str, folder: str | None
) -> Trained:
    """Train the weak labeler on ``classifier_train``, choose the epoch on ``classifier_valid`` (EDOS 3.1).

    It is evaluated on ``classifier_test``. The paper's 25 K situations and 7 K utterances are the three files together.
    Without that file it is evaluated on ``classifier_valid``, and the epoch is chosen on a tenth of the training
    sentences, selected by content. The tag ``held_out`` of the MLflow run names the file. A
    temperature is fitted on the sentences that choose the epoch; ``held_out_...`` metrics are after scaling.

    Raises:
        InputError: ``edos.weak_label_examples`` is not a folder with the first two files.
    """
    if folder is None:
        raise InputError("edos.weak_label_examples is not set: name a folder with classifier_train.txt[.gz]")
    labels = taxonomy.names
    given = {part: _examples(folder, part, labels) for part in ("train", "valid")}
    has_test = any(_file(folder, "test"))
    if has_test:
        given["test"] = _examples(folder, "test", labels)
    others = sorted(one.name for one in Path(folder).iterdir() if one.name.partition(".")[0] not in PARTS)
    held_out_file = "test" if has_test else "valid"
    held_out = list(given[held_out_file].rows)
    # A sentence of a later file must not be in an earlier one.
    in_test = {text for text, _ in held_out}
    chosen_on = [row for row in given["valid"].rows if row[0] not in in_test] if has_test else []
    known = in_test | {text for text, _ in chosen_on}
    usable = [row for row in given["train"].rows if row[0] not in known]
    validation = chosen_on or [row for row in usable if _share(row[0]) < VALIDATION_SHARE]
    train = usable if chosen_on else [row for row in usable if _share(row[0]) >= VALIDATION_SHARE]
    encoder = run.model(encoder_uri)
    sizes = f"{len(train):,} sentences to train on, {len(validation):,} for validation, {len(held_out):,}"
    run.say(f"{sizes} of classifier_{held_out_file} held out")
    dropped = [row for examples in given.values() for row in examples.dropped]
    dropped += [DroppedRow("file", name, "unknown_file", f"read are {', '.join(PARTS)}", 0) for name in others]
    seen = len(given["train"].rows) - len(usable)
    if seen:
        dropped.append(DroppedRow("sentence", "classifier_train", "in_validation_file", f"{seen} sentences", seen))
    seen = len(given["valid"].rows) - len(chosen_on) if has_test else 0
    if seen:
        dropped.append(DroppedRow("sentence", "classifier_valid", "in_test_file", f"{seen} sentences", seen))
    recipe = Recipe(
        name=options.name,
        model=WeakLabeler,
        options=options,
        start=partial(WeakLabeler.new, encoder.path, labels, options),
        starts_from=encoder.identity,
        rows=TrainingRows(train, validation),
        test=ClassifierTest(WeakLabeler, held_out, "accuracy", labels, options.device),
        choice=ClassifierTest(WeakLabeler, validation, "accuracy", labels, options.device),
        rows_out=len(usable) + len(chosen_on) + len(held_out),
        dropped=dropped,
        tags={"examples": folder, "held_out": f"classifier_{held_out_file}"},
    )
    if options.calibrated:
        recipe = replace(recipe, finish=lambda result: _calibrated(result, WeakLabeler, validation, run))
    return train_and_register(recipe, run)


def train_and_register_emotion_classifier(
    training_dialogues: DataFrame, run: StageRun, options: EmotionClassifierSettings, labels: Taxonomy, encoder: str
) -> Trained:
    """Train the dialogue classifier (EDOS 3.3.1) on ``edos.training_dialogues`` and evaluate it on its test split.

    The epoch is chosen by validation cross-entropy (EDOS C).

    Raises:
        InputError: a split has no rows.
    """
    rows, dropped = rows_by_split(training_dialogues, labels.names)
    start = starting_encoder(run, options, encoder)
    recipe = dialogue_recipe(run, options, labels, start, (rows, dropped), origins_of(training_dialogues))
    return train_and_register(recipe, run)


def train_and_register_self_labeler(
    seeds: DataFrame,
    similar: DataFrame,
    run: StageRun,
    options: EmotionClassifierSettings,
    labels: Taxonomy,
    encoder: str,
    calibrated: bool,
) -> Trained:
    """Train the self-labeler on the crowd's training rows and similar dialogues (EDOS 3.3).

    The epoch is chosen on the validation split. With ``calibrated`` so is a temperature: the MLflow run has it, and the
    expected calibration error on validation rows before and after scaling. ``held_out_...`` metrics are after scaling.

    Raises:
        InputError: a split has no rows.
    """
    columns = ("dialogue_id", "turn", "turns", "label")
    given = seeds.select(*columns, "split", F.lit(CROWD).alias("origin")).unionByName(
        similar.select(*columns, F.lit("train").alias("split"), "origin")
    )
    rows, dropped = rows_by_split(given, labels.names, "edos.seeds")
    start = starting_encoder(run, options, encoder)
    recipe = dialogue_recipe(run, options, labels, start, (rows, dropped), origins_of(given))
    if calibrated:
        recipe = replace(recipe, finish=lambda result: _calibrated(result, DialogueClassifier, rows["validation"], run))
    return train_and_register(recipe, run)


def _calibrated(
    result: TrainingResult, kind: type[SequenceClassifier[Any]], validation: Sequence[Any], run: StageRun
) -> TrainingResult:
    """Set the temperature of a trained model on validation rows, and add it to the result's metrics."""
    probabilities = answers_to(kind.load(result.path), validation)
    figures = calibration(probabilities, [label for _, label in validation])
    set_temperature(result.path, figures["temperature"])
    run.say(
        f"temperature {figures['temperature']:.3f}: expected calibration error on validation "
        f"{figures['calibration_error_before']:.4f} before, {figures['calibration_error_after']:.4f} after"
    )
    return replace(result, metrics={**result.metrics, **figures})


def dialogue_recipe(
    run: StageRun,
    options: EmotionClassifierSettings,
    taxonomy: Taxonomy,
    start: ResolvedModel,
    given: tuple[Mapping[str, Rows], Sequence[DroppedRow]],
    origins: str = CROWD,
) -> Recipe:
    """Return the recipe of a dialogue classifier.

    Args:
        options: of its training.
        taxonomy: its labels.
        start: the encoder that it starts from.
        given: results of `rows_by_split`.
        origins: of the training rows, as ``crowd+similar``.
    """
    rows, dropped = given
    labels = taxonomy.names
    run.say(", ".join(f"{len(rows[split]):,} {split} rows" for split in SPLITS))
    return Recipe(
        name=options.name,
        model=DialogueClassifier,
        options=options,
        start=new_dialogue_classifier(start, options, taxonomy),
        starts_from=start.identity,
        rows=training_rows(rows),
        test=ClassifierTest(DialogueClassifier, rows["test"], "macro_f1", labels, options.device),
        choice=ClassifierTest(DialogueClassifier, rows["validation"], "macro_f1", labels, options.device),
        rows_out=sum(len(rows[split]) for split in SPLITS),
        dropped=dropped,
        params={"origins": origins},
        differs=(origins, "weighted" if options.weighted else "unweighted"),
    )


def origins_of(dialogues: DataFrame) -> str:
    """Return the origins of training rows, the crowd first and others by name: ``crowd+similar``."""
    found = [row.origin for row in dialogues.where("split = 'train'").select("origin").distinct().collect()]
    return "+".join(sorted(found, key=lambda origin: (origin != CROWD, str(origin))))


def new_dialogue_classifier(
    start: ResolvedModel, options: EmotionClassifierSettings, taxonomy: Taxonomy
) -> Callable[[], DialogueClassifier]:
    """Return a function that creates the untrained classifier; without ``weighted`` it is the paper's ablation."""
    return partial(DialogueClassifier.new, start.path, taxonomy.names, options, weighted=options.weighted)


def training_rows(rows: Mapping[str, Rows]) -> TrainingRows:
    """Return a dialogue classifier's training rows; the last epochs use the rows that people labelled."""
    return TrainingRows(rows["train"], rows["validation"], rows[CROWD])


def rows_by_split(
    training_dialogues: DataFrame, labels: Sequence[str], table: str = "edos.training_dialogues"
) -> tuple[dict[str, Rows], list[DroppedRow]]:
    """Return (turns, label id) rows of each split, ordered by a hash.

    A history that is also in the test split is removed from the other splits.

    Args:
        training_dialogues: dialogue_id, turn, turns, label, split, origin.
        labels: the taxonomy in id order.
        table: name of the rows' table, for messages.

    Returns:
        The rows by split, with the training rows that people labelled also under ``crowd``; removed rows for the
        ledger.

    Raises:
        InputError: a split has no rows.
    """
    ids = {label: number for number, label in enumerate(labels)}
    ordered = training_dialogues.orderBy(F.xxhash64("dialogue_id", "turn"), "dialogue_id", "turn")
    read = list(ordered.select("dialogue_id", "turn", "turns", "label", "split", "origin").toLocalIterator())
    held_out = {tuple(row.turns) for row in read if row.split == "test"}
    rows: dict[str, Rows] = {split: [] for split in (*SPLITS, CROWD)}
    dropped: list[DroppedRow] = []
    for row in read:
        turns = tuple(row.turns)
        if row.split != "test" and turns in held_out:
            dropped.append(
                DroppedRow("turn", f"{row.dialogue_id}/{row.turn}", "history_is_held_out", " / ".join(turns), 1)
            )
        else:
            rows[row.split].append((turns, ids[row.label]))
            if (row.split, row.origin) == ("train", CROWD):
                rows[CROWD].append(rows["train"][-1])
    for split in SPLITS:
        if not rows[split]:
            raise InputError(f"{table} has no {split} rows: more crowd votes are needed")
    return rows, dropped


def starting_encoder(run: StageRun, options: EmotionClassifierSettings, plain: str) -> ResolvedModel:
    """Return the initial encoder: the plain one at this URI, or the weak labeler's encoder."""
    if not options.start_from_weak_labeler:
        return run.model(plain)
    labeler = run.model("weak_labeler")
    return ResolvedModel(labeler.path / ENCODER, labeler.identity)


def _examples(folder: str, part: str, labels: Sequence[str]) -> WeakExamples:
    for path in _file(folder, part):
        return read_weak_examples(path, labels)
    raise InputError(f"edos.weak_label_examples: {folder} has no classifier_{part}.txt or .txt.gz")


def _file(folder: str, part: str) -> Iterator[Path]:
    """Yield the file of a part, if it is there."""
    paths = [Path(folder, f"classifier_{part}{ending}") for ending in (".txt", ".txt.gz")]
    yield from [path for path in paths if path.is_file()][:1]


def _share(text: str) -> float:
    """Return a number in 0..1 from a hash of the text."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") / 2**64
