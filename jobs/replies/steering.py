"""Train a response generator that is steered by an intent, and read the intents of its replies (ours, EDOS 6)."""

from pyspark.sql import DataFrame

from etl.llm.model_stages import history_scores, model_stage
from etl.pipeline import StageRun, under
from etl.replies import regimes
from etl.replies.generation import READERS, planned_steering, replies
from etl.replies.measures import distinct_answers
from etl.tables.outcome import Trained
from etl.tables.replies import EXAMPLES, INTENT_READINGS, STEERED
from etl.training.stages import trained_generator, training_stage
from jobs.replies.training import TUNING, UNSTEERED, generator_stage


@training_stage("reply_steered", *TUNING, units="replies", reads=(EXAMPLES,), models=UNSTEERED)
def replies_tune_steered(examples: DataFrame, run: StageRun) -> Trained:
    """Fine-tune the response generator further, with the intents of the replies (ours, EDOS 6)."""
    return trained_generator(examples, run, regimes.STEERED)


@generator_stage(
    STEERED,
    planned_steering,
    60,
    ("reply_steered", *UNSTEERED, *READERS),
    "replies.decoding",
    "edos.taxonomy",
    *under("replies.evaluation", "contexts", "intents"),
)
def replies_steer(requests: DataFrame, examples: DataFrame, run: StageRun) -> DataFrame:
    """Let the steered response generator reply to test histories with each intent and without (ours, EDOS 6)."""
    return replies(requests, run)


@model_stage(
    history_scores,
    "emotion_classifier",
    6_000,
    reads=(STEERED, EXAMPLES),
    writes=INTENT_READINGS,
    units="replies",
    settings=("replies.evaluation.true_replies",),
    manual=True,
)
def replies_read_intents(steered: DataFrame, examples: DataFrame, run: StageRun) -> DataFrame:
    """Classify the intent of each steered reply and of true replies, once per model (ours, EDOS 6)."""
    return distinct_answers(steered, examples, run.settings.replies.evaluation.true_replies)
