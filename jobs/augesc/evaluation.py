"""Evaluate the conversations by people's ratings and by measured faults (AugESC 6)."""

from typing import Annotated

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from conf.wordlists import words
from etl.annotation.form_stages import form_answers_stage, form_stage
from etl.augesc import faults, ratings, tables
from etl.augesc.rating_form import QUESTIONS, RATING_FORM
from etl.augesc.settings import FaultLimits, FaultSample, RatingDraw, RatingTest, StatementPairs, Utterances
from etl.augesc.tables import MEASURED_TEXTS, RATING_FILES, RATING_SCORES, RATING_TASKS, RATINGS, VIOLATIONS
from etl.llm.model_stages import embeddings, model_stage
from etl.pipeline import At, Incremental, RowAccounting, StageRun, Units, stage
from etl.pipeline.outcome import Outcome

RATING_SETTINGS = "augesc.evaluation.ratings"
ENCODER = "sentence_encoder"
TOXICITY = "toxicity"
CONTRADICTION = "contradiction"


@stage(
    manual=True,
    reads=(MEASURED_TEXTS, VIOLATIONS),
    writes=RATING_TASKS,
    units="texts",
)
def augesc_prepare_ratings(
    measured: DataFrame, violations: DataFrame, draw: RatingDraw, seed: Annotated[int, At(f"{RATING_SETTINGS}.seed")]
) -> Outcome:
    """Draw the same number of conversations of each set for people to rate (AugESC 6.3)."""
    sizes = {"per_set": draw.per_set, "per_hit": draw.sessions_per_hit}
    return ratings.rating_tasks(measured, violations, **sizes, seed=seed)


@form_stage(RATING_FORM, RATING_SETTINGS, RATING_TASKS, RATING_FILES)
def augesc_export_ratings() -> None:
    """Write the questionnaire on conversations as a page with a key (AugESC 6.2, Figure 6)."""


@form_answers_stage(RATING_FORM, RATING_SETTINGS, QUESTIONS, len(QUESTIONS), RATINGS)
def augesc_collect_ratings(counted: Outcome) -> Outcome:
    """Collect the raters' valid answers on conversations as scores (AugESC 6.3)."""
    return Outcome(ratings.ratings(counted.rows), counted.dropped, rows_in=counted.rows_in)


@stage(
    manual=True,
    reads=(RATINGS,),
    writes=RATING_SCORES,
    units=RowAccounting("ratings", rows_out="coalesce(sum(ratings), 0)"),
)
def augesc_score_ratings(rated: DataFrame, test: RatingTest, run: StageRun) -> DataFrame:
    """Score the sets by their ratings: means by aspect, tested against the best (AugESC Table 3)."""
    columns = rated.select("method", "source", "text_id", "aspect", "score")
    rows = (row.asDict() for row in columns.toLocalIterator())
    scores = ratings.rating_scores(rows, significance=test.significance)
    return run.spark.createDataFrame(scores, RATING_SCORES.schema)


def _utterances(measured: DataFrame, sample: FaultSample) -> DataFrame:
    return faults.distinct_utterances(faults.sample_texts(measured, sample.sampled))


@model_stage(
    embeddings,
    ENCODER,
    10_000,
    reads=(MEASURED_TEXTS,),
    writes=tables.UTTERANCE_EMBEDDINGS,
    units="utterances",
    manual=True,
)
def augesc_embed_utterances(measured: DataFrame, sample: FaultSample) -> DataFrame:
    """Embed each distinct utterance of the sampled texts once with Sentence-BERT (AugESC 6.4)."""
    return _utterances(measured, sample)


@stage(
    manual=True,
    reads=(MEASURED_TEXTS, tables.UTTERANCE_EMBEDDINGS),
    writes=tables.TOPIC_SCORES,
    models=(ENCODER,),
    units="utterances",
)
def augesc_score_topics(measured: DataFrame, embedded: DataFrame, compared: Utterances, run: StageRun) -> Outcome:
    """Score the similarity of each utterance to the earlier ones: topic shifts (AugESC 6.4)."""
    from udfs.conversation_vectors import topic_scores

    texts = faults.sample_texts(measured, compared.sampled).cache()
    embedded_texts = faults.with_vectors(texts, embedded, run.model(ENCODER).identity)
    rows = topic_scores(faults.with_others(embedded_texts), compared.least_tokens)
    dropped = faults.unscored_utterances(texts, embedded_texts, compared.least_tokens)
    return Outcome(rows, dropped, rows_in=faults.count_utterances(texts))


@stage(
    manual=True,
    reads=(MEASURED_TEXTS,),
    writes=tables.TOXICITY_SCORES,
    models=(TOXICITY,),
    incremental=Incremental("text_hash", cost_per_minute=2_000, prepare=_utterances, units=Units.ANSWERED),
    units="utterances",
    resources=("profanity.txt",),
)
def augesc_score_toxicity(utterances: DataFrame, run: StageRun) -> DataFrame:
    """Score the toxicity of each distinct utterance by a classifier, or else by a word list (ours)."""
    if not run.model(TOXICITY).given:
        return faults.listed_toxicity(utterances, words("profanity"))
    from udfs.predict import label_scores

    texts = utterances.withColumn("other", F.lit(None).cast("string"))
    return label_scores(texts, ("toxic", "toxicity"), **run.model(TOXICITY).arguments)


@stage(
    manual=True,
    reads=(MEASURED_TEXTS, tables.UTTERANCE_EMBEDDINGS),
    writes=tables.STATEMENT_PAIRS,
    models=(ENCODER,),
    units="pairs",
)
def augesc_pair_statements(measured: DataFrame, embedded: DataFrame, asked: StatementPairs, run: StageRun) -> Outcome:
    """Pair similar statements of one speaker for an entailment model (AugESC 6.4)."""
    texts = faults.sample_texts(measured, asked.sampled)
    embedded_texts = faults.with_vectors(texts, embedded, run.model(ENCODER).identity)
    return faults.statement_pairs(embedded_texts, asked.least_tokens, asked.related, asked.pairs)


def _statements(pairs: DataFrame, run: StageRun) -> DataFrame:
    asked = pairs if run.model(CONTRADICTION).given else pairs.limit(0)
    distinct = asked.dropDuplicates(["text_hash"])
    return distinct.select("text_hash", F.col("first").alias("text"), F.col("second").alias("other"))


@stage(
    manual=True,
    reads=(tables.STATEMENT_PAIRS,),
    writes=tables.CONTRADICTION_SCORES,
    models=(CONTRADICTION,),
    incremental=Incremental("text_hash", cost_per_minute=1_000, prepare=_statements, units=Units.ANSWERED),
    units="pairs",
)
def augesc_score_contradictions(pairs: DataFrame, run: StageRun) -> DataFrame:
    """Score contradictions between a speaker's statements with an entailment model, if one is set (AugESC 6.4)."""
    from udfs.predict import label_scores

    return label_scores(pairs, ("contradiction",), **run.model(CONTRADICTION).arguments)


@stage(
    manual=True,
    reads=(
        MEASURED_TEXTS,
        tables.TOPIC_SCORES,
        tables.TOXICITY_SCORES,
        tables.STATEMENT_PAIRS,
        tables.CONTRADICTION_SCORES,
    ),
    writes=tables.FAULTS,
    models=(TOXICITY, CONTRADICTION),
    units="texts",
    resources=("augesc/seeker_phrases.txt", "augesc/supporter_phrases.txt"),
)
def augesc_find_faults(
    measured: DataFrame,
    topics: DataFrame,
    toxicity: DataFrame,
    pairs: DataFrame,
    contradictions: DataFrame,
    limits: FaultLimits,
    run: StageRun,
) -> Outcome:
    """Count the faults of the sampled texts: inconsistency, topic shifts, toxicity (AugESC 6.4)."""
    texts = faults.sample_texts(measured, limits.sampled).cache()
    toxicity = toxicity.where(F.col("model") == run.model(TOXICITY).identity)
    contradictions = contradictions.where(F.col("model") == run.model(CONTRADICTION).identity)
    thresholds = {"near": limits.near, "toxic": limits.toxic, "contradicts": limits.contradicts}
    rows = faults.faults(texts, topics, toxicity, pairs, contradictions, **thresholds)
    return Outcome(rows, rows_in=texts.count())
