"""Read support conversations between people: ESConv in the forms that are passed on (AugESC 4.1)."""

from etl.augesc.sessions import ENDINGS, read_sessions, usable_sessions
from etl.lakehouse.files.outside import files_under
from etl.lakehouse.outcome import Outcome
from etl.lakehouse.stage import StageRun, Units, stage
from etl.lakehouse.tables.augesc import SESSIONS


@stage(
    writes=SESSIONS,
    settings=("augesc.session_rules.max_characters",),
    inputs=("augesc.sessions", "augesc.contrast_sessions"),
    units=Units("sessions"),
    on_request=True,
)
def augesc_read_sessions(run: StageRun) -> Outcome:
    augesc = run.settings.augesc
    files = files_under(augesc.sessions, ENDINGS, "augesc.sessions")
    contrast = files_under(augesc.contrast_sessions, ENDINGS, "augesc.contrast_sessions")
    read = read_sessions(run.spark, files, contrast).cache()
    outcome = usable_sessions(read, augesc.session_rules.max_characters)
    return Outcome(outcome.rows, outcome.dropped, rows_in=read.count())


if __name__ == "__main__":
    augesc_read_sessions.main()
