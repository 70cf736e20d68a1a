"""Train a response generator that is steered by an intent, and read the intents of its replies (ours, EDOS 6)."""

from typing import Annotated

from pyspark.sql import DataFrame

from etl.llm.model_stages import history_scores, model_stage
from etl.pipeline import At, Model, StageRun, stage
from etl.pipeline.outcome import Trained
from etl.replies import regimes
from etl.replies.generation import BatchSize, planned_steering, replies
from etl.replies.measures import distinct_answers
from etl.replies.settings import ReplyDecoding, SteeredReplyTraining
from etl.replies.tables import EXAMPLES, INTENT_READINGS, STEERED
from jobs.replies.training import TUNING, UNSTEERED, Dropout, generator_stage, tuned_generator


@stage(writes=Model("reply_steered"), manual=True, counts=TUNING, units="replies", reads=(EXAMPLES,), models=UNSTEERED)
def replies_tune_steered(
    examples: DataFrame, options: SteeredReplyTraining, dropout: Dropout, run: StageRun
) -> Trained:
    """Fine-tune the response generator further, with the intents of the replies (ours, EDOS 6)."""
    return tuned_generator(examples, run, regimes.STEERED, options, dropout)


@generator_stage(STEERED, planned_steering, 60, ("reply_steered", *UNSTEERED))
def replies_steer(
    requests: DataFrame, examples: DataFrame, decoding: ReplyDecoding, batch_size: BatchSize, run: StageRun
) -> DataFrame:
    """Let the steered response generator reply to test histories with each intent and without (ours, EDOS 6)."""
    return replies(requests, run, decoding, batch_size)


@model_stage(
    history_scores,
    "emotion_classifier",
    6_000,
    reads=(STEERED, EXAMPLES),
    writes=INTENT_READINGS,
    units="replies",
    manual=True,
)
def replies_read_intents(
    steered: DataFrame, examples: DataFrame, number: Annotated[int, At("replies.evaluation.true_replies")]
) -> DataFrame:
    """Classify the intent of each steered reply and of true replies, once per model (ours, EDOS 6)."""
    return distinct_answers(steered, examples, number)
