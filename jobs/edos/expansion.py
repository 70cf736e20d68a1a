"""Expand the crowd's labels to similar dialogues and to a first classifier's confident answers (EDOS 3.3).

Without ``edos.expansion.enabled`` and released labels, only the crowd's labels are trained on.
"""

from functools import partial
from typing import Annotated

from pyspark.sql import DataFrame

from conf.taxonomy import Taxonomy
from etl.common.hashes import distinct_texts
from etl.common.labelled_files import with_dropped
from etl.edos import self_labels, similar, tables
from etl.edos.embeddings import embed_dialogues as dialogue_embeddings
from etl.edos.embeddings import embedded_turns, histories_to_embed
from etl.edos.held_out import HeldOutRule, held_out_splits
from etl.edos.labelled_rows import pool_of
from etl.edos.released import read_released, released_dialogues
from etl.edos.settings import Pool, SearchFrom, SelfLabelerSettings, SelfLabelRules
from etl.edos.training_rows import crowd_rows, gathered
from etl.llm.model_stages import embeddings, history_scores, model_stage
from etl.pipeline import At, Incremental, Model, RowAccounting, StageRun, Units, stage
from etl.pipeline.outcome import Outcome, Trained
from etl.subtitles.tables import CLEAN_DIALOGUES

ON = "edos.expands"
HeldOutThreshold = Annotated[float, At("edos.expansion.held_out_threshold")]
DropNear = Annotated[bool, At("edos.expansion.drop_near_held_out")]
Floor = Annotated[float, At("edos.expansion.floor")]
From = Annotated[SearchFrom, At("edos.expansion.search_from")]
ENCODER = "sentence_encoder"
LABELER = "self_labeler"
expansion_stage = partial(stage, enabled_if=ON)
search_stage = partial(
    expansion_stage,
    models=(ENCODER,),
    units=RowAccounting("dialogues", rows_out="count(DISTINCT dialogue_id, turn)"),
)


def _pool(clean: DataFrame, pool: Pool) -> DataFrame:
    return pool_of(clean, pool.enabled, pool.pool_share)


@expansion_stage(writes=tables.RELEASED_DIALOGUES, units="dialogues")
def import_released_dialogues(
    files: Annotated[tuple[str, ...], At("edos.released_labels")], labels: Taxonomy, run: StageRun
) -> Outcome:
    """Import the authors' machine-labelled dialogues: similar, self-labelled, second round (EDOS 3.3)."""
    read = read_released(run.spark, files, "edos.released_labels")
    outcome = released_dialogues(read.rows, labels.names)
    outcome = Outcome(outcome.rows, outcome.dropped, rows_in=read.rows_in)
    return outcome if read.dropped is None else with_dropped(outcome, read.dropped)


@model_stage(
    embeddings,
    ENCODER,
    20_000,
    reads=(CLEAN_DIALOGUES, tables.SEEDS, tables.RELEASED_DIALOGUES),
    writes=tables.TURN_EMBEDDINGS,
    units="texts",
    enabled_if=ON,
)
def embed_turns(clean: DataFrame, seeds: DataFrame, released: DataFrame, pool: Pool) -> DataFrame:
    """Embed each distinct turn text once with Sentence-BERT (EDOS 3.3)."""
    return distinct_texts(histories_to_embed(_pool(clean, pool), seeds, released), "turns")


def _histories(clean: DataFrame, seeds: DataFrame, released: DataFrame, turns: DataFrame, pool: Pool) -> DataFrame:
    return histories_to_embed(_pool(clean, pool), seeds, released)


@expansion_stage(
    reads=(CLEAN_DIALOGUES, tables.SEEDS, tables.RELEASED_DIALOGUES, tables.TURN_EMBEDDINGS),
    writes=tables.DIALOGUE_EMBEDDINGS,
    models=(ENCODER,),
    incremental=Incremental("history_hash", cost_per_minute=400_000, prepare=_histories, units=Units.ANSWERED),
    units="dialogues",
)
def embed_dialogues(
    histories: DataFrame, seeds: DataFrame, released: DataFrame, turn_embeddings: DataFrame, run: StageRun
) -> DataFrame:
    """Embed each distinct dialogue by its turns' embeddings with half-decay weights (EDOS 3.3)."""
    model = run.model(ENCODER).identity
    return dialogue_embeddings(embedded_turns(histories, turn_embeddings, model), model)


def _matches(embedded: DataFrame, targets: DataFrame, queries: DataFrame, floor: float, run: StageRun) -> Outcome:
    """Return the nearest targets of each query, by exact cosine."""
    from etl.edos.similarity_search import find_similar

    model = run.model(ENCODER).identity
    found = find_similar(embedded, targets, floor, similar.MATCHES, model=model, threads=run.compute.threads)
    return similar.matched_units(found, queries, targets, similar.MATCHES, floor)


@search_stage(
    reads=(CLEAN_DIALOGUES, tables.SEEDS, tables.RELEASED_DIALOGUES, tables.DIALOGUE_EMBEDDINGS),
    writes=tables.SIMILAR_MATCHES,
)
def search_similar(
    clean: DataFrame,
    seeds: DataFrame,
    released: DataFrame,
    embedded: DataFrame,
    pool: Pool,
    floor: Floor,
    search_from: From,
    run: StageRun,
) -> Outcome:
    """Search the unlabelled dialogues for those similar to a crowd-labelled one, by exact cosine (EDOS 3.3)."""
    targets = similar.seed_targets(seeds, held_out_splits(search_from))
    return _matches(embedded, targets, similar.queries_of(_pool(clean, pool), released), floor, run)


@expansion_stage(
    reads=(tables.SIMILAR_MATCHES, CLEAN_DIALOGUES, tables.SEEDS, tables.RELEASED_DIALOGUES),
    writes=tables.SIMILAR_DIALOGUES,
    units="dialogues",
)
def expand_labels(
    matches: DataFrame,
    clean: DataFrame,
    seeds: DataFrame,
    released: DataFrame,
    pool: Pool,
    threshold: Annotated[float, At("edos.expansion.threshold")],
    held_out_threshold: HeldOutThreshold,
    drop_near: DropNear,
    search_from: From,
) -> Outcome:
    """Copy the crowd's labels to similar dialogues that are not near a held-out row (EDOS 3.3)."""
    held_out = HeldOutRule(held_out_threshold, held_out_splits(search_from), drop_near)
    return similar.expanded(matches, _pool(clean, pool), seeds, released, clean, threshold, held_out)


@stage(
    writes=Model(LABELER),
    units="turns",
    reads=(tables.SEEDS, tables.SIMILAR_DIALOGUES),
    models=("weak_labeler",),
    enabled_if=ON,
)
def train_self_labeler(
    seeds: DataFrame,
    alike: DataFrame,
    options: SelfLabelerSettings,
    encoder: Annotated[str, At("models.encoder")],
    labels: Taxonomy,
    calibrated: Annotated[bool, At("edos.self_labels.calibrated")],
    transcripts: Annotated[tuple[str, ...], At("edos.emotion_transcripts")],
    run: StageRun,
) -> Trained:
    """Train the first dialogue classifier, which self-labels, on the crowd's and similar dialogues (EDOS 3.3)."""
    from etl.edos.training.classifiers import train_and_register_self_labeler

    return train_and_register_self_labeler(seeds, alike, run, options, labels, encoder, calibrated, transcripts)


def _scored_pool(clean: DataFrame, pool: Pool, run: StageRun) -> DataFrame:
    return pool_of(clean, pool.enabled and run.model(LABELER).given, pool.pool_share)


@model_stage(
    history_scores,
    LABELER,
    6_000,
    reads=(CLEAN_DIALOGUES,),
    writes=tables.SELF_LABEL_SCORES,
    units="dialogues",
    enabled_if=ON,
)
def score_for_self_labels(clean: DataFrame, pool: Pool, run: StageRun) -> DataFrame:
    """Score each distinct unlabelled dialogue by the self-labeler, once per model (EDOS 3.3)."""
    return _scored_pool(clean, pool, run).select("history_hash", "turns").dropDuplicates(["history_hash"])


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
    units="dialogues",
)
def self_label(
    clean: DataFrame,
    scores: DataFrame,
    seeds: DataFrame,
    alike: DataFrame,
    released: DataFrame,
    pool: Pool,
    rules: SelfLabelRules,
    run: StageRun,
) -> Outcome:
    """Label dialogues by the first classifier's most confident answers of each class, or those above 0.9 (EDOS 3.3)."""
    model = run.model(LABELER).identity
    scored = _scored_pool(clean, pool, run)
    return self_labels.self_labels(scored, scores, model, seeds, alike, released, rules.confidence, rules.per_class)


@search_stage(
    reads=(CLEAN_DIALOGUES, tables.SELF_LABELLED, tables.DIALOGUE_EMBEDDINGS), writes=tables.SIMILAR_SELF_MATCHES
)
def search_similar_again(
    clean: DataFrame, self_labelled: DataFrame, embedded: DataFrame, pool: Pool, floor: Floor, run: StageRun
) -> Outcome:
    """Search the unlabelled dialogues for those similar to a self-labelled one (EDOS 3.3, the second round)."""
    return _matches(embedded, similar.self_targets(self_labelled), similar.queries_of(_pool(clean, pool)), floor, run)


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
    units="dialogues",
)
def expand_labels_round2(
    matches: DataFrame,
    clean: DataFrame,
    seeds: DataFrame,
    alike: DataFrame,
    self_labelled: DataFrame,
    released: DataFrame,
    pool: Pool,
    threshold: Annotated[float, At("edos.expansion.again_threshold")],
) -> Outcome:
    """Copy the self-labelled dialogues' labels to similar dialogues, with another threshold (EDOS 3.3)."""
    before = [crowd_rows(seeds), alike, self_labelled]
    return similar.expanded_again(matches, _pool(clean, pool), before, released, threshold)


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
    held_out_threshold: HeldOutThreshold,
    drop_near: DropNear,
    search_from: From,
) -> Outcome:
    """Gather the labelled turns of all origins for training, without those near a held-out row (EDOS 3.3)."""
    held_out = HeldOutRule(held_out_threshold, held_out_splits(search_from), drop_near)
    return gathered(seeds, [alike, self_labelled, similar_self], matches, clean, held_out)
