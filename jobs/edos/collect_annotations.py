"""Collect the crowd's answers: files of votes, and the page's; the unit is a turn with its history (EDOS 3.2)."""

from pyspark.sql import DataFrame

from conf.taxonomy import edos_labels
from etl.edos.votes import all_annotations
from etl.lakehouse.files.outside import read_csv
from etl.lakehouse.outcome import Outcome
from etl.lakehouse.stage import StageRun, Units, stage
from etl.lakehouse.tables.edos import ANNOTATIONS, ANSWERS


@stage(reads=(ANSWERS,), writes=ANNOTATIONS, inputs=("edos.crowd_votes",), units=Units("votes"))
def collect_annotations(answers: DataFrame, run: StageRun) -> Outcome:
    files, votes = run.settings.edos.crowd_votes, None
    if files or answers.isEmpty():
        votes = read_csv(run.spark, files, "edos.crowd_votes")
    return all_annotations(votes, answers, edos_labels())


if __name__ == "__main__":
    collect_annotations.main()
