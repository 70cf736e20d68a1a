"""Measure texts, check the eight requirements, and keep and export the AugESC conversations (AugESC 4.3)."""

from pyspark.sql import DataFrame

from etl.augesc import generation, measures, requirements
from etl.augesc.texts import INSTRUCTION
from etl.common.labelled_files import files_under
from etl.pipeline import RowAccounting, StageRun, manual_stage
from etl.tables.augesc import CONVERSATIONS, MEASURED_TEXTS, QUERIES, ROLE_PLAYS, SESSIONS, VIOLATIONS
from etl.tables.llm import AUGMENTED, UNTUNED
from etl.tables.outcome import Outcome


@manual_stage(
    reads=(SESSIONS, QUERIES, AUGMENTED, UNTUNED, ROLE_PLAYS),
    writes=MEASURED_TEXTS,
    models=("augmenter", "augmenter_base"),
    settings=("augesc.generation", "augesc.samples_per_query"),
    inputs=("augesc.generated_texts",),
    units="texts",
    resources=(INSTRUCTION,),
)
def augesc_measure_texts(
    sessions: DataFrame, queries: DataFrame, augmented: DataFrame, untuned: DataFrame, plays: DataFrame, run: StageRun
) -> Outcome:
    """Measure every text as a conversation: utterances, lengths, lines without a speaker (AugESC 4.3)."""
    augesc = run.settings.augesc
    files = files_under(augesc.generated_texts, (".jsonl", ".jsonl.gz"), "augesc.generated_texts")
    texts = [measures.texts_from_files(run.spark, files)]
    if augesc.generation.augments:
        requests = generation.augmenter_requests(queries, augesc)
        model = run.models["augmenter"].identity
        texts.append(generation.generated_texts(requests, augmented, model, "augmenter"))
    if augesc.generation.compares_untuned:
        requests = generation.untuned_requests(queries, augesc)
        model = run.models["augmenter_base"].identity
        texts.append(generation.generated_texts(requests, untuned, model, "untuned"))
    if augesc.generation.plays_roles:
        texts.append(Outcome(generation.played_texts(plays), rows_in=plays.count()))
    outcome = measures.all_texts(measures.session_texts(sessions), texts)
    measured = Outcome(measures.measured_texts(outcome.rows), outcome.dropped, rows_in=outcome.rows_in)
    return files.with_skipped(measured, run.spark)


@manual_stage(reads=(MEASURED_TEXTS,), writes=VIOLATIONS, settings=("augesc.filters",), units="texts")
def augesc_check_texts(measured: DataFrame, run: StageRun) -> DataFrame:
    """Check each of the eight requirements for every text (AugESC 4.3)."""
    return requirements.violations(measured, run.settings.augesc.filters)


@manual_stage(
    reads=(MEASURED_TEXTS, VIOLATIONS),
    writes=CONVERSATIONS,
    units=RowAccounting("texts", rows_in="count_if(method = 'augmenter')"),
)
def augesc_keep_conversations(measured: DataFrame, violations: DataFrame, run: StageRun) -> Outcome:
    """Keep the tuned model's texts that meet all requirements: the AugESC conversations (AugESC 4.3, 5)."""
    return requirements.kept_conversations(measured, violations)


@manual_stage(
    reads=(CONVERSATIONS, QUERIES),
    writes=None,
    settings=("augesc.publishing",),
    shows="files under `augesc.publishing.folder`",
)
def augesc_export(kept: DataFrame, queries: DataFrame, run: StageRun) -> None:
    """Export the AugESC conversations: JSON Lines in the schema of ESConv and Parquet, with a card (AugESC 5)."""
    from etl.publishing.augesc_export import publish_augesc

    publish_augesc(kept, queries, run)
