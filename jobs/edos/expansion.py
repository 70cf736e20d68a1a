"""Expand the crowd's labels to similar dialogues and to a first classifier's confident answers (EDOS 3.3).

Without ``edos.expansion.enabled`` and released labels, only the crowd's labels are trained on.
"""

from functools import partial

from pyspark.sql import DataFrame

from etl.common.hashes import distinct_texts
from etl.common.labelled_files import with_dropped
from etl.edos import self_labels, similar
from etl.edos.embeddings import embedded_turns, histories_to_embed
from etl.edos.labelled_rows import pool_of
from etl.edos.released import read_released, released_dialogues
from etl.edos.training_rows import crowd_rows, gathered
from etl.llm.model_stages import embeddings, history_scores, model_stage
from etl.pipeline import Incremental, RowAccounting, StageRun, stage, under
from etl.tables import edos as tables
from etl.tables.outcome import Outcome, Trained
from etl.tables.subtitles import CLEAN_DIALOGUES
from etl.training.stages import training_stage

ON = "edos.expands"
POOL = under("edos.expansion", "enabled", "pool_share")
SEARCH = under("edos.expansion", "floor", "matches")
ENCODER = "sentence_encoder"
LABELER = "self_labeler"
expansion_stage = partial(stage, enabled_if=ON)
search_stage = partial(
    expansion_stage,
    models=(ENCODER,),
    settings=POOL + SEARCH,
    units=RowAccounting("dialogues", rows_out="count(DISTINCT dialogue_id, turn)"),
)


def _pool(clean: DataFrame, run: StageRun) -> DataFrame:
    expansion = run.settings.edos.expansion
    return pool_of(clean, expansion.enabled, expansion.pool_share)


@expansion_stage(
    writes=tables.RELEASED_DIALOGUES, settings=("edos.taxonomy",), inputs=("edos.released_labels",), units="dialogues"
)
def import_released_dialogues(run: StageRun) -> Outcome:
    """Import the authors' machine-labelled dialogues: similar, self-labelled, second round (EDOS 3.3)."""
    read = read_released(run.spark, run.settings.edos.released_labels, "edos.released_labels")
    outcome = released_dialogues(read.rows, run.settings.edos.taxonomy.names)
    outcome = Outcome(outcome.rows, outcome.dropped, rows_in=read.rows_in)
    return outcome if read.dropped is None else with_dropped(outcome, read.dropped)


@model_stage(
    embeddings,
    ENCODER,
    20_000,
    reads=(CLEAN_DIALOGUES, tables.SEEDS, tables.RELEASED_DIALOGUES),
    writes=tables.TURN_EMBEDDINGS,
    settings=POOL,
    units="texts",
    enabled_if=ON,
)
def embed_turns(clean: DataFrame, seeds: DataFrame, released: DataFrame, run: StageRun) -> DataFrame:
    """Embed each distinct turn text once with Sentence-BERT (EDOS 3.3)."""
    return distinct_texts(histories_to_embed(_pool(clean, run), seeds, released), "turns")


def _histories(clean: DataFrame, seeds: DataFrame, released: DataFrame, turns: DataFrame, run: StageRun) -> DataFrame:
    return histories_to_embed(_pool(clean, run), seeds, released)


@expansion_stage(
    reads=(CLEAN_DIALOGUES, tables.SEEDS, tables.RELEASED_DIALOGUES, tables.TURN_EMBEDDINGS),
    writes=tables.DIALOGUE_EMBEDDINGS,
    models=(ENCODER,),
    settings=POOL,
    incremental=Incremental("history_hash", cost_per_minute=400_000, prepare=_histories, cache=True),
    units="dialogues",
)
def embed_dialogues(
    histories: DataFrame, seeds: DataFrame, released: DataFrame, turn_embeddings: DataFrame, run: StageRun
) -> DataFrame:
    """Embed each distinct dialogue by its turns' embeddings with half-decay weights (EDOS 3.3)."""
    from udfs import dialogue_embeddings

    model = run.models[ENCODER].identity
    return dialogue_embeddings.embed_dialogues(embedded_turns(histories, turn_embeddings, model), model)


def _matches(embedded: DataFrame, targets: DataFrame, queries: DataFrame, run: StageRun) -> Outcome:
    """Return the nearest targets of each query, by exact cosine."""
    from udfs.similarity import find_similar

    settings = run.settings.edos.expansion
    model = run.models[ENCODER].identity
    found = find_similar(embedded, targets, settings.floor, settings.matches, model=model, threads=run.compute.threads)
    return similar.matched_units(found, queries, targets, settings.matches, settings.floor)


@search_stage(
    reads=(CLEAN_DIALOGUES, tables.SEEDS, tables.RELEASED_DIALOGUES, tables.DIALOGUE_EMBEDDINGS),
    writes=tables.SIMILAR_MATCHES,
)
def search_similar(
    clean: DataFrame, seeds: DataFrame, released: DataFrame, embedded: DataFrame, run: StageRun
) -> Outcome:
    """Search the unlabelled dialogues for those similar to a crowd-labelled one, by exact cosine (EDOS 3.3)."""
    return _matches(embedded, similar.seed_targets(seeds), similar.queries_of(_pool(clean, run), released), run)


@expansion_stage(
    reads=(tables.SIMILAR_MATCHES, CLEAN_DIALOGUES, tables.SEEDS, tables.RELEASED_DIALOGUES),
    writes=tables.SIMILAR_DIALOGUES,
    settings=POOL + under("edos.expansion", "threshold", "held_out_threshold"),
    units="dialogues",
)
def expand_labels(
    matches: DataFrame, clean: DataFrame, seeds: DataFrame, released: DataFrame, run: StageRun
) -> Outcome:
    """Copy the crowd's labels to similar dialogues that are not near a held-out row (EDOS 3.3)."""
    settings = run.settings.edos.expansion
    thresholds = (settings.threshold, settings.held_out_threshold)
    return similar.expanded(matches, _pool(clean, run), seeds, released, clean, *thresholds)


@training_stage(
    LABELER,
    "models.encoder",
    "edos.taxonomy",
    units="turns",
    reads=(tables.SEEDS, tables.SIMILAR_DIALOGUES),
    models=("weak_labeler",),
    enabled_if=ON,
    manual=False,
)
def train_self_labeler(seeds: DataFrame, alike: DataFrame, run: StageRun) -> Trained:
    """Train the first dialogue classifier, which self-labels, on the crowd's and similar dialogues (EDOS 3.3)."""
    from etl.training.recipes.classifiers import train_and_register_self_labeler

    return train_and_register_self_labeler(seeds, alike, run)


def _scored_pool(clean: DataFrame, run: StageRun) -> DataFrame:
    expansion = run.settings.edos.expansion
    return pool_of(clean, expansion.enabled and run.has_model(LABELER), expansion.pool_share)


@model_stage(
    history_scores,
    LABELER,
    6_000,
    reads=(CLEAN_DIALOGUES,),
    writes=tables.SELF_LABEL_SCORES,
    settings=POOL,
    units="dialogues",
    enabled_if=ON,
)
def score_for_self_labels(clean: DataFrame, run: StageRun) -> DataFrame:
    """Score each distinct unlabelled dialogue by the self-labeler, once per model (EDOS 3.3)."""
    return _scored_pool(clean, run).select("history_hash", "turns").dropDuplicates(["history_hash"])


@expansion_stage(
    reads=(
        CLEAN_DIALOGUES,
        tables.SELF_LABEL_SCORES,
        tables.SEEDS,
        tables.SIMILAR_DIALOGUES,
        tables.RELEASED_DIALOGUES,
    ),
    writes=tables.SELF_LABELLED,
    models=(LABELER,),
    settings=(*POOL, "edos.self_labels"),
    units="dialogues",
)
def self_label(
    clean: DataFrame, scores: DataFrame, seeds: DataFrame, alike: DataFrame, released: DataFrame, run: StageRun
) -> Outcome:
    """Label dialogues by the first classifier's confident answers (EDOS 3.3)."""
    rules = run.settings.edos.self_labels
    model = run.models[LABELER].identity
    pool = _scored_pool(clean, run)
    return self_labels.self_labels(pool, scores, model, seeds, alike, released, rules.confidence, rules.per_class)


@search_stage(
    reads=(CLEAN_DIALOGUES, tables.SELF_LABELLED, tables.DIALOGUE_EMBEDDINGS), writes=tables.SIMILAR_SELF_MATCHES
)
def search_similar_again(clean: DataFrame, self_labelled: DataFrame, embedded: DataFrame, run: StageRun) -> Outcome:
    """Search the unlabelled dialogues for those similar to a self-labelled one (EDOS 3.3, the second round)."""
    return _matches(embedded, similar.self_targets(self_labelled), similar.queries_of(_pool(clean, run)), run)


@expansion_stage(
    reads=(
        tables.SIMILAR_SELF_MATCHES,
        CLEAN_DIALOGUES,
        tables.SEEDS,
        tables.SIMILAR_DIALOGUES,
        tables.SELF_LABELLED,
        tables.RELEASED_DIALOGUES,
    ),
    writes=tables.SIMILAR_SELF_DIALOGUES,
    settings=(*POOL, "edos.expansion.again_threshold"),
    units="dialogues",
)
def expand_labels_round2(
    matches: DataFrame,
    clean: DataFrame,
    seeds: DataFrame,
    alike: DataFrame,
    self_labelled: DataFrame,
    released: DataFrame,
    run: StageRun,
) -> Outcome:
    """Copy the self-labelled dialogues' labels to similar dialogues, with another threshold (EDOS 3.3)."""
    before = [crowd_rows(seeds), alike, self_labelled]
    threshold = run.settings.edos.expansion.again_threshold
    return similar.expanded_again(matches, _pool(clean, run), before, released, threshold)


@stage(
    reads=(
        tables.SEEDS,
        tables.SIMILAR_DIALOGUES,
        tables.SELF_LABELLED,
        tables.SIMILAR_SELF_DIALOGUES,
        tables.SIMILAR_MATCHES,
        CLEAN_DIALOGUES,
    ),
    writes=tables.TRAINING_DIALOGUES,
    settings=("edos.expansion.held_out_threshold",),
    units="turns",
    version=2,
)
def gather_training_dialogues(
    seeds: DataFrame,
    alike: DataFrame,
    self_labelled: DataFrame,
    similar_self: DataFrame,
    matches: DataFrame,
    clean: DataFrame,
    run: StageRun,
) -> Outcome:
    """Gather the labelled turns of all origins for training, without those near a held-out row (EDOS 3.3)."""
    found = [alike, self_labelled, similar_self]
    return gathered(seeds, found, matches, clean, run.settings.edos.expansion.held_out_threshold)
