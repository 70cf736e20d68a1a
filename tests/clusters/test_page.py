"""What docs/clusters.md, emr.md and databricks.md say, as far as it can be checked without a cluster."""

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
from jobs import all_stages
from tests.command_lines import parsed

ROOT = Path(__file__).resolve().parents[2]
PAGES = [(ROOT / "docs" / name).read_text("utf-8") for name in ("clusters.md", "emr.md", "databricks.md")]
EXAMPLES = ROOT / "docs" / "examples" / "emr"
SUBMIT = {"--master", "--deploy-mode", "--properties-file", "--conf", "--py-files", "--archives", "--files"}
"""The options of spark-submit that the pages use; each takes a value."""


def fenced(language: str) -> list[str]:
    return [
        block for page in PAGES for block in re.findall(rf"^```{language}\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    ]


def example(name: str) -> Any:
    return json.loads((EXAMPLES / name).read_text("utf-8"))


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


def programs() -> list[list[str]]:
    """The arguments of our command line in every command and request of the pages."""
    lines = "\n".join(fenced("console")).replace("\\\n", " ").splitlines()
    found = [submitted(shlex.split(line)) for line in lines if line.startswith("spark-submit")]
    found.append(submitted(example("step.json")[0]["HadoopJarStep"]["Args"]))
    found.append(example("serverless_job.json")["jobDriver"]["sparkSubmit"]["entryPointArguments"])
    return found


def test_emr_requests_have_the_apis_form() -> None:
    steps = example("step.json")
    configurations = example("configurations.json")
    refuse_unknown("emr", "AddJobFlowSteps", {"JobFlowId": "j-1", "Steps": steps})
    cluster = {"Name": "edos", "Instances": {}, "Configurations": configurations}
    refuse_unknown("emr", "RunJobFlow", cluster)
    with_gpus = {**cluster, "Configurations": [*configurations, *example("gpu_configurations.json")]}
    refuse_unknown("emr", "RunJobFlow", with_gpus)
    with pytest.raises(Exception, match="Unknown parameter"):
        refuse_unknown("emr", "RunJobFlow", {**cluster, "Configurations": [{"classification": "yarn-site"}]})
    job = example("serverless_job.json")
    refuse_unknown("emr-serverless", "StartJobRun", job)
    with pytest.raises(Exception, match="Unknown parameter"):
        refuse_unknown("emr-serverless", "StartJobRun", {**job, "jobDrivers": {}})
    submitted([*shlex.split(job["jobDriver"]["sparkSubmit"]["sparkSubmitParameters"]), "/main.py"])


def test_arguments_are_understood() -> None:
    stages = {stage.name for stage in all_stages()}
    found = programs()
    assert len(found) >= 8
    for arguments in found:
        options = parsed(arguments)
        assert {*(options.get("to") or "").split(",")} - {""} <= stages
        load_settings(options["profile"], [], options["overrides"])


def test_settings_files_are_settings() -> None:
    assert fenced("yaml")
    for text in fenced("yaml"):
        Settings.model_validate(yaml.safe_load(text))
