"""Collect the annotation page's answers: which count, and what each was about (EDOS 3.2)."""

from conf.errors import InputError
from conf.taxonomy import edos_labels
from etl.edos.answers import accepted_answers, read_answers, read_keys
from etl.lakehouse.files.outside import files_under
from etl.lakehouse.outcome import Outcome
from etl.lakehouse.stage import StageRun, Units, stage
from etl.lakehouse.tables.edos import ANSWERS


@stage(
    writes=ANSWERS,
    settings=("edos.annotation.known_workers", "edos.annotation.keep_half_done"),
    inputs=("edos.annotation.answers", "edos.annotation.batches"),
    units=Units("answers"),
)
def collect_answers(run: StageRun) -> Outcome:
    annotation = run.settings.edos.annotation
    files = files_under(annotation.answers, (".json", ".jsonl", ".csv"), "edos.annotation.answers")
    if files and not annotation.batches:
        raise InputError("edos.annotation.batches is empty: name the key.jsonl of each batch that was answered")
    keys = read_keys(run.spark, files_under(annotation.batches, (".jsonl",), "edos.annotation.batches"))
    answers = read_answers(run.spark, files).cache()
    outcome = accepted_answers(answers, keys, edos_labels(), annotation)
    return Outcome(outcome.rows, outcome.dropped, rows_in=answers.count())


if __name__ == "__main__":
    collect_answers.main()
