"""A response generator that is told the intent of its reply, and whether it keeps to it (ours, EDOS 6)."""

from pyspark.sql import DataFrame

from etl.llm.model_stages import history_scores, model_stage
from etl.pipeline import Incremental, StageRun, manual_stage, under
from etl.replies import regimes
from etl.replies.generation import planned_steering, replies
from etl.replies.measures import distinct_answers
from etl.tables.outcome import Trained
from etl.tables.replies import EXAMPLES, INTENT_READINGS, STEERED
from etl.training.stages import training_stage
from jobs.replies.training import TUNING, trained


@training_stage("reply_steered", *TUNING, units="replies", reads=(EXAMPLES,), models=("reply_empathetic",))
def replies_tune_steered(examples: DataFrame, run: StageRun) -> Trained:
    """Fine-tune the response generator further, to be told the intent of its reply (ours, EDOS 6)."""
    return trained(examples, run, regimes.STEERED)


@manual_stage(
    reads=(EXAMPLES,),
    writes=STEERED,
    models=("reply_steered", "reply_empathetic"),
    settings=(*under("replies.evaluation", "contexts", "intents"), "replies.decoding", "edos.taxonomy"),
    incremental=Incremental("request_id", cost_per_minute=60, prepare=planned_steering, content_keyed=True),
    units="replies",
    options=("replies.evaluation.batch_size",),
)
def replies_steer(requests: DataFrame, examples: DataFrame, run: StageRun) -> DataFrame:
    """Ask the steered response generator for each intent on test histories, and to compare for none (ours, EDOS 6)."""
    return replies(requests, run)


@model_stage(
    history_scores,
    "emotion_classifier",
    6_000,
    reads=(STEERED,),
    writes=INTENT_READINGS,
    units="replies",
    manual=True,
)
def replies_read_intents(steered: DataFrame, run: StageRun) -> DataFrame:
    """Ask the emotion classifier which intent it reads in each steered reply, once per model (ours, EDOS 6)."""
    return distinct_answers(steered)
