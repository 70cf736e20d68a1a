"""Draw the conversations that people rate: so many of each set, mixed (AugESC 6.3)."""

from pyspark.sql import DataFrame

from etl.augesc.ratings import rating_tasks
from etl.lakehouse.outcome import Outcome
from etl.lakehouse.stage import StageRun, Units, stage
from etl.lakehouse.tables.augesc import MEASURED_TEXTS, VIOLATIONS
from etl.lakehouse.tables.augesc_evaluation import RATING_TASKS

SETTINGS = "augesc.evaluation.ratings"


@stage(
    reads=(MEASURED_TEXTS, VIOLATIONS),
    writes=RATING_TASKS,
    settings=(f"{SETTINGS}.per_set", f"{SETTINGS}.sessions_per_hit", f"{SETTINGS}.seed"),
    units=Units("texts"),
    on_request=True,
)
def augesc_prepare_ratings(measured: DataFrame, violations: DataFrame, run: StageRun) -> Outcome:
    wanted = run.settings.augesc.evaluation.ratings
    return rating_tasks(
        measured, violations, per_set=wanted.per_set, per_hit=wanted.sessions_per_hit, seed=wanted.seed
    )  # fmt: skip


if __name__ == "__main__":
    augesc_prepare_ratings.main()
