"""Dagster: the lakehouse grows each night and is checked; it is maintained on Sundays.

Start it with ``dagster dev -f docs/examples/dagster_jobs.py``. The command ``edos-lakehouse`` must be installed where
the ops run; on a cluster, put the words of ``spark-submit`` before it (docs/clusters.md). Needs Dagster 1.6 or newer.
"""

import os
import subprocess

import dagster

PROGRAM = os.environ.get("EDOS_LAKEHOUSE", "edos-lakehouse").split()
CONFIG = os.environ.get("EDOS_CONFIG", "my.yaml")
RUN = ["run", "--to", "clean_dialogues", "--config", CONFIG]
CHECK = ["check", "--to", "clean_dialogues", "--json", "--config", CONFIG]
MAINTAIN = ["maintain", "--config", CONFIG]
NOT_AGAIN = {
    2: "bad settings or input: correct what the log names",
    3: "files of the sources are gone or unreadable: restore them, or run once with --accept-loss",
    5: "a check found a fault: look at what it found",
}
"""Exit statuses after which the same command would fail again. After 1 and 4 it is retried."""
RETRIES = dagster.RetryPolicy(max_retries=2, delay=900)


def execute(words: list[str]) -> None:
    """Run a command of the lakehouse; a failure that a retry cannot cure fails the op at once."""
    status = subprocess.run([*PROGRAM, *words], check=False).returncode
    if status:
        reason = NOT_AGAIN.get(status, f"exit status {status}")
        raise dagster.Failure(f"{words[0]}: {reason}", allow_retries=status not in NOT_AGAIN)


@dagster.op(retry_policy=RETRIES, out=dagster.Out(dagster.Nothing))
def run_stages() -> None:
    """Run what has work."""
    execute(RUN)


@dagster.op(ins={"after": dagster.In(dagster.Nothing)})
def check_run() -> None:
    """Compare the night with the one before."""
    execute(CHECK)


@dagster.op(retry_policy=RETRIES)
def maintain_tables() -> None:
    """Join small files and delete old ones."""
    execute(MAINTAIN)


@dagster.job
def nightly() -> None:
    """Run, then check."""
    check_run(run_stages())


@dagster.job
def weekly() -> None:
    """Maintain the tables."""
    maintain_tables()


defs = dagster.Definitions(
    jobs=[nightly, weekly],
    schedules=[
        dagster.ScheduleDefinition(job=nightly, cron_schedule="0 2 * * *"),
        dagster.ScheduleDefinition(job=weekly, cron_schedule="0 7 * * 0"),
    ],
)
