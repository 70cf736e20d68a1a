"""Generate support conversations: sessions, queries, tuned models and their texts (AugESC 4, 6.1)."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from conf.wordlists import cased_words
from etl.augesc import generation, queries, sessions
from etl.augesc.texts import INSTRUCTION, next_prompt
from etl.common.labelled_files import files_under, local_rows, with_dropped
from etl.llm.model_stages import prompt_stage, source
from etl.pipeline import Incremental, StageRun, manual_stage, under
from etl.tables.augesc import QUERIES, ROLE_PLAYS, SESSIONS, TRAINING_SESSIONS
from etl.tables.llm import AUGMENTED, UNTUNED
from etl.tables.outcome import LocalRows, Outcome, Trained
from etl.training.stages import training_stage

TALKS = (".csv", ".csv.gz")
DUMPS = (".jsonl", ".jsonl.gz", ".ndjson", ".ndjson.gz", ".json", ".json.gz")
LISTS = EMOTIONS, SENSITIVE, MEDICATION, FORUM = (
    "augesc/negative_emotions",
    "augesc/sensitive_words",
    "augesc/medication_words",
    "augesc/forum_words",
)
GENERATION = "augesc.generation"
ROLES = ("seeker", "supporter")


@manual_stage(
    writes=SESSIONS,
    settings=("augesc.session_rules.max_characters",),
    inputs=under("augesc", "sessions", "contrast_sessions"),
    units="sessions",
)
def augesc_read_sessions(run: StageRun) -> Outcome:
    """Read support conversations between people from the published forms of ESConv (AugESC 4.1)."""
    augesc = run.settings.augesc
    files = files_under(augesc.sessions, sessions.ENDINGS, "augesc.sessions")
    contrast = files_under(augesc.contrast_sessions, sessions.ENDINGS, "augesc.contrast_sessions")
    read = sessions.read_sessions(run.spark, files, contrast).cache()
    outcome = sessions.usable_sessions(read, augesc.session_rules.max_characters)
    outcome = Outcome(outcome.rows, outcome.dropped, rows_in=read.count())
    return contrast.with_skipped(files.with_skipped(outcome, run.spark), run.spark)


@manual_stage(
    reads=(SESSIONS,),
    writes=TRAINING_SESSIONS,
    settings=under("augesc.session_rules", "training", "seed"),
    units="sessions",
)
def augesc_draw_sessions(known: DataFrame, run: StageRun) -> Outcome:
    """Draw training sessions as evenly over the problem types as the data allow (AugESC 4.1)."""
    rules = run.settings.augesc.session_rules
    return sessions.training_draw(known, rules.training, rules.seed)


@manual_stage(
    writes=QUERIES,
    settings=("augesc.query_rules",),
    inputs=("augesc.queries",),
    units="posts",
    resources=tuple(f"{name}.txt" for name in LISTS),
)
def augesc_collect_queries(run: StageRun) -> Outcome:
    """Collect posts that start conversations from EmpatheticDialogues and dumps of forums (AugESC 4.2, A)."""
    rules = run.settings.augesc.query_rules
    files = files_under(run.settings.augesc.queries, (*TALKS, *DUMPS), "augesc.queries")
    talks = [path for path in files if path.lower().endswith(TALKS)]
    read = local_rows(talks, queries.COLUMNS, "augesc.queries") if talks else LocalRows()
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
    outcome = Outcome(outcome.rows, outcome.dropped, rows_in=posts.count())
    return with_dropped(files.with_skipped(outcome, run.spark), read.notes(run.spark))


@training_stage(
    "augmenter",
    "models.augmenter_base",
    units="sessions",
    reads=(TRAINING_SESSIONS, SESSIONS),
    enabled_if=f"{GENERATION}.augments",
    resources=(INSTRUCTION,),
)
def augesc_train_augmenter(drawn: DataFrame, known: DataFrame, run: StageRun) -> Trained:
    """Tune a language model on a few sessions, so that it continues a query as people do (AugESC 4.1)."""
    from etl.training.recipes.augesc import train_and_register_augmenter

    return train_and_register_augmenter(drawn, known, run)


@prompt_stage(
    (QUERIES,),
    AUGMENTED,
    "augmenter",
    per_minute=3,
    resources=(INSTRUCTION,),
    enabled_if=f"{GENERATION}.augments",
    settings=(*under(GENERATION, "queries", "decoding"), "augesc.samples_per_query"),
)
def augesc_ask_augmenter(posts: DataFrame, run: StageRun) -> DataFrame:
    """Let the tuned model continue each query several times (AugESC 4.2)."""
    return generation.augmenter_requests(posts, run.settings.augesc)


@prompt_stage(
    (QUERIES,),
    UNTUNED,
    "augmenter_base",
    resources=(INSTRUCTION,),
    enabled_if=f"{GENERATION}.compares_untuned",
    settings=under(GENERATION, "queries", "baseline_queries", "untuned_decoding"),
)
def augesc_ask_untuned(posts: DataFrame, run: StageRun) -> DataFrame:
    """Let the untuned model continue queries, for comparison (AugESC 4.3)."""
    return generation.untuned_requests(posts, run.settings.augesc)


def _trained_role(role: str, drawn: DataFrame, known: DataFrame, run: StageRun) -> Trained:
    from etl.training.recipes.augesc import train_and_register_speaker

    return train_and_register_speaker(role, role, drawn, known, run)


@training_stage(
    "seeker",
    "models.dialogue_base",
    units="sessions",
    reads=(TRAINING_SESSIONS, SESSIONS),
    enabled_if=f"{GENERATION}.plays_roles",
)
def augesc_train_seeker(drawn: DataFrame, known: DataFrame, run: StageRun) -> Trained:
    """Tune a model on the seekers' utterances, for talks of two models (AugESC 6.1)."""
    return _trained_role("seeker", drawn, known, run)


@training_stage(
    "supporter",
    "models.dialogue_base",
    units="sessions",
    reads=(TRAINING_SESSIONS, SESSIONS),
    enabled_if=f"{GENERATION}.plays_roles",
)
def augesc_train_supporter(drawn: DataFrame, known: DataFrame, run: StageRun) -> Trained:
    """Tune a model on the supporters' utterances, for talks of two models (AugESC 6.1)."""
    return _trained_role("supporter", drawn, known, run)


def _plays(posts: DataFrame, run: StageRun) -> DataFrame:
    identities = [run.models[role].identity for role in ROLES]
    return generation.role_play_requests(posts, run.settings.augesc.generation, identities)


@manual_stage(
    reads=(QUERIES,),
    writes=ROLE_PLAYS,
    models=ROLES,
    settings=under(GENERATION, "queries", "baseline_queries", "role_decoding", "role_utterances"),
    incremental=Incremental("play_id", cost_per_minute=2, prepare=_plays, content_keyed=True),
    units="talks",
    enabled_if=f"{GENERATION}.plays_roles",
    options=("llm",),
)
def augesc_play_roles(plays: DataFrame, posts: DataFrame, run: StageRun) -> DataFrame:
    """Let two models, each tuned on one speaker's utterances, talk with each other about queries (AugESC 6.1)."""
    from udfs.role_play import role_plays

    settings = run.settings.augesc.generation
    sources = {role: source(run, role) for role in ROLES}
    turns = role_plays(
        plays, sources, next_prompt, settings.role_decoding, settings.role_utterances, run.compute.partitions
    )
    models = {f"{role}_model": F.lit(run.models[role].identity) for role in ROLES}
    return plays.drop("query").withColumns(models).join(turns, "play_id")
