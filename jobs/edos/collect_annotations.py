"""Collect the crowd's answers from files of votes; the unit is a turn with its history (EDOS 3.2)."""

from conf.taxonomy import edos_labels
from etl.edos.votes import answers_from_votes
from etl.lakehouse.outcome import Outcome
from etl.lakehouse.outside import read_csv
from etl.lakehouse.stage import StageRun, Units, stage
from etl.lakehouse.tables.edos import ANNOTATIONS


@stage(writes=ANNOTATIONS, inputs=("edos.crowd_votes",), units=Units("votes"))
def collect_annotations(run: StageRun) -> Outcome:
    votes = read_csv(run.spark, run.settings.edos.crowd_votes, "edos.crowd_votes")
    outcome = answers_from_votes(votes, edos_labels(), "released votes")
    return Outcome(outcome.rows, outcome.dropped, rows_in=3 * votes.count())


if __name__ == "__main__":
    collect_annotations.main()
