"""Response generators compared on three test sets: perplexity, diversity, similarity of sentences (EDOS 5, Table 7)."""

from pyspark.sql import DataFrame

from etl.llm.model_stages import embeddings, model_stage
from etl.pipeline import Incremental, StageRun, manual_stage
from etl.replies.generation import likelihoods, planned_likelihoods, planned_replies, replies
from etl.replies.measures import distinct_replies
from etl.tables.outcome import Outcome
from etl.tables.replies import EMBEDDINGS, EVALUATION, EXAMPLES, GENERATED, LIKELIHOODS
from jobs.replies.training import GENERATORS


@manual_stage(
    reads=(EXAMPLES,),
    writes=LIKELIHOODS,
    models=GENERATORS,
    settings=("replies.evaluation.examples",),
    incremental=Incremental("request_id", cost_per_minute=3_000, prepare=planned_likelihoods, content_keyed=True),
    units="replies",
    options=("replies.evaluation.batch_size",),
)
def replies_score(requests: DataFrame, examples: DataFrame, run: StageRun) -> DataFrame:
    """Ask each response generator how likely it finds the test replies of all three sets: perplexity (EDOS 5)."""
    return likelihoods(requests, run)


@manual_stage(
    reads=(EXAMPLES,),
    writes=GENERATED,
    models=GENERATORS,
    settings=("replies.evaluation.examples", "replies.decoding"),
    incremental=Incremental("request_id", cost_per_minute=60, prepare=planned_replies, content_keyed=True),
    units="replies",
    options=("replies.evaluation.batch_size",),
)
def replies_generate(requests: DataFrame, examples: DataFrame, run: StageRun) -> DataFrame:
    """Let each response generator reply to the test histories of all three sets, by beam search (EDOS 5)."""
    return replies(requests, run)


@model_stage(
    embeddings, "sentence_encoder", 12_000, reads=(GENERATED,), writes=EMBEDDINGS, units="replies", manual=True
)
def replies_embed(generated: DataFrame, run: StageRun) -> DataFrame:
    """Embed each distinct reply, written or expected, once per sentence encoder: SES (EDOS 5)."""
    return distinct_replies(generated)


@manual_stage(
    reads=(LIKELIHOODS, GENERATED, EMBEDDINGS), writes=EVALUATION, models=("sentence_encoder",), units="cells"
)
def evaluate_response_generator(scored: DataFrame, generated: DataFrame, embedded: DataFrame, run: StageRun) -> Outcome:
    """Evaluate each response generator on each test set, held out or zero-shot: Table 7, in MLflow too (EDOS 5)."""
    from etl.training.recipes.replies import compared_generators

    return compared_generators(scored, generated, embedded, run)
