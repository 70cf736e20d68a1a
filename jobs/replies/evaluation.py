"""Compare response generators on three test sets: perplexity, diversity, similarity (EDOS 5, Table 7)."""

from typing import Annotated

from pyspark.sql import DataFrame

from etl.llm.model_stages import embeddings, model_stage
from etl.pipeline import At, StageRun, stage
from etl.pipeline.outcome import Outcome
from etl.replies.baselines import baseline_replies
from etl.replies.generation import (
    BatchSize,
    TestReplies,
    likelihoods,
    planned_likelihoods,
    planned_replies,
    replies,
)
from etl.replies.measures import distinct_replies
from etl.replies.settings import ReplyDecoding
from etl.replies.tables import BASELINES, EMBEDDINGS, EVALUATION, EXAMPLES, GENERATED, LIKELIHOODS
from jobs.replies.training import GENERATORS, generator_stage


@generator_stage(LIKELIHOODS, planned_likelihoods, 3_000, GENERATORS)
def replies_score(requests: DataFrame, examples: DataFrame, batch_size: BatchSize, run: StageRun) -> DataFrame:
    """Compute the likelihood of the test replies of all three sets by each response generator (EDOS 5)."""
    return likelihoods(requests, run, batch_size)


@generator_stage(GENERATED, planned_replies, 60, GENERATORS)
def replies_generate(
    requests: DataFrame, examples: DataFrame, decoding: ReplyDecoding, batch_size: BatchSize, run: StageRun
) -> DataFrame:
    """Let each response generator reply to the test histories of all three sets, by beam search (EDOS 5)."""
    return replies(requests, run, decoding, batch_size)


@stage(
    manual=True,
    reads=(EXAMPLES,),
    writes=BASELINES,
    units="replies",
    version=2,
)
def replies_answer_plainly(
    examples: DataFrame,
    examples_each: TestReplies,
    baseline_rows: Annotated[int, At("replies.evaluation.baseline_rows")],
) -> Outcome:
    """Reply to the same histories without a generator: constant, random, echo, retrieval, and people (ours)."""
    rows = baseline_replies(examples, examples_each, baseline_rows).cache()
    return Outcome(rows, rows_in=rows.count())


@model_stage(
    embeddings,
    "sentence_encoder",
    12_000,
    reads=(GENERATED, BASELINES),
    writes=EMBEDDINGS,
    units="replies",
    manual=True,
)
def replies_embed(generated: DataFrame, baselines: DataFrame) -> DataFrame:
    """Embed each distinct generated or expected reply, once per sentence encoder: SES (EDOS 5)."""
    return distinct_replies(generated, baselines)


@stage(
    manual=True,
    reads=(LIKELIHOODS, GENERATED, BASELINES, EMBEDDINGS),
    writes=EVALUATION,
    models=("sentence_encoder",),
    units="cells",
)
def evaluate_response_generator(
    scored: DataFrame, generated: DataFrame, baselines: DataFrame, embedded: DataFrame, run: StageRun
) -> Outcome:
    """Evaluate each response generator on each test set, floors and ceiling beside it: Table 7 (EDOS 5)."""
    from etl.replies.training import compared_generators

    return compared_generators(scored, generated, baselines, embedded, run)
