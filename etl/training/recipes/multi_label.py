"""The trainings of Emo Pillars: from labelled utterances to the registry's champion, each with its threshold."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from conf.errors import InputError
from conf.taxonomy import goemotions_labels
from etl.pipeline.stage_run import StageRun
from etl.tables.outcome import Trained
from etl.training.held_out_classifiers import ClassifierTest
from etl.training.recipes.classifiers import SPLITS
from etl.training.registration import LeftOut, Recipe, options_of, train_and_register
from udfs.models.classifiers.multi_label_classifier import MultiLabelClassifier, Passage, starting_model
from udfs.models.loader import resolve
from udfs.models.trainable import TrainingRows

PassageRows = list[tuple[Passage, tuple[int, ...]]]


def train_and_register_multi_label(passages: DataFrame, run: StageRun, model: str) -> Trained:
    """Train one of Emo Pillars' models and measure it on its test split (Emo Pillars 5.1.1, 5.2.1).

    The last epoch is kept; the validation split gives the threshold alone.

    Args:
        passages: passage_id, utterance, context, labels, split.
        model: its name among ``models`` and ``training``.

    Raises:
        InputError: a split has no rows.
    """
    options = options_of(run, model)
    rows, left_out = passages_by_split(passages, f"what {model} learns from")
    start = resolve(run.all_settings.models.emo_pillars_encoder, Path(run.folder))
    run.say(", ".join(f"{len(rows[split]):,} {split} rows" for split in SPLITS))
    begin = partial(
        starting_model, start.path, rows["train"], goemotions_labels(), options, options.pooling, options.typed
    )  # fmt: skip
    recipe = Recipe(
        name=options.name, stage=f"train {model}", model=MultiLabelClassifier, options=options, start=begin,
        starts_from=start.identity, rows=TrainingRows(rows["train"], rows["validation"]),
        test=ClassifierTest(MultiLabelClassifier, rows["test"], "macro_f1", options.device),
        rows_out=sum(len(rows[split]) for split in SPLITS), left_out=left_out,
    )  # fmt: skip
    return train_and_register(recipe, run)


def passages_by_split(
    passages: DataFrame, what: str, splits: Sequence[str] = SPLITS
) -> tuple[dict[str, PassageRows], list[LeftOut]]:
    """(passage, label ids) rows of each split, in an order of their content.

    What is held out is never trained on: a passage that is there in both senses leaves the training rows.

    Args:
        passages: passage_id, utterance, context (null: none), labels array<string>, split.
        what: names the rows, for people.

    Returns:
        The rows by split, and those left out for the ledger.

    Raises:
        InputError: a split has no rows.
    """
    ids = {label: number for number, label in enumerate(goemotions_labels())}
    ordered = passages.orderBy(F.xxhash64("passage_id"), "passage_id")
    read = list(ordered.select("passage_id", "utterance", "context", "labels", "split").toLocalIterator())
    held_out = {(row.utterance, row.context) for row in read if row.split == "test"}
    rows: dict[str, PassageRows] = {split: [] for split in SPLITS}
    left_out: list[LeftOut] = []
    for row in read:
        if row.split != "test" and (row.utterance, row.context) in held_out:
            left_out.append(("passage", row.passage_id, "text_is_held_out", row.utterance[:500], 1))
        else:
            labels = tuple(sorted({ids[label] for label in row.labels}))
            rows[row.split].append((Passage(row.utterance, row.context), labels))
    require_rows(rows, what, splits)
    return rows, left_out


def require_rows(rows: Mapping[str, PassageRows], what: str, splits: Sequence[str] = SPLITS) -> None:
    """Raise an InputError where a split has no rows."""
    for split in splits:
        if not rows[split]:
            raise InputError(f"no {split} rows in {what}: give it more data")


def contextless(examples: DataFrame) -> DataFrame:
    """``emo_pillars.examples`` as passages."""
    return examples.select(
        F.col("utterance_id").alias("passage_id"), "utterance", F.lit(None).cast("string").alias("context"),
        _names().alias("labels"), "split",
    )  # fmt: skip


def contextual(examples: DataFrame, rewritten: bool, with_context: bool = True) -> DataFrame:
    """``emo_pillars.contextual_examples`` as passages, original or rewritten, with their contexts or without."""
    context = F.col("context") if with_context else F.lit(None).cast("string")
    return examples.select(
        F.col("utterance_id").alias("passage_id"), F.col("rewritten" if rewritten else "utterance").alias("utterance"),
        context.alias("context"), _names().alias("labels"), "split",
    )  # fmt: skip


def _names() -> Column:
    return F.transform("labels", lambda one: one["label"])
