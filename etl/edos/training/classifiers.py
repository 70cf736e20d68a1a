"""The trainings of EDOS's classifiers: the weak labeler, the dialogue classifier and the self-labeler."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from conf.errors import InputError
from conf.taxonomy import Taxonomy
from etl.common.hashes import text_share
from etl.common.splits import SPLITS
from etl.edos.settings import DialogueClassifierSettings, EmotionClassifierSettings, WeakLabelerSettings
from etl.edos.training.coarse_labels import TranscriptChoice, coarse_figures, coarse_rows, within_groups
from etl.edos.training.soft_rows import one_hot, soft_rows, teacher_answers
from etl.edos.weak_examples import WeakExamples, read_weak_examples
from etl.pipeline.model_loader import ResolvedModel
from etl.pipeline.outcome import DroppedRow, Trained
from etl.pipeline.stage_run import StageRun
from etl.training.calibration import calibration, set_calibration
from etl.training.held_out_classifiers import ClassifierTest, answers_to
from etl.training.loop.further import FurtherTraining
from etl.training.registration import Recipe, train_and_register
from udfs.models.classifiers.classifier import ENCODER, MEMBERS, SequenceClassifier
from udfs.models.classifiers.dialogue_classifier import DialogueClassifier
from udfs.models.classifiers.distilled import DistilledClassifier, DistilledLabeler, LearnsFromProbabilities
from udfs.models.classifiers.weak_labeler import WeakLabeler
from udfs.models.trainable import TrainingResult, TrainingRows

VALIDATION_SHARE = 0.1
CROWD = "crowd"
PARTS = ("classifier_train", "classifier_valid", "classifier_test")
Rows = list[tuple[tuple[str, ...], int]]


@dataclass(frozen=True)
class WeakRows:
    """The labelled sentences of the weak labeler, each as (text, label id).

    Attributes:
        validation: by which the epoch is chosen and the temperature fitted.
        held_out_file: the name of the file that they are of.
    """

    train: list[tuple[str, int]]
    validation: list[tuple[str, int]]
    held_out: list[tuple[str, int]]
    held_out_file: str
    folder: str
    dropped: list[DroppedRow]

    @property
    def used(self) -> int:
        """The number of sentences of the files that are used."""
        return len(self.train) + len(self.validation) + len(self.held_out)


def weak_rows(folder: str | None, labels: Sequence[str]) -> WeakRows:
    """Return the sentences of ``classifier_train``, ``classifier_valid`` and ``classifier_test`` (EDOS 3.1).

    The paper's 25 K situations and 7 K utterances are the three files together. Without the third, the second is held
    out, and the epoch is chosen on a tenth of the training sentences, selected by content.

    Raises:
        InputError: ``edos.weak_label_examples`` is not a folder with the first two files.
    """
    if folder is None:
        raise InputError("edos.weak_label_examples is not set: name a folder with classifier_train.txt[.gz]")
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
    validation = chosen_on or [row for row in usable if text_share(row[0]) < VALIDATION_SHARE]
    train = usable if chosen_on else [row for row in usable if text_share(row[0]) >= VALIDATION_SHARE]
    dropped = [row for examples in given.values() for row in examples.dropped]
    dropped += [DroppedRow("file", name, "unknown_file", f"read are {', '.join(PARTS)}", 0) for name in others]
    seen = len(given["train"].rows) - len(usable)
    if seen:
        dropped.append(DroppedRow("sentence", "classifier_train", "in_validation_file", f"{seen} sentences", seen))
    seen = len(given["valid"].rows) - len(chosen_on) if has_test else 0
    if seen:
        dropped.append(DroppedRow("sentence", "classifier_valid", "in_test_file", f"{seen} sentences", seen))
    return WeakRows(train, validation, held_out, f"classifier_{held_out_file}", folder, dropped)


def train_and_register_weak_labeler(
    run: StageRun,
    options: WeakLabelerSettings,
    taxonomy: Taxonomy,
    encoder_uri: str,
    folder: str | None,
    transcripts: Sequence[str] = (),
) -> Trained:
    """Train the weak labeler on labelled sentences (EDOS 3.1), and on transcripts where any are given (ours).

    The tag ``held_out`` of the MLflow run names the file of its figures. A temperature is fitted on the sentences that
    choose the epoch; ``held_out_...`` metrics are after scaling.

    Raises:
        InputError: ``edos.weak_label_examples`` is not a folder with the first two files, or see `emotion_utterances`.
    """
    start = run.model(encoder_uri)
    rows = weak_rows(folder, taxonomy.names)
    recipe = weak_recipe(run, options, taxonomy, start, rows)
    recipe = with_transcripts(recipe, run, taxonomy, transcripts, DistilledLabeler, itemgetter(-1))
    return train_and_register(mean_instead(recipe, run, options.mean_of), run)


def weak_recipe(
    run: StageRun, options: WeakLabelerSettings, taxonomy: Taxonomy, start: ResolvedModel, rows: WeakRows
) -> Recipe:
    """Return the recipe of a weak labeler."""
    labels = taxonomy.names
    sizes = f"{len(rows.train):,} sentences to train on, {len(rows.validation):,} for validation"
    run.say(f"{sizes}, {len(rows.held_out):,} of {rows.held_out_file} held out")
    recipe = Recipe(
        name=options.name,
        model=WeakLabeler,
        options=options,
        start=partial(WeakLabeler.new, start.path, labels),
        starts_from=start.identity,
        rows=TrainingRows(rows.train, rows.validation),
        test=ClassifierTest(WeakLabeler, rows.held_out, "accuracy", labels, options.device),
        choice=ClassifierTest(WeakLabeler, rows.validation, "accuracy", labels, options.device),
        rows_out=rows.used,
        dropped=rows.dropped,
        tags={"examples": rows.folder, "held_out": rows.held_out_file},
    )
    return calibrated(recipe, run) if options.calibrated else recipe


def train_and_register_emotion_classifier(
    training_dialogues: DataFrame,
    run: StageRun,
    options: EmotionClassifierSettings,
    labels: Taxonomy,
    encoder: str,
    transcripts: Sequence[str] = (),
) -> Trained:
    """Train the dialogue classifier (EDOS 3.3.1) on ``edos.training_dialogues`` and evaluate it on its test split.

    The epoch is chosen by validation cross-entropy (EDOS C). ``options.calibrated`` is as in
    `train_and_register_self_labeler`. It learns from transcripts, too, where any are given (ours).

    Raises:
        InputError: a split has no rows, or see `emotion_utterances`.
    """
    rows, dropped = rows_by_split(training_dialogues, labels.names)
    start = starting_encoder(run, options, encoder)
    recipe = dialogue_recipe(run, options, labels, start, (rows, dropped), origins_of(training_dialogues))
    recipe = calibrated(recipe, run, confidence=True) if options.calibrated else recipe
    recipe = with_transcripts(recipe, run, labels, transcripts, DistilledClassifier)
    return train_and_register(mean_instead(recipe, run, options.mean_of), run)


def mean_instead(recipe: Recipe, run: StageRun, uris: Sequence[str]) -> Recipe:
    """Return a recipe whose model is the mean of trained ones (ours); without any it is unchanged.

    It is calibrated, measured and compared with the champion on the same rows as a trained one.

    Raises:
        InputError: there is no model at a URI.
    """
    if not uris:
        return recipe
    members = [run.model(uri) for uri in uris]
    return replace(recipe, members=members, further=None, differs=(f"mean of {len(members)}",))


def with_transcripts(
    recipe: Recipe,
    run: StageRun,
    taxonomy: Taxonomy,
    transcripts: Sequence[str],
    kind: type[LearnsFromProbabilities],
    item: Callable[[tuple[str, ...]], Any] = tuple,
) -> Recipe:
    """Return a recipe whose model then learns from transcripts, too, and is measured on their development parts (ours).

    Once trained on its own examples, the model answers the transcripts. It goes on for an epoch over the examples and
    the transcripts, whose truths are its answers within the groups that people gave: without a teacher the labels of
    a group ran together in one or two of them. The recipe is unchanged without transcripts, or where none has emotions
    of people that the taxonomy knows.

    Args:
        recipe: of a classifier that learns from labels.
        kind: the same classifier where it learns from probabilities.
        item: what the classifier reads of a history.

    Raises:
        InputError: see `emotion_utterances`.
    """
    if not transcripts:
        return recipe
    given, chosen_on, held_out, dropped = coarse_rows(transcripts, taxonomy)
    if not any(given.emotional) or not held_out.histories:
        run.say("no transcript has human emotion labels that the taxonomy knows: learned from the examples only")
        return recipe
    learned = list(map(item, given.histories))
    items = list(map(item, held_out.histories))
    train, validation, _ = recipe.rows
    finish = recipe.finish
    choice = recipe.choice
    plain = recipe.model
    assert isinstance(choice, ClassifierTest)
    assert issubclass(plain, SequenceClassifier)
    labels = len(taxonomy.names)

    def further(first: Path) -> FurtherTraining:
        answers = teacher_answers(plain, first, recipe.options, learned)
        soft = soft_rows(learned, within_groups(answers, given.groups))
        rows = TrainingRows([*one_hot(train, labels), *soft], one_hot(validation, labels))
        once = recipe.options.model_copy(update={"epochs": 1})
        return FurtherTraining(partial(kind.load, first), rows, once)

    def measured(result: TrainingResult) -> TrainingResult:
        done = finish(result)
        figures = coarse_figures(
            answers_to(plain.load_to_answer(done.path), [(one, None) for one in items]), held_out, taxonomy
        )
        run.say(f"on {len(items):,} utterances of transcripts: {', '.join(f'{k} {v:.3f}' for k, v in figures.items())}")
        return replace(done, metrics={**done.metrics, **{f"transcripts_{k}": v for k, v in figures.items()}})

    run.say(f"{len(learned):,} texts with other classes of emotions to train on, {len(items):,} held out")
    return replace(
        recipe,
        further=further,
        finish=measured,
        choice=TranscriptChoice(choice, list(map(item, chosen_on.histories)), chosen_on, taxonomy),
        dropped=[*recipe.dropped, *dropped],
        params={**recipe.params, "coarse_rows": len(learned)},
        differs=(*recipe.differs, f"{len(learned):,} with other classes"),
    )


def train_and_register_self_labeler(
    seeds: DataFrame,
    similar: DataFrame,
    run: StageRun,
    options: DialogueClassifierSettings,
    labels: Taxonomy,
    encoder: str,
    scaled: bool,
    transcripts: Sequence[str] = (),
) -> Trained:
    """Train the self-labeler on the crowd's training rows and similar dialogues (EDOS 3.3).

    The epoch is chosen on the validation split. With ``scaled`` so is a temperature: the MLflow run has it, and the
    expected calibration error on validation rows before and after scaling. ``held_out_...`` metrics are after scaling.

    Raises:
        InputError: a split has no rows, or see `emotion_utterances`.
    """
    columns = ("dialogue_id", "turn", "turns", "label")
    given = seeds.select(*columns, "split", F.lit(CROWD).alias("origin")).unionByName(
        similar.select(*columns, F.lit("train").alias("split"), "origin")
    )
    rows, dropped = rows_by_split(given, labels.names, "edos.seeds")
    start = starting_encoder(run, options, encoder)
    recipe = dialogue_recipe(run, options, labels, start, (rows, dropped), origins_of(given))
    recipe = calibrated(recipe, run) if scaled else recipe
    return train_and_register(with_transcripts(recipe, run, labels, transcripts, DistilledClassifier), run)


def calibrated(recipe: Recipe, run: StageRun, *, confidence: bool = False) -> Recipe:
    """Return a recipe that is calibrated on the rows of its ``choice``, with the figures in the result's metrics.

    Args:
        confidence: whether the largest probability is calibrated after the temperature, too. Answers that a later
            step chooses by a fixed confidence, as the paper has it, are left as the temperature makes them.
    """
    choice = recipe.choice
    assert isinstance(choice, ClassifierTest)

    def finish(result: TrainingResult) -> TrainingResult:
        probabilities = answers_to(choice.model.load_to_answer(result.path), choice.rows)
        figures = calibration(probabilities, [label for _, label in choice.rows], confidence=confidence)
        set_calibration(result.path, figures)
        run.say(
            f"temperature {figures['temperature']:.3f}: expected calibration error on validation "
            f"{figures['calibration_error_before']:.4f} before, {figures['calibration_error_after']:.4f} after"
        )
        return replace(result, metrics={**result.metrics, **figures})

    return replace(recipe, finish=finish)


def dialogue_recipe(
    run: StageRun,
    options: DialogueClassifierSettings,
    taxonomy: Taxonomy,
    start: ResolvedModel,
    given: tuple[Mapping[str, Rows], Sequence[DroppedRow]],
    origins: str = CROWD,
) -> Recipe:
    """Return the recipe of a dialogue classifier.

    Args:
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
        start=partial(new_dialogue_classifier, start, taxonomy),
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
    start: ResolvedModel, taxonomy: Taxonomy, options: DialogueClassifierSettings
) -> DialogueClassifier:
    """Return the untrained classifier; without ``weighted`` it is the paper's ablation."""
    return DialogueClassifier.new(start.path, taxonomy.names, options, weighted=options.weighted)


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


def starting_encoder(run: StageRun, options: DialogueClassifierSettings, plain: str) -> ResolvedModel:
    """Return the initial encoder: the plain one at this URI, or the weak labeler's encoder."""
    if not options.start_from_weak_labeler:
        return run.model(plain)
    labeler = run.model("weak_labeler")
    if (labeler.path / MEMBERS).is_dir():
        raise InputError(
            f"training: start_from_weak_labeler has no encoder to start from: {labeler.identity} is a mean of several;"
            " set it to false"
        )
    return ResolvedModel(labeler.path / ENCODER, labeler.identity)


def _examples(folder: str, part: str, labels: Sequence[str]) -> WeakExamples:
    for path in _file(folder, part):
        return read_weak_examples(path, labels)
    raise InputError(f"edos.weak_label_examples: {folder} has no classifier_{part}.txt or .txt.gz")


def _file(folder: str, part: str) -> Iterator[Path]:
    """Yield the file of a part, if it is there."""
    paths = [Path(folder, f"classifier_{part}{ending}") for ending in (".txt", ".txt.gz")]
    yield from [path for path in paths if path.is_file()][:1]
