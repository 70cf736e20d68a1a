"""Measure every text as a conversation: utterances, lengths, lines that nobody speaks (AugESC 4.3)."""

from pyspark.sql import DataFrame

from etl.augesc.generation import augmenter_asked, generated_texts, played_texts, untuned_asked
from etl.augesc.measures import all_texts, measured_texts, session_texts, texts_from_files
from etl.lakehouse.files.outside import files_under
from etl.lakehouse.outcome import Outcome
from etl.lakehouse.stage import Model, StageRun, Units, stage
from etl.lakehouse.tables.augesc import MEASURED_TEXTS, QUERIES, ROLE_PLAYS, SESSIONS
from etl.lakehouse.tables.llm import AUGMENTED, UNTUNED


@stage(
    reads=(SESSIONS, QUERIES, AUGMENTED, UNTUNED, ROLE_PLAYS),
    writes=MEASURED_TEXTS,
    asks=(Model("augmenter"), Model("augmenter_base")),
    settings=("augesc.generation", "augesc.samples_per_query"),
    inputs=("augesc.generated_texts",),
    units=Units("texts"),
    on_request=True,
)
def augesc_measure_texts(
    sessions: DataFrame, queries: DataFrame, augmented: DataFrame, untuned: DataFrame, plays: DataFrame, run: StageRun
) -> Outcome:
    augesc = run.settings.augesc
    files = files_under(augesc.generated_texts, (".jsonl", ".jsonl.gz"), "augesc.generated_texts")
    given = [texts_from_files(run.spark, files)]
    if augesc.generation.augments:
        asked = augmenter_asked(queries, augesc)
        given.append(generated_texts(asked, augmented, run.models["augmenter"].identity, "augmenter"))
    if augesc.generation.compares_untuned:
        asked = untuned_asked(queries, augesc)
        given.append(generated_texts(asked, untuned, run.models["augmenter_base"].identity, "untuned"))
    if augesc.generation.plays_roles:
        given.append(Outcome(played_texts(plays), rows_in=plays.count()))
    outcome = all_texts(session_texts(sessions), given)
    return Outcome(measured_texts(outcome.rows), outcome.dropped, rows_in=outcome.rows_in)


if __name__ == "__main__":
    augesc_measure_texts.main()
