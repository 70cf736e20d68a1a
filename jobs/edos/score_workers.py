"""Score each HIT that a worker did: quiz, time, pay and bonus (EDOS 3.2, 7)."""

from pyspark.sql import DataFrame

from etl.edos.answers import assignments
from etl.lakehouse.outcome import Outcome
from etl.lakehouse.stage import StageRun, Units, stage
from etl.lakehouse.tables.edos import ANSWERS, ASSIGNMENTS


@stage(
    reads=(ANSWERS,),
    writes=ASSIGNMENTS,
    settings=("edos.annotation.quiz_to_pass", "edos.annotation.reward", "edos.annotation.bonus"),
    units=Units("assignments", "count(DISTINCT hit_id, worker_id)"),
)
def score_workers(answers: DataFrame, run: StageRun) -> Outcome:
    annotation = run.settings.edos.annotation
    pay = {"reward": annotation.reward, "bonus": annotation.bonus}
    return Outcome(assignments(answers, pass_at=annotation.quiz_to_pass, **pay))


if __name__ == "__main__":
    score_workers.main()
