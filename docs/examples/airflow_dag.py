"""Airflow: the lakehouse grows each night, is checked, and is maintained on Sundays.

Put this file into the folder of DAGs. The command ``edos-lakehouse`` must be installed where the tasks run; on a
cluster, put the words of ``spark-submit`` before it (docs/clusters.md). For Airflow 2.9 and 3.
"""

import os
import subprocess
from datetime import datetime, timedelta

try:
    from airflow.sdk import dag, task
    from airflow.sdk.exceptions import AirflowException, AirflowFailException
except ModuleNotFoundError:  # Airflow 2
    from airflow.decorators import dag, task
    from airflow.exceptions import AirflowException, AirflowFailException

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


def execute(words: list[str]) -> None:
    """Run a command of the lakehouse; a failure that a retry cannot cure fails the task at once."""
    status = subprocess.run([*PROGRAM, *words], check=False).returncode
    if status in NOT_AGAIN:
        raise AirflowFailException(f"{words[0]}: {NOT_AGAIN[status]}")
    if status:
        raise AirflowException(f"{words[0]} ended with exit status {status}")


@dag(
    schedule="0 2 * * *",
    start_date=datetime(2026, 1, 1),
    catchup=False,
    max_active_runs=1,
    default_args={"retries": 2, "retry_delay": timedelta(minutes=15)},
)
def edos_lakehouse() -> None:
    """Run, then check; on Sundays maintain."""

    @task
    def run() -> None:
        execute(RUN)

    @task(retries=0)
    def check() -> None:
        execute(CHECK)

    @task.short_circuit
    def is_sunday(day: str) -> bool:
        return datetime.fromisoformat(day).isoweekday() == 7

    @task
    def maintain() -> None:
        execute(MAINTAIN)

    run() >> check() >> is_sunday("{{ ds }}") >> maintain()


nightly = edos_lakehouse()
