"""More labels from the crowd's: dialogues similar to theirs, and a first classifier's confident answers (EDOS 3.3).

Each stage is off while ``edos.expands`` is false; the training set is then the crowd's labels alone.
"""

from functools import reduce

from pyspark.sql import DataFrame

from etl.edos import released as released_files
from etl.edos import self_labels, similar
from etl.edos.embeddings import embedded_turns, histories_to_embed, texts_of
from etl.edos.labelled_rows import pool_of
from etl.edos.training_rows import crowd_rows, gathered
from etl.llm.model_stages import embeddings, history_scores, model_stage
from etl.pipeline import Incremental, RowAccounting, StageRun, stage, under
from etl.pipeline.outside_files import read_csv
from etl.tables import edos as tables
from etl.tables.outcome import Outcome, Trained
from etl.tables.subtitles import CLEAN_DIALOGUES
from etl.training.stages import training_stage

ON = "edos.expands"
POOL = under("edos.expansion", "enabled", "pool_share")
SEARCH = under("edos.expansion", "floor", "matches")
ENCODER, LABELER = "sentence_encoder", "self_labeler"


def _pool(clean: DataFrame, run: StageRun) -> DataFrame:
    """The unlabelled dialogues that are looked through."""
    expansion = run.settings.edos.expansion
    return pool_of(clean, expansion.enabled, expansion.pool_share)


@stage(
    writes=tables.RELEASED_DIALOGUES,
    settings=("edos.taxonomy",),
    inputs=("edos.released_labels",),
    units="dialogues",
    enabled_if=ON,
)
def import_released_dialogues(run: StageRun) -> Outcome:
    """Import the released dialogues that a machine labelled: similar, self-labelled, similar to those (EDOS 3.3)."""
    key, names = "edos.released_labels", run.settings.edos.released_labels
    files = [released_files.released_rows(read_csv(run.spark, [name], key), name) for name in names]
    rows = reduce(DataFrame.unionByName, files, released_files.no_released_rows(run.spark))
    outcome = released_files.released_dialogues(rows, run.settings.edos.taxonomy.names)
    return Outcome(outcome.rows, outcome.dropped, rows_in=rows.count())


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
    return texts_of(histories_to_embed(_pool(clean, run), seeds, released))


def _histories(clean: DataFrame, seeds: DataFrame, released: DataFrame, turns: DataFrame, run: StageRun) -> DataFrame:
    return histories_to_embed(_pool(clean, run), seeds, released)


@stage(
    reads=(CLEAN_DIALOGUES, tables.SEEDS, tables.RELEASED_DIALOGUES, tables.TURN_EMBEDDINGS),
    writes=tables.DIALOGUE_EMBEDDINGS,
    models=(ENCODER,),
    settings=POOL,
    incremental=Incremental("history_hash", cost_per_minute=400_000, prepare=_histories, cache=True),
    units="dialogues",
    enabled_if=ON,
)
def embed_dialogues(
    histories: DataFrame, seeds: DataFrame, released: DataFrame, turn_embeddings: DataFrame, run: StageRun
) -> DataFrame:
    """Embed each distinct dialogue: its turns' embeddings by half decay, the last turn heaviest (EDOS 3.3)."""
    from udfs import dialogue_embeddings

    model = run.models[ENCODER].identity
    return dialogue_embeddings.embed_dialogues(embedded_turns(histories, turn_embeddings, model), model)


def _matches(embedded: DataFrame, targets: DataFrame, queries: DataFrame, run: StageRun) -> Outcome:
    """The nearest targets of each query, by exact cosine."""
    from udfs.similarity import find_similar

    wanted, model = run.settings.edos.expansion, run.models[ENCODER].identity
    found = find_similar(embedded, targets, wanted.floor, wanted.matches, model=model, threads=run.compute.threads)
    return similar.matched_units(found, queries, targets, wanted.matches, wanted.floor)


@stage(
    reads=(CLEAN_DIALOGUES, tables.SEEDS, tables.RELEASED_DIALOGUES, tables.DIALOGUE_EMBEDDINGS),
    writes=tables.SIMILAR_MATCHES,
    models=(ENCODER,),
    settings=POOL + SEARCH,
    units=RowAccounting("dialogues", rows_out="count(DISTINCT dialogue_id, turn)"),
    enabled_if=ON,
)
def search_similar(
    clean: DataFrame, seeds: DataFrame, released: DataFrame, embedded: DataFrame, run: StageRun
) -> Outcome:
    """Search all unlabelled dialogues for those similar to a crowd-labelled one, by exact cosine (EDOS 3.3)."""
    return _matches(embedded, similar.seed_targets(seeds), similar.queries_of(_pool(clean, run), released), run)


@stage(
    reads=(tables.SIMILAR_MATCHES, CLEAN_DIALOGUES, tables.SEEDS, tables.RELEASED_DIALOGUES),
    writes=tables.SIMILAR_DIALOGUES,
    settings=POOL + under("edos.expansion", "threshold", "held_out_threshold"),
    units="dialogues",
    enabled_if=ON,
)
def expand_labels(
    matches: DataFrame, clean: DataFrame, seeds: DataFrame, released: DataFrame, run: StageRun
) -> Outcome:
    """Give similar dialogues the label of the crowd's, from a threshold on, away from all held-out rows (EDOS 3.3)."""
    wanted = run.settings.edos.expansion
    limits = (wanted.threshold, wanted.held_out_threshold)
    return similar.expanded(matches, _pool(clean, run), seeds, released, clean, *limits)


@training_stage(LABELER, "models.encoder", "edos.taxonomy", units="turns",
                reads=(tables.SEEDS, tables.SIMILAR_DIALOGUES), models=("weak_labeler",),
                enabled_if=ON, manual=False)  # fmt: skip
def train_self_labeler(seeds: DataFrame, alike: DataFrame, run: StageRun) -> Trained:
    """Train the first dialogue classifier, which labels for its successor, on crowd and similar alone (EDOS 3.3)."""
    from etl.training.recipes.classifiers import train_and_register_self_labeler

    return train_and_register_self_labeler(seeds, alike, run)


def _asked_pool(clean: DataFrame, run: StageRun) -> DataFrame:
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
    """Ask the self-labeler about each distinct unlabelled dialogue, once per model (EDOS 3.3)."""
    return _asked_pool(clean, run).select("history_hash", "turns").dropDuplicates(["history_hash"])


@stage(
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
    enabled_if=ON,
)
def self_label(
    clean: DataFrame, scores: DataFrame, seeds: DataFrame, alike: DataFrame, released: DataFrame, run: StageRun
) -> Outcome:
    """Take the first classifier's confident answers as labels: self-labelling (EDOS 3.3)."""
    rules, model = run.settings.edos.self_labels, run.models[LABELER].identity
    pool = _asked_pool(clean, run)
    return self_labels.self_labels(pool, scores, model, seeds, alike, released, rules.confidence, rules.per_class)


@stage(
    reads=(CLEAN_DIALOGUES, tables.SELF_LABELLED, tables.DIALOGUE_EMBEDDINGS),
    writes=tables.SIMILAR_SELF_MATCHES,
    models=(ENCODER,),
    settings=POOL + SEARCH,
    units=RowAccounting("dialogues", rows_out="count(DISTINCT dialogue_id, turn)"),
    enabled_if=ON,
)
def search_similar_again(clean: DataFrame, self_labelled: DataFrame, embedded: DataFrame, run: StageRun) -> Outcome:
    """Search again, for dialogues similar to the self-labelled ones alone (EDOS 3.3, the second round)."""
    return _matches(embedded, similar.self_targets(self_labelled), similar.queries_of(_pool(clean, run)), run)


@stage(
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
    enabled_if=ON,
)
def expand_labels_round2(
    matches: DataFrame, clean: DataFrame, seeds: DataFrame, alike: DataFrame, self_labelled: DataFrame,
    released: DataFrame, run: StageRun,
) -> Outcome:  # fmt: skip
    """Give dialogues similar to the self-labelled ones their label, at a threshold of its own (EDOS 3.3)."""
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
    seeds: DataFrame, alike: DataFrame, self_labelled: DataFrame, similar_self: DataFrame, matches: DataFrame,
    clean: DataFrame, run: StageRun,
) -> Outcome:  # fmt: skip
    """Gather the labelled turns of all origins for training, nothing near a held-out one among them (EDOS 3.3)."""
    found = [alike, self_labelled, similar_self]
    return gathered(seeds, found, matches, clean, run.settings.edos.expansion.held_out_threshold)
