"""How good the conversations are: people's ratings, and faults that machines find (AugESC 6)."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from conf.wordlists import words
from etl.annotation.form_stages import form_answers_stage, form_stage
from etl.augesc import faults, ratings
from etl.augesc.rating_form import QUESTIONS, RATING_FORM
from etl.llm.model_stages import embeddings, model_stage
from etl.pipeline import Incremental, RowAccounting, StageRun, manual_stage, under
from etl.tables import augesc_faults as tables
from etl.tables.augesc import MEASURED_TEXTS, VIOLATIONS
from etl.tables.augesc_evaluation import RATING_FILES, RATING_SCORES, RATING_TASKS, RATINGS
from etl.tables.outcome import Outcome

RATED, LOOKED_AT = "augesc.evaluation.ratings", "augesc.faults"
ENCODER, TOXICITY, CONTRADICTION = "sentence_encoder", "toxicity", "contradiction"


@manual_stage(
    reads=(MEASURED_TEXTS, VIOLATIONS),
    writes=RATING_TASKS,
    settings=under(RATED, "per_set", "sessions_per_hit", "seed"),
    units="texts",
)
def augesc_prepare_ratings(measured: DataFrame, violations: DataFrame, run: StageRun) -> Outcome:
    """Draw the conversations that people rate: so many of each set, mixed (AugESC 6.3)."""
    wanted = run.settings.augesc.evaluation.ratings
    sizes = {"per_set": wanted.per_set, "per_hit": wanted.sessions_per_hit}
    return ratings.rating_tasks(measured, violations, **sizes, seed=wanted.seed)


@form_stage(RATING_FORM, RATED, RATING_TASKS, RATING_FILES)
def augesc_export_ratings() -> None:
    """Write the questionnaire on conversations as a page, with the key to its answers (AugESC 6.2, Figure 6)."""


@form_answers_stage(RATING_FORM, RATED, QUESTIONS, len(QUESTIONS), RATINGS)
def augesc_collect_ratings(counted: Outcome) -> Outcome:
    """Collect the raters' answers on conversations: which count, and as which scores (AugESC 6.3)."""
    return Outcome(ratings.ratings(counted.rows), counted.dropped, rows_in=counted.rows_in)


@manual_stage(
    reads=(RATINGS,),
    writes=RATING_SCORES,
    settings=under(RATED, "significance", "tested"),
    units=RowAccounting("ratings", rows_out="coalesce(sum(ratings), 0)"),
)
def augesc_score_ratings(rated: DataFrame, run: StageRun) -> DataFrame:
    """Score the sets by their ratings: means by aspect, tested against the best (AugESC Table 3)."""
    wanted = run.settings.augesc.evaluation.ratings
    columns = rated.select("method", "source", "text_id", "aspect", "score")
    rows = (row.asDict() for row in columns.toLocalIterator())
    found = ratings.rating_scores(rows, significance=wanted.significance, tested=wanted.tested)
    return run.spark.createDataFrame(found, RATING_SCORES.schema)


def _utterances(measured: DataFrame, run: StageRun) -> DataFrame:
    return faults.distinct_utterances(faults.sample_texts(measured, run.settings.augesc.faults.sampled))


@model_stage(
    embeddings,
    ENCODER,
    10_000,
    reads=(MEASURED_TEXTS,),
    writes=tables.UTTERANCE_EMBEDDINGS,
    settings=(f"{LOOKED_AT}.sampled",),
    units="utterances",
    manual=True,
)
def augesc_embed_utterances(measured: DataFrame, run: StageRun) -> DataFrame:
    """Embed each distinct utterance of the sampled texts once with Sentence-BERT (AugESC 6.4)."""
    return _utterances(measured, run)


@manual_stage(reads=(MEASURED_TEXTS, tables.UTTERANCE_EMBEDDINGS), writes=tables.TOPIC_SCORES, models=(ENCODER,),
              settings=under(LOOKED_AT, "sampled", "least_tokens"), units="utterances")  # fmt: skip
def augesc_score_topics(measured: DataFrame, embedded: DataFrame, run: StageRun) -> Outcome:
    """Score how near each utterance is to what was said before it: topic shifts (AugESC 6.4)."""
    from udfs.conversation_vectors import topic_scores

    wanted = run.settings.augesc.faults
    texts = faults.sample_texts(measured, wanted.sampled).cache()
    spoken = faults.with_vectors(texts, embedded, run.models[ENCODER].identity)
    rows = topic_scores(faults.with_others(spoken), wanted.least_tokens)
    dropped = faults.unscored_utterances(texts, spoken, wanted.least_tokens)
    return Outcome(rows, dropped, rows_in=faults.count_utterances(texts))


@manual_stage(
    reads=(MEASURED_TEXTS,),
    writes=tables.TOXICITY_SCORES,
    models=(TOXICITY,),
    settings=(f"{LOOKED_AT}.sampled",),
    incremental=Incremental("text_hash", cost_per_minute=2_000, prepare=_utterances, cache=True),
    units="utterances",
    resources=("profanity.txt",),
)
def augesc_score_toxicity(utterances: DataFrame, run: StageRun) -> DataFrame:
    """Score how toxic each distinct utterance is, by a classifier, else by a list of words; no filter (ours)."""
    if not run.has_model(TOXICITY):
        return faults.listed_toxicity(utterances, words("profanity"))
    from udfs.predict import label_scores

    texts = utterances.withColumn("other", F.lit(None).cast("string"))
    return label_scores(texts, ("toxic", "toxicity"), **run.model_arguments(TOXICITY))


@manual_stage(reads=(MEASURED_TEXTS, tables.UTTERANCE_EMBEDDINGS), writes=tables.STATEMENT_PAIRS, models=(ENCODER,),
              settings=under(LOOKED_AT, "sampled", "least_tokens", "related", "pairs"), units="pairs")  # fmt: skip
def augesc_pair_statements(measured: DataFrame, embedded: DataFrame, run: StageRun) -> Outcome:
    """Pair statements of one speaker that speak of one thing, for a model of entailment (AugESC 6.4)."""
    wanted = run.settings.augesc.faults
    texts = faults.sample_texts(measured, wanted.sampled)
    spoken = faults.with_vectors(texts, embedded, run.models[ENCODER].identity)
    return faults.statement_pairs(spoken, wanted.least_tokens, wanted.related, wanted.pairs)


def _statements(pairs: DataFrame, run: StageRun) -> DataFrame:
    asked = run.rows_if_model(CONTRADICTION, pairs)
    texts = asked.select("text_hash", F.col("first").alias("text"), F.col("second").alias("other"))
    return texts.dropDuplicates(["text_hash"])


@manual_stage(
    reads=(tables.STATEMENT_PAIRS,),
    writes=tables.CONTRADICTION_SCORES,
    models=(CONTRADICTION,),
    incremental=Incremental("text_hash", cost_per_minute=1_000, prepare=_statements, cache=True),
    units="pairs",
)
def augesc_score_contradictions(pairs: DataFrame, run: StageRun) -> DataFrame:
    """Ask a model of entailment, where one is named, if a speaker's statements contradict each other (AugESC 6.4)."""
    from udfs.predict import label_scores

    return label_scores(pairs, ("contradiction",), **run.model_arguments(CONTRADICTION))


@manual_stage(
    reads=(
        MEASURED_TEXTS,
        tables.TOPIC_SCORES,
        tables.TOXICITY_SCORES,
        tables.STATEMENT_PAIRS,
        tables.CONTRADICTION_SCORES,
    ),
    writes=tables.FAULTS,
    models=(TOXICITY, CONTRADICTION),
    settings=under(LOOKED_AT, "sampled", "near", "toxic", "contradicts"),
    units="texts",
    resources=("augesc/seeker_phrases.txt", "augesc/supporter_phrases.txt"),
)
def augesc_find_faults(
    measured: DataFrame, topics: DataFrame, toxicity: DataFrame, pairs: DataFrame, contradictions: DataFrame,
    run: StageRun,
) -> Outcome:  # fmt: skip
    """Find the faults of the sampled texts: inconsistency, topic shifts, toxicity apart (AugESC 6.4)."""
    wanted = run.settings.augesc.faults
    texts = faults.sample_texts(measured, wanted.sampled).cache()
    poison, against = (
        scores.where(F.col("model") == run.models[model].identity)
        for model, scores in ((TOXICITY, toxicity), (CONTRADICTION, contradictions))
    )
    rows = faults.faults(
        texts, topics, poison, pairs, against, near=wanted.near, toxic=wanted.toxic, contradicts=wanted.contradicts
    )
    return Outcome(rows, rows_in=texts.count())
