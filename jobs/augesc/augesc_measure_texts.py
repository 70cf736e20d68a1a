"""Measure every text as a conversation: utterances, lengths, lines that nobody speaks (AugESC 4.3)."""

from pyspark.sql import DataFrame

from etl.augesc.measures import measured_texts, session_texts, texts_from_files
from etl.lakehouse.outcome import Outcome
from etl.lakehouse.outside import files_under
from etl.lakehouse.stage import StageRun, Units, stage
from etl.lakehouse.tables.augesc import MEASURED_TEXTS, SESSIONS


@stage(
    reads=(SESSIONS,),
    writes=MEASURED_TEXTS,
    inputs=("augesc.generated_texts",),
    units=Units("texts"),
    on_request=True,
)
def augesc_measure_texts(sessions: DataFrame, run: StageRun) -> Outcome:
    files = files_under(run.settings.augesc.generated_texts, (".jsonl", ".jsonl.gz"), "augesc.generated_texts")
    generated = texts_from_files(run.spark, files)
    texts = session_texts(sessions).unionByName(generated.rows)
    rows_in = sessions.count() + (generated.rows_in or 0)
    return Outcome(measured_texts(texts), generated.dropped, rows_in=rows_in)


if __name__ == "__main__":
    augesc_measure_texts.main()
