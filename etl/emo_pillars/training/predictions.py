"""The model tuned on EmoContext, and models side by side on single texts (Emo Pillars 5.2.2, 6; Figure 6, Table 8)."""

from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from conf.errors import InputError
from conf.taxonomy import goemotions_labels
from etl.emo_pillars.intra_dataset import reached
from etl.emo_pillars.settings import NamedMultiLabelSettings
from etl.emo_pillars.training.multi_label import multi_label_recipe
from etl.emo_pillars.training.transfer_tasks import CONTEXTUAL, RELABELLED, Arm, emocontext_rows, relabelled
from etl.emo_pillars.transfer_sets import EMOCONTEXT_LABELS, emocontext_context
from etl.pipeline.outcome import Outcome, Trained, dropped_columns
from etl.pipeline.stage_run import StageRun
from etl.training.held_out_classifiers import load_on_device
from etl.training.registration import train_and_register
from udfs.models.classifiers.multi_label_classifier import MultiLabelClassifier
from udfs.predict import answer_passages

COMMENT = "comment"
DIALOGUE = "dialogue"


def train_and_register_emocontext(
    dialogues: DataFrame, run: StageRun, model: str, options: NamedMultiLabelSettings, least_probability: float
) -> Trained:
    """Tune the context-aware model on EmoContext, with the class others relabelled by itself (Emo Pillars 5.2.2).

    Args:
        dialogues: ``emo_pillars.emocontext``.
        model: its key under ``models`` and ``training``.

    Raises:
        InputError: a split has no rows, or there is no context-aware model.
    """
    start = run.model(CONTEXTUAL).required
    kept = emocontext_rows(dialogues, Arm(CONTEXTUAL, True, RELABELLED))
    judge = load_on_device(MultiLabelClassifier, start.path, options.device)
    rows = relabelled(kept, judge, least_probability, run.compute.batch_size).rows
    return train_and_register(multi_label_recipe(model, options, start, rows, [], goemotions_labels()), run)


def predictions(dialogues: DataFrame, run: StageRun, comment: str, context: str) -> Outcome:
    """Return the answers of each model of the run to a comment and to EmoContext's test dialogues.

    Models whose key does not end in "contextless" also read the contexts.

    Args:
        dialogues: ``emo_pillars.emocontext``.
        comment: a short text (Emo Pillars Figure 6).

    Returns:
        Outcome of ``emo_pillars.predictions``. The unit is an answer of a model to a text.
    """
    texts = dialogue_texts(dialogues.where("split = 'test'")).unionByName(
        run.spark.createDataFrame([(COMMENT, COMMENT, context, comment, None)], TEXTS)
    )
    parts = [_answers(texts, learner, run) for learner in run.models if run.model(learner).given]
    if not parts:
        raise InputError("no model to compare: set models.emo_pillars_contextless or another of its kind")
    found = reduce(lambda one, other: one.unionByName(other), parts).persist()
    columns = dropped_columns(
        "answer", F.concat_ws("/", "learner", "kind", "text_id"), "model_failed", 1, F.col("error")
    )
    dropped = found.where(F.col("error").isNotNull()).select(*columns)
    return Outcome(found.where(F.col("error").isNull()), dropped, rows_in=texts.count() * len(parts))


TEXTS = "kind string, text_id string, context string, utterance string, truth string"


def dialogue_texts(dialogues: DataFrame) -> DataFrame:
    """Return the last turns of dialogues with the turns before as context, as rows of ``TEXTS``."""
    rendered = F.udf(lambda turns: emocontext_context(list(turns)[:-1]), "string")
    return dialogues.select(
        F.lit(DIALOGUE).alias("kind"),
        F.col("dialogue_id").alias("text_id"),
        rendered("turns").alias("context"),
        F.element_at("turns", -1).alias("utterance"),
        F.col("emotion").alias("truth"),
    )


def _answers(texts: DataFrame, learner: str, run: StageRun) -> DataFrame:
    """Return one model's answers, with the labels that reach its threshold, the strongest first."""
    context = F.lit(None).cast("string") if learner.endswith("contextless") else F.col("context")
    key = F.concat_ws("/", "kind", "text_id")
    asked = texts.withColumn("place", key).withColumn("seen", context)
    answers = answer_passages(
        asked.select("place", "utterance", F.col("seen").alias("context")), **run.model(learner).arguments
    )
    strength = F.transform(
        reached(goemotions_labels()), lambda one: F.struct((-one["probability"]).alias("order"), one["label"])
    )
    known = F.create_map(*[F.lit(text) for pair in EMOCONTEXT_LABELS.items() for text in pair])
    return asked.join(answers, "place").select(
        F.lit(learner).alias("learner"),
        "kind",
        "text_id",
        "context",
        "utterance",
        "truth",
        known[F.col("truth")].alias("true_label"),
        "model",
        "probabilities",
        "threshold",
        "label_thresholds",
        F.transform(F.sort_array(strength), lambda one: one["label"]).alias("given"),
        "error",
    )
