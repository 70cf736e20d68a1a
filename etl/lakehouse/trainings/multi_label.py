"""The trainings of Emo Pillars: from labelled utterances to the registry's champion, each with its threshold."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from conf.errors import InputError
from conf.taxonomy import goemotions_labels
from conf.training_settings import MultiLabelSettings
from etl.lakehouse.outcome import Trained
from etl.lakehouse.registry import model_store
from etl.lakehouse.stage import StageRun, setting
from etl.lakehouse.trainings.classifiers import SPLITS, LeftOut, data_tags, options_of, params_of, trained_of
from udfs.devices import training_device
from udfs.models.classifiers.multi_label_classifier import MultiLabelClassifier, Passage, train_multi_label
from udfs.models.classifiers.training import TrainingOptions
from udfs.models.loader import resolve
from udfs.models.tracked import train_tracked

PassageRows = list[tuple[Passage, tuple[int, ...]]]


def tracked_multi_label(passages: DataFrame, run: StageRun, model: str) -> Trained:
    """Train one of Emo Pillars' models and measure it on its test split (Emo Pillars 5.1.1, 5.2.1).

    The last epoch is kept; the validation split gives the threshold alone.

    Args:
        passages: passage_id, utterance, context, labels, split.
        model: its name among ``models`` and ``training``.

    Raises:
        InputError: a split has no rows.
    """
    own: MultiLabelSettings = setting(run.all_settings, f"training.{model}")
    rows, left_out = passages_by_split(passages, f"what {model} learns from")
    start = resolve(run.all_settings.models.emo_pillars_encoder, Path(run.folder))
    options = multi_label_options(own, run.all_settings.models.training_threads)
    run.say(", ".join(f"{len(rows[split]):,} {split} rows" for split in SPLITS))
    tracked = train_tracked(
        model_store(run.all_settings),
        setting(run.all_settings, f"training.{model}.name"),
        params=params_of(own, start.identity),
        tags={"stage": f"train {model}", **data_tags(run)},
        train=lambda folder, on_epoch: train_multi_label(
            start.path, rows["train"], rows["validation"], goemotions_labels(), options, folder, on_epoch,
            own.pooling, own.typed,
        ),
        load=lambda path: load_on_device(path, own.device),
        held_out=rows["test"],
        metric="macro_f1",
        folder=Path(run.folder),
    )  # fmt: skip
    return trained_of(run, tracked, sum(len(rows[split]) for split in SPLITS), left_out)


def load_on_device(path: Path, device: str) -> MultiLabelClassifier:
    """A trained model where trainings run, to be measured."""
    return MultiLabelClassifier.load(path).to(training_device(device))


def multi_label_options(own: MultiLabelSettings, threads: int, seed: int | None = None) -> TrainingOptions:
    """The training loop's options from the settings; ``seed`` in the place of theirs."""
    return replace(
        options_of(own, threads), beta2=own.beta2, epsilon=own.epsilon, weight_decay=own.weight_decay, keep=own.keep,
        seed=own.seed if seed is None else seed,
    )  # fmt: skip


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
