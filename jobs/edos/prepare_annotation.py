"""Make HITs for the crowd: the most readable turns of each class, with quiz items (EDOS 3.2)."""

from pyspark.sql import DataFrame

from conf.taxonomy import edos_labels
from etl.edos.quiz import situations
from etl.edos.readability import correlations
from etl.edos.tasks import annotation_tasks
from etl.lakehouse.files.outside import files_under, read_csv
from etl.lakehouse.outcome import Outcome
from etl.lakehouse.stage import StageRun, Units, stage
from etl.lakehouse.tables.edos import ANNOTATION_TASKS, READABILITY, WEAK_LABELS
from etl.lakehouse.tables.subtitles import CLEAN_DIALOGUES


@stage(
    reads=(READABILITY, WEAK_LABELS, CLEAN_DIALOGUES),
    writes=ANNOTATION_TASKS,
    settings=(
        "edos.annotation.per_class", "edos.annotation.dialogues_per_hit", "edos.annotation.quiz_per_hit",
        "edos.annotation.quiz_characters", "edos.annotation.seed",
    ),
    inputs=("edos.empathetic_dialogues",),
    units=Units("turns", rows_out="count_if(quiz_label IS NULL)"),
    on_request=True,
)  # fmt: skip
def prepare_annotation(readability: DataFrame, weak_labels: DataFrame, dialogues: DataFrame, run: StageRun) -> Outcome:
    annotation, source = run.settings.edos.annotation, run.settings.edos.empathetic_dialogues
    f, d = correlations(readability)
    run.say(f"readability correlates with f {f or 0:+.2f}, with d {d or 0:+.2f}")
    pool = None
    if source is None:
        run.say("edos.empathetic_dialogues is not set: HITs without a quiz")
    else:
        files = files_under([source], (".csv", ".csv.gz"), "edos.empathetic_dialogues")
        rows = read_csv(run.spark, files, "edos.empathetic_dialogues")
        pool = situations(rows, edos_labels(), annotation.quiz_characters)
    return annotation_tasks(
        readability, weak_labels, dialogues, pool, per_class=annotation.per_class,
        per_hit=annotation.dialogues_per_hit, quiz_per_hit=annotation.quiz_per_hit, seed=annotation.seed,
    )  # fmt: skip


if __name__ == "__main__":
    prepare_annotation.main()
