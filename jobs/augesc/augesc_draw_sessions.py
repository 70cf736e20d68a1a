"""Draw the sessions that a model is tuned on, as evenly over the problem types as the data allow (AugESC 4.1)."""

from pyspark.sql import DataFrame

from etl.augesc.sessions import training_draw
from etl.lakehouse.outcome import Outcome
from etl.lakehouse.stage import StageRun, Units, stage
from etl.lakehouse.tables.augesc import SESSIONS, TRAINING_SESSIONS


@stage(
    reads=(SESSIONS,),
    writes=TRAINING_SESSIONS,
    settings=("augesc.session_rules.training", "augesc.session_rules.seed"),
    units=Units("sessions"),
    on_request=True,
)
def augesc_draw_sessions(sessions: DataFrame, run: StageRun) -> Outcome:
    rules = run.settings.augesc.session_rules
    return training_draw(sessions, rules.training, rules.seed)


if __name__ == "__main__":
    augesc_draw_sessions.main()
