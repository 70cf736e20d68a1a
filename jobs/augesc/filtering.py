"""Measure texts, check the eight requirements, and keep and export the AugESC conversations (AugESC 4.3)."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

from pyspark.sql import DataFrame

from etl.augesc import generation as requests
from etl.augesc import measures, requirements
from etl.augesc.conversation_texts import INSTRUCTION, instruction
from etl.augesc.settings import AugescPublishing, FilterSettings, GenerationSettings, Reading, SamplesPerQuery
from etl.augesc.tables import (
    AUGMENTED,
    CONVERSATIONS,
    MEASURED_TEXTS,
    PAPER_READING,
    QUERIES,
    ROLE_PLAYS,
    SESSIONS,
    UNTUNED,
    VIOLATIONS,
)
from etl.common.labelled_files import files_under
from etl.pipeline import At, RowAccounting, StageRun, stage
from etl.pipeline.outcome import Outcome

OwnWords = Annotated[str, At("augesc.prompt.text")]


MEASURED = (SESSIONS, QUERIES, AUGMENTED, UNTUNED, ROLE_PLAYS)
Named = Annotated[tuple[str, ...], At("augesc.generated_texts")]


def _measured(
    frames: Sequence[DataFrame],
    generation: GenerationSettings,
    samples: SamplesPerQuery,
    named: Sequence[str],
    own: str,
    reading: Reading,
    run: StageRun,
) -> Outcome:
    """Return every text, measured by a reading; ``frames`` are those of ``MEASURED``."""
    sessions, queries, augmented, untuned, plays = frames
    task = instruction(own)
    files = files_under(named, (".jsonl", ".jsonl.gz"), "augesc.generated_texts")
    texts = [measures.texts_from_files(run.spark, files)]
    if generation.augments:
        asked = requests.augmenter_requests(queries, generation, samples, task)
        model = run.model("augmenter").identity
        texts.append(requests.generated_texts(asked, augmented, model, "augmenter"))
    if generation.compares_untuned:
        asked = requests.untuned_requests(queries, generation, task)
        model = run.model("augmenter_base").identity
        texts.append(requests.generated_texts(asked, untuned, model, "untuned"))
    if generation.plays_roles:
        texts.append(Outcome(requests.played_texts(plays, task), rows_in=plays.count()))
    outcome = measures.all_texts(measures.session_texts(sessions, task), texts)
    measured = Outcome(measures.measured_texts(outcome.rows, task, reading), outcome.dropped, rows_in=outcome.rows_in)
    return files.with_skipped(measured, run.spark)


@stage(
    manual=True,
    reads=MEASURED,
    writes=MEASURED_TEXTS,
    models=("augmenter", "augmenter_base"),
    units="texts",
    resources=(INSTRUCTION,),
    version=6,
)
def augesc_measure_texts(
    sessions: DataFrame,
    queries: DataFrame,
    augmented: DataFrame,
    untuned: DataFrame,
    plays: DataFrame,
    generation: GenerationSettings,
    samples: SamplesPerQuery,
    named: Named,
    own: OwnWords,
    reading: Annotated[Reading, At("augesc.reading")],
    run: StageRun,
) -> Outcome:
    """Measure every text as a conversation: utterances, lengths, lines without a speaker (AugESC 4.3)."""
    return _measured((sessions, queries, augmented, untuned, plays), generation, samples, named, own, reading, run)


@stage(
    manual=True,
    reads=MEASURED,
    writes=PAPER_READING,
    models=("augmenter", "augmenter_base"),
    units="texts",
    resources=(INSTRUCTION,),
)
def augesc_check_paper_reading(
    sessions: DataFrame,
    queries: DataFrame,
    augmented: DataFrame,
    untuned: DataFrame,
    plays: DataFrame,
    generation: GenerationSettings,
    samples: SamplesPerQuery,
    named: Named,
    own: OwnWords,
    filters: FilterSettings,
    run: StageRun,
) -> Outcome:
    """Check the requirements where each line is one utterance, as the paper reads texts, for Table 1 (AugESC 4.3)."""
    frames = (sessions, queries, augmented, untuned, plays)
    measured = _measured(frames, generation, samples, named, own, "paper", run)
    return replace(measured, rows=requirements.violations(measured.rows, filters))


@stage(manual=True, reads=(MEASURED_TEXTS,), writes=VIOLATIONS, units="texts", version=2)
def augesc_check_texts(measured: DataFrame, filters: FilterSettings) -> DataFrame:
    """Check each of the eight requirements for every text (AugESC 4.3)."""
    return requirements.violations(measured, filters)


@stage(
    manual=True,
    reads=(MEASURED_TEXTS, VIOLATIONS),
    writes=CONVERSATIONS,
    units=RowAccounting("texts", rows_in="count_if(method = 'augmenter')"),
    version=4,
)
def augesc_keep_conversations(measured: DataFrame, violations: DataFrame) -> Outcome:
    """Keep the tuned model's texts that meet all requirements: the AugESC conversations (AugESC 4.3, 5)."""
    return requirements.kept_conversations(measured, violations)


@stage(
    manual=True,
    reads=(CONVERSATIONS, QUERIES),
    writes=None,
    shows="files under `augesc.publishing.folder`",
)
def augesc_export(kept: DataFrame, queries: DataFrame, publishing: AugescPublishing, run: StageRun) -> None:
    """Export the AugESC conversations: JSON Lines in the schema of ESConv and Parquet, with a card (AugESC 5)."""
    from etl.augesc.export import publish_augesc

    publish_augesc(kept, queries, run, publishing)
