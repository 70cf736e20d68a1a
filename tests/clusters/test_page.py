"""What docs/clusters.md says, as far as it can be checked without a cluster: requests, arguments, settings, names."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import botocore.session
import pytest
import yaml
from botocore.validate import validate_parameters

from conf.settings import Settings, load_settings
from etl.cli.bundle import databricks_jobs
from etl.cli.register import GLUE
from etl.pipeline.jars import PACKAGES
from jobs import all_stages
from tests.command_lines import parsed

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "clusters.md").read_text("utf-8")
SUBMIT = {"--master", "--deploy-mode", "--properties-file", "--conf", "--py-files", "--archives", "--files"}
"""The options of spark-submit that the page uses; each takes a value."""


ELSEWHERE = {
    "aws": "an AWS account",
    "zip": "for the bucket of the block's next command",
    "docker": "a Docker daemon",
    "conda": "conda",
    "databricks": "a Databricks workspace",
    "export": "the addresses of a cluster",
}
"""Programs of the page whose commands cannot run here, and what they need."""


def fenced(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


def checked(name: str) -> Any:
    found = re.findall(rf"^<!-- checked: {name} -->\n```json\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    assert len(found) == 1, name
    return json.loads(found[0])


def refuse_unknown(service: str, operation: str, request: dict[str, Any]) -> None:
    model = botocore.session.get_session().get_service_model(service)
    validate_parameters(request, model.operation_model(operation).input_shape)


def submitted(words: list[str]) -> list[str]:
    """The arguments after the program of a spark-submit command; its options must be known."""
    place = 1 if words[0] == "spark-submit" else 0
    while words[place].startswith("--"):
        assert words[place] in SUBMIT, words[place]
        place += 2
    assert words[place].endswith(("jobs/__main__.py", "/main.py")), words[place]
    return words[place + 1 :]


def commands(block: str) -> list[list[str]]:
    """The words of each command of a block."""
    lines = block.replace("\\\n", " ").splitlines()
    return [shlex.split(part) for line in lines for part in line.split(" && ")]


def needs_elsewhere(block: str, words: list[str]) -> bool:
    """Whether a command needs a machine or an account that we do not have."""
    program = words[0]
    if program == "spark-submit":
        return "glue" in words or any(word.startswith("spark.task.resource.gpu.amount=") for word in words)
    return program in ELSEWHERE or (block.startswith("conda ") and program.startswith("environment/bin/"))


def programs() -> list[list[str]]:
    """The arguments of our command line in every command and request of the page."""
    lines = "\n".join(fenced("console")).replace("\\\n", " ").splitlines()
    found = [submitted(shlex.split(line)) for line in lines if line.startswith("spark-submit")]
    found.append(submitted(checked("emr steps")[0]["HadoopJarStep"]["Args"]))
    found.append(checked("emr-serverless job")["jobDriver"]["sparkSubmit"]["entryPointArguments"])
    return found


def test_emr_requests_have_the_apis_form() -> None:
    steps = checked("emr steps")
    configurations = checked("emr configurations")
    refuse_unknown("emr", "AddJobFlowSteps", {"JobFlowId": "j-1", "Steps": steps})
    cluster = {"Name": "edos", "Instances": {}, "Configurations": configurations}
    refuse_unknown("emr", "RunJobFlow", cluster)
    with_gpus = {**cluster, "Configurations": [*configurations, *checked("emr gpu configurations")]}
    refuse_unknown("emr", "RunJobFlow", with_gpus)
    with pytest.raises(Exception, match="Unknown parameter"):
        refuse_unknown("emr", "RunJobFlow", {**cluster, "Configurations": [{"classification": "yarn-site"}]})
    job = checked("emr-serverless job")
    refuse_unknown("emr-serverless", "StartJobRun", job)
    with pytest.raises(Exception, match="Unknown parameter"):
        refuse_unknown("emr-serverless", "StartJobRun", {**job, "jobDrivers": {}})
    submitted([*shlex.split(job["jobDriver"]["sparkSubmit"]["sparkSubmitParameters"]), "/main.py"])


def test_commands_that_can_run_here_are_run() -> None:
    """A command is in a block that `make cluster` runs, or needs what is not here."""
    run = set(re.findall(r"^<!-- runs: \S+ -->\n```console\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE))
    assert len(run) == 5
    assert run <= set(fenced("console"))
    left = [(block, words) for block in fenced("console") if block not in run for words in commands(block)]
    assert left
    assert not [words for block, words in left if not needs_elsewhere(block, words)]
    used = {words[0] for _, words in left}
    assert ELSEWHERE.keys() <= used
    # The rule finds what it is for: the commands that are run need nothing else.
    assert not [words for block in run for words in commands(block) if needs_elsewhere(block, words)]


def test_arguments_are_understood() -> None:
    stages = {stage.name for stage in all_stages()}
    found = programs()
    assert len(found) >= 8
    for arguments in found:
        options = parsed(arguments)
        assert {*(options.get("to") or "").split(",")} - {""} <= stages
        load_settings(options["profile"], [], options["overrides"])


def test_settings_files_are_settings() -> None:
    assert len(fenced("yaml")) == 3
    for text in fenced("yaml"):
        Settings.model_validate(yaml.safe_load(text))


def test_versions_are_those_of_the_project() -> None:
    delta = next(one for one in PACKAGES if "delta-spark" in one)
    assert delta in PAGE
    version = re.search(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text("utf-8"), re.MULTILINE)
    assert version is not None
    assert set(re.findall(r"edos_lakehouse-([\d.]+)-py3", PAGE)) == {version[1]}
    assert set(re.findall(r"delta-storage-s3-dynamodb:([\d.]+)", PAGE)) == {delta.rpartition(":")[2]}
    factory = GLUE["spark.hadoop.hive.metastore.client.factory.class"]
    site = checked("emr configurations")[1]["Properties"]
    assert site["hive.metastore.client.factory.class"] == factory


def test_the_variables_of_the_bundle_are_explained() -> None:
    table = PAGE.partition("| variable | what it is | default |")[2].partition("\n\n")[0]
    explained = set(re.findall(r"`(\w+)`", " ".join(re.findall(r"^\| ([^|]+) \|", table, re.MULTILINE))))
    bundle = yaml.safe_load((ROOT / "databricks.yml").read_text("utf-8"))
    assert explained == set(bundle["variables"])
    assert set(re.findall(r"databricks bundle run --target dev (\w+)", PAGE)) <= set(databricks_jobs(all_stages()))
    assert set(re.findall(r"--target (\w+)", PAGE)) <= set(bundle["targets"])
    settings = load_settings("databricks")
    assert f"`{settings.training.weak_labeler.name}`" in PAGE


def test_links_and_files_exist() -> None:
    heads = {
        re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in re.findall(r"^#+ (.+)$", PAGE, re.MULTILINE)
    }
    for anchor in re.findall(r"\]\(#([^)]+)\)", PAGE):
        assert anchor in heads, anchor
    for path in re.findall(r"`((?:jobs|etl|conf|docs)/[\w./]+|databricks\.yml)`", PAGE):
        assert (ROOT / path).exists(), path
    targets = set(re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    named = re.findall(r"(?:^|`)make ([a-z0-9-]+)", PAGE, re.MULTILINE)
    assert named
    assert set(named) <= targets


def test_what_was_not_run_says_so() -> None:
    """Every section with commands either has a block that `make cluster` runs, or says that it was not run here."""
    for section in re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]:
        if "```console" in section:
            assert "<!-- runs: " in section or "ot run here" in section, section.partition("\n")[0]
