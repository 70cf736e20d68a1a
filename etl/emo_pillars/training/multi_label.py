"""The trainings of Emo Pillars' models, and their answers to the data set's test splits."""

from collections.abc import Mapping, Sequence
from functools import partial, reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from conf.errors import InputError
from etl.common.splits import SPLITS
from etl.emo_pillars.examples import check_splits
from etl.emo_pillars.intra_dataset import TESTED_ON, given_labels, with_f1
from etl.emo_pillars.settings import NamedMultiLabelSettings
from etl.pipeline.model_loader import ResolvedModel
from etl.pipeline.outcome import DroppedRow, Outcome, Trained, dropped_columns
from etl.pipeline.stage_run import StageRun
from etl.training.held_out_classifiers import ClassifierTest
from etl.training.registration import Recipe, train_and_register
from udfs.models.classifiers.multi_label_classifier import MultiLabelClassifier, Passage, starting_model
from udfs.models.trainable import TrainingRows
from udfs.predict import answer_passages

PassageRows = list[tuple[Passage, tuple[int, ...]]]


def train_and_register_multi_label(
    passages: DataFrame,
    run: StageRun,
    model: str,
    options: NamedMultiLabelSettings,
    encoder: str,
    labels: Sequence[str],
) -> Trained:
    """Train one of Emo Pillars' models and evaluate it on its test split (Emo Pillars 5.1.1, 5.2.1).

    The last epoch is kept. The validation split is used only to choose the threshold.

    Args:
        passages: passage_id, utterance, context, labels, split.
        model: its key under ``models`` and ``training``.
        encoder: URI of what it starts from.
        labels: of the taxonomy, in the order of their ids.

    Raises:
        InputError: a split has no rows.
    """
    rows, dropped = passages_by_split(passages, f"what {model} learns from", labels)
    start = run.model(encoder)
    run.say(", ".join(f"{len(rows[split]):,} {split} rows" for split in SPLITS))
    return train_and_register(multi_label_recipe(model, options, start, rows, dropped, labels), run)


def multi_label_recipe(
    model: str,
    options: NamedMultiLabelSettings,
    start: ResolvedModel,
    rows: Mapping[str, PassageRows],
    dropped: list[DroppedRow],
    labels: Sequence[str],
) -> Recipe:
    """Return the training of a multi-label classifier: chosen on validation rows, judged on test rows.

    Args:
        model: its key under ``models`` and ``training``.
        start: the resolved encoder or classifier that it starts from.
        rows: (passage, label ids) rows of each split.
        labels: of the taxonomy, in the order of their ids.
    """
    begin = partial(starting_model, start.path, rows["train"], labels)
    test, choice = (
        ClassifierTest(MultiLabelClassifier, rows[split], "macro_f1", labels, options.device)
        for split in ("test", "validation")
    )
    return Recipe(
        name=options.name,
        model=MultiLabelClassifier,
        options=options,
        start=begin,
        starts_from=start.identity,
        rows=TrainingRows(rows["train"], rows["validation"]),
        test=test,
        choice=choice,
        rows_out=sum(len(rows[split]) for split in SPLITS),
        dropped=dropped,
    )


def passages_by_split(
    passages: DataFrame, what: str, names: Sequence[str], splits: Sequence[str] = SPLITS
) -> tuple[dict[str, PassageRows], list[DroppedRow]]:
    """Return (passage, label ids) rows of each split, ordered by a hash.

    A passage that is also in the test split is removed from the other splits.

    Args:
        passages: passage_id, utterance, context (null: none), labels array<string>, split.
        names: labels of the taxonomy, in the order of their ids.

    Returns:
        The rows by split, and the removed rows for the ledger.

    Raises:
        InputError: a split has no rows, or rows have a label of another taxonomy.
    """
    ids = {label: number for number, label in enumerate(names)}
    ordered = passages.orderBy(F.xxhash64("passage_id"), "passage_id")
    read = list(ordered.select("passage_id", "utterance", "context", "labels", "split").toLocalIterator())
    held_out = {(row.utterance, row.context) for row in read if row.split == "test"}
    rows: dict[str, PassageRows] = {split: [] for split in SPLITS}
    dropped: list[DroppedRow] = []
    for row in read:
        if row.split != "test" and (row.utterance, row.context) in held_out:
            dropped.append(DroppedRow("passage", row.passage_id, "text_is_held_out", row.utterance[:500], 1))
        else:
            if other := next((label for label in row.labels if label not in ids), None):
                raise InputError(f"{what}: {other!r} is not a label of emo_pillars.taxonomy: make the examples again")
            labels = tuple(sorted({ids[label] for label in row.labels}))
            rows[row.split].append((Passage(row.utterance, row.context), labels))
    require_rows(rows, what, splits)
    return rows, dropped


def require_rows(rows: Mapping[str, PassageRows], what: str, splits: Sequence[str] = SPLITS) -> None:
    """Raise an InputError where a split has no rows."""
    for split in splits:
        if not rows[split]:
            raise InputError(f"no {split} rows in {what}: give it more data")


def contextless(examples: DataFrame) -> DataFrame:
    """Return ``emo_pillars.examples`` as passages without contexts."""
    return examples.select(
        F.col("utterance_id").alias("passage_id"),
        "utterance",
        F.lit(None).cast("string").alias("context"),
        _names().alias("labels"),
        "split",
    )


def contextual(examples: DataFrame, rewritten: bool, with_context: bool = True) -> DataFrame:
    """Return ``emo_pillars.contextual_examples`` as passages, original or rewritten, with or without contexts."""
    context = F.col("context") if with_context else F.lit(None).cast("string")
    return examples.select(
        F.col("utterance_id").alias("passage_id"),
        F.col("rewritten" if rewritten else "utterance").alias("utterance"),
        context.alias("context"),
        _names().alias("labels"),
        "split",
    )


def _names() -> Column:
    return F.transform("labels", lambda one: one["label"])


def answers_on_tests(
    examples: DataFrame, contextual_examples: DataFrame, labels: Sequence[str], run: StageRun
) -> Outcome:
    """Return each model's answers to the test sets, and the passages where it failed.

    Context-less models read utterances alone, in all three test sets (Emo Pillars Table 1). Context-aware models also
    read contexts, in the two sets that have them (Table 5).

    Args:
        examples: ``emo_pillars.examples``.
        contextual_examples: ``emo_pillars.contextual_examples``.
        labels: of the taxonomy, in the order of their ids.

    Raises:
        InputError: the settings have no model, or a plot is in several splits.
    """
    check_splits(examples, contextual_examples)
    without, with_contexts = (
        dict(zip(TESTED_ON[1:], (contextual(contextual_examples, one, context) for one in (False, True)), strict=True))
        for context in (False, True)
    )
    sets = {TESTED_ON[0]: contextless(examples), **without}
    parts = [
        _answers(with_contexts if learner.startswith("emo_pillars_contextual") else sets, learner, labels, run)
        for learner in run.models
        if run.model(learner).given
    ]
    if not parts:
        raise InputError("no model to test: set models.emo_pillars_contextless or another of its kind")
    found = reduce(lambda one, other: one.unionByName(other), parts).persist()
    rows = found.where(F.col("error").isNull())
    named = F.concat_ws("/", "learner", "tested_on", "passage_id")
    dropped = found.where(F.col("error").isNotNull()).select(
        *dropped_columns("answer", named, "model_failed", 1, F.col("error"))
    )
    return Outcome(rows, dropped, rows_in=found.count())


def _answers(sets: Mapping[str, DataFrame], learner: str, labels: Sequence[str], run: StageRun) -> DataFrame:
    """Return one model's answers to its test sets, in one pass."""
    tests = [
        passages.where(F.col("split") == "test").withColumn("tested_on", F.lit(tested_on))
        for tested_on, passages in sets.items()
    ]
    key = F.concat_ws("/", "tested_on", "passage_id")
    test = reduce(lambda one, other: one.unionByName(other), tests).withColumn("place", key)
    answers = answer_passages(test.select("place", "utterance", "context"), **run.model(learner).arguments)
    joined = test.select("place", "tested_on", "passage_id", "labels").join(answers, "place")
    return with_f1(joined.withColumn("given", given_labels(labels))).select(F.lit(learner).alias("learner"), "*")
