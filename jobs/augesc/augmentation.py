"""Generate support conversations: sessions, queries, tuned models and their texts (AugESC 4, 6.1)."""

from collections.abc import Sequence
from typing import Annotated

import numpy as np
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from conf.llm_settings import LlmSettings
from conf.taxonomy import GOEMOTIONS, GOEMOTIONS_MAPPING
from conf.wordlists import cased_words, words
from etl.augesc import generation as requests
from etl.augesc import queries, sessions
from etl.augesc.conversation_texts import INSTRUCTION, instruction, next_prompt
from etl.augesc.post_judges import EXAMPLES, TOXICITY, examples, judged_posts, nearest_label, require_known_labels
from etl.augesc.settings import (
    AugmenterSettings,
    Augmenting,
    QueryRules,
    RolePlaying,
    SamplesPerQuery,
    TrainingDraw,
    Untuned,
)
from etl.augesc.tables import AUGMENTED, QUERIES, ROLE_PLAYS, SESSIONS, TRAINING_SESSIONS, UNTUNED
from etl.augesc.training.stages import speaker_stage
from etl.common.columns import with_columns_once
from etl.common.hashes import text_hash
from etl.common.labelled_files import files_under, local_rows, with_dropped
from etl.llm.model_stages import prompt_stage, source
from etl.pipeline import At, Incremental, Model, StageRun, Units, stage
from etl.pipeline.outcome import LocalOutcome, Outcome, Trained

TALKS = (".csv", ".csv.gz")
DUMPS = (".jsonl", ".jsonl.gz", ".ndjson", ".ndjson.gz", ".json", ".json.gz")
LISTS = EMOTIONS, SENSITIVE, MEDICATION, FORUM = (
    "augesc/negative_emotions",
    "augesc/sensitive_words",
    "augesc/medication_words",
    "augesc/forum_words",
)
GENERATION = "augesc.generation"
OwnWords = Annotated[str, At("augesc.prompt.text")]
ROLES = ("seeker", "supporter")
JUDGES_MODELS = {"emotions": "query_emotions", "goemotions": "query_goemotions", TOXICITY: "toxicity"}
"""The key under ``models`` of each judge's classifier."""
STAND_IN = "sentence_encoder"


@stage(
    manual=True,
    writes=SESSIONS,
    units="sessions",
    version=2,
)
def augesc_read_sessions(
    named: Annotated[tuple[str, ...], At("augesc.sessions")],
    contrasting: Annotated[tuple[str, ...], At("augesc.contrast_sessions")],
    max_characters: Annotated[int, At("augesc.session_rules.max_characters")],
    run: StageRun,
) -> Outcome:
    """Read support conversations between people from the published forms of ESConv (AugESC 4.1)."""
    files = files_under(named, sessions.ENDINGS, "augesc.sessions")
    contrast = files_under(contrasting, sessions.ENDINGS, "augesc.contrast_sessions")
    read = sessions.read_sessions(run.spark, files, contrast).cache()
    outcome = sessions.usable_sessions(read, max_characters)
    outcome = Outcome(outcome.rows, outcome.dropped, rows_in=read.count())
    return contrast.with_skipped(files.with_skipped(outcome, run.spark), run.spark)


@stage(
    manual=True,
    reads=(SESSIONS,),
    writes=TRAINING_SESSIONS,
    units="sessions",
    version=2,
)
def augesc_draw_sessions(known: DataFrame, draw: TrainingDraw) -> Outcome:
    """Draw training sessions as evenly over the problem types as the data allow (AugESC 4.1)."""
    return sessions.training_draw(known, draw.training, draw.seed)


def _labels(posts: DataFrame, judges: Sequence[str], run: StageRun) -> dict[str, DataFrame]:
    """Return each judge's labels of the distinct texts: of its classifier, or else of the sentence encoder."""
    from udfs.models.classifiers.hub_classifier import labels_of
    from udfs.predict import best_labels, embed_texts, label_scores

    texts = posts.select("text_hash", "text").dropDuplicates(["text_hash"]).persist()
    labels = {}
    for judge in judges:
        model = run.model(JUDGES_MODELS[judge])
        if model.given and judge == TOXICITY:
            pairs = texts.withColumn("other", F.lit(None).cast("string"))
            scored = label_scores(pairs, ("toxic", "toxicity"), **model.arguments)
            labels[judge] = scored.withColumn("label", F.when(F.col("score").isNotNull(), "scored"))
        elif model.given:
            require_known_labels(labels_of(model.path), f"models.{model.key}")
            labels[judge] = best_labels(texts, **model.arguments)
    if missing := [judge for judge in judges if judge not in labels]:
        encoder = run.model(STAND_IN)
        known = examples()
        listed = [(str(place), one.text) for place, one in enumerate(known)]
        found = embed_texts(run.spark.createDataFrame(listed, "text_hash string, text string"), **encoder.arguments)
        by_place = {int(row.text_hash): row.embedding for row in found.collect()}
        vectors = np.array([by_place[place] for place in range(len(known))], dtype=np.float32)
        embedded = embed_texts(texts, **encoder.arguments).persist()
        for judge in missing:
            label = nearest_label(F.col("embedding"), judge, known, vectors)
            named = {"label": label, "score": F.lit(None).cast("float"), "model": F.lit("sentence_encoder")}
            labels[judge] = embedded.withColumns(named)
    return labels


@stage(
    manual=True,
    writes=QUERIES,
    models=(*JUDGES_MODELS.values(), STAND_IN),
    units="posts",
    resources=(*(f"{name}.txt" for name in LISTS), EXAMPLES, GOEMOTIONS, GOEMOTIONS_MAPPING, "profanity.txt"),
    version=2,
)
def augesc_collect_queries(
    named: Annotated[tuple[str, ...], At("augesc.queries")], rules: QueryRules, run: StageRun
) -> Outcome:
    """Collect posts that start conversations from EmpatheticDialogues and dumps of forums (AugESC 4.2, A)."""
    files = files_under(named, (*TALKS, *DUMPS), "augesc.queries")
    talks = [path for path in files if path.lower().endswith(TALKS)]
    read = local_rows(talks, queries.COLUMNS, "augesc.queries") if talks else LocalOutcome()
    posts = queries.empathetic_posts(run.spark, read.rows)
    dumps = [path for path in files if path not in talks]
    posts = queries.with_lengths(posts.unionByName(queries.forum_posts(run.spark, dumps))).cache()
    outcome = queries.chosen_queries(
        posts,
        tokens=(rules.min_tokens, rules.max_tokens),
        emotions=rules.emotions or cased_words(EMOTIONS),
        sensitive=cased_words(SENSITIVE),
        medication=cased_words(MEDICATION),
        forum_words=cased_words(FORUM),
        forums=[name.lower() for name in rules.forums],
    )
    judged = with_columns_once(outcome.rows, text_hash=text_hash(F.col("text"))).persist()
    labels = _labels(judged.where(F.col("source") == "reddit"), rules.judges, run)
    profane = () if run.model(JUDGES_MODELS[TOXICITY]).given else words("profanity")
    outcome = judged_posts(Outcome(judged, outcome.dropped), labels, profane, rules.toxic)
    outcome = Outcome(outcome.rows, outcome.dropped, rows_in=posts.count())
    return with_dropped(files.with_skipped(outcome, run.spark), read.notes(run.spark))


@stage(
    writes=Model("augmenter"),
    manual=True,
    units="sessions",
    reads=(TRAINING_SESSIONS, SESSIONS),
    enabled_if=f"{GENERATION}.augments",
    resources=(INSTRUCTION,),
)
def augesc_train_augmenter(
    drawn: DataFrame,
    known: DataFrame,
    options: AugmenterSettings,
    base: Annotated[str | None, At("models.augmenter_base")],
    own: OwnWords,
    run: StageRun,
) -> Trained:
    """Tune a language model on a few sessions, so that it continues a query as people do (AugESC 4.1)."""
    from etl.augesc.training.language_models import train_and_register_augmenter

    return train_and_register_augmenter(drawn, known, run, options, base, instruction(own))


@prompt_stage(
    (QUERIES,),
    AUGMENTED,
    "augmenter",
    per_minute=3,
    resources=(INSTRUCTION,),
    enabled_if=f"{GENERATION}.augments",
)
def augesc_ask_augmenter(
    posts: DataFrame, generation: Augmenting, samples: SamplesPerQuery, own: OwnWords
) -> DataFrame:
    """Let the tuned model continue each query several times (AugESC 4.2)."""
    return requests.augmenter_requests(posts, generation, samples, instruction(own))


@prompt_stage(
    (QUERIES,),
    UNTUNED,
    "augmenter_base",
    resources=(INSTRUCTION,),
    enabled_if=f"{GENERATION}.compares_untuned",
)
def augesc_ask_untuned(posts: DataFrame, generation: Untuned, own: OwnWords) -> DataFrame:
    """Let the untuned model continue queries, for comparison (AugESC 4.3)."""
    return requests.untuned_requests(posts, generation, instruction(own))


@speaker_stage("seeker", "seeker", TRAINING_SESSIONS, SESSIONS, f"{GENERATION}.plays_roles")
def augesc_train_seeker() -> None:
    """Tune a model on the seekers' utterances, for talks of two models (AugESC 6.1)."""


@speaker_stage("supporter", "supporter", TRAINING_SESSIONS, SESSIONS, f"{GENERATION}.plays_roles")
def augesc_train_supporter() -> None:
    """Tune a model on the supporters' utterances, for talks of two models (AugESC 6.1)."""


def _plays(posts: DataFrame, talking: RolePlaying, run: StageRun) -> DataFrame:
    identities = [run.model(role).identity for role in ROLES]
    return requests.role_play_requests(posts, talking, identities)


@stage(
    manual=True,
    reads=(QUERIES,),
    writes=ROLE_PLAYS,
    models=ROLES,
    incremental=Incremental("play_id", cost_per_minute=2, prepare=_plays, units=Units.PLANNED),
    units="talks",
    enabled_if=f"{GENERATION}.plays_roles",
)
def augesc_play_roles(
    plays: DataFrame, posts: DataFrame, talking: RolePlaying, llm: LlmSettings, run: StageRun
) -> DataFrame:
    """Let two models, each tuned on one speaker's utterances, talk with each other about queries (AugESC 6.1)."""
    from udfs.role_play import role_plays

    sources = {role: source(run, role, llm) for role in ROLES}
    turns = role_plays(
        plays, sources, next_prompt, talking.role_decoding, talking.role_utterances, run.compute.partitions
    )
    models = {f"{role}_model": F.lit(run.model(role).identity) for role in ROLES}
    return plays.drop("query").withColumns(models).join(turns, "play_id")
