"""Describe an experiment and its runs in MLflow: kind, description, columns, code, data."""

import json
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from etl.pipeline.lineage import package_version

if TYPE_CHECKING:
    from mlflow import MlflowClient

DESCRIPTION = "mlflow.note.content"
"""Tag that MLflow's page shows as what a run or an experiment is."""
VIEW = "comparison"
SHARED_VIEW = f"mlflow.sharedViewState.{VIEW}"
"""Tag in which MLflow's page looks for the columns of a link with ``viewStateShareKey``."""
COLUMNS = (
    "tags.`champion`",
    "attributes.`Dataset`",
    "metrics.`held_out_macro_f1`",
    "metrics.`held_out_accuracy`",
    "metrics.`best_validation_macro_f1`",
    "metrics.`training_seconds`",
    "params.`origins`",
    "params.`seed`",
    "params.`weighted`",
    "params.`learning_rate`",
    "params.`starts_from`",
    "params.`computed_on`",
    "params.`computed_in`",
    "tags.`stage`",
    "tags.`kind`",
    "tags.`promotion`",
)
TAGS = {
    # Trainings with a table of runs; the other kind is about traces of language models.
    "mlflow.experimentKind": "custom_model_development",
    DESCRIPTION: (
        "Trainings and reports of edos-lakehouse. A run is one training, named by its model and what differs between "
        "runs of it; champion and promotion say whether the model is in use, and why. Trials of a comparison are "
        "children of one run. Inputs are Delta tables with their versions, held_out_ metrics are of "
        "rows that nothing was chosen by, and computed_on, computed_in and cpu_threads are what the hardware chose."
    ),
    SHARED_VIEW: json.dumps(
        {
            "searchFilter": "",
            "orderByKey": "attributes.start_time",
            "orderByAsc": False,
            "startTime": "ALL",
            "lifecycleFilter": "Active",
            "datasetsFilter": [],
            "modelVersionFilter": "All Runs",
            "selectedColumns": list(COLUMNS),
        }
    ),
}


def describe_experiment(client: "MlflowClient", experiment_id: str) -> None:
    """Set the experiment's kind, description and columns where nobody has set them."""
    known = client.get_experiment(experiment_id).tags
    for key, value in TAGS.items():
        if key not in known:
            client.set_experiment_tag(experiment_id, key, value)


def comparison_path(experiment_id: str) -> str:
    """Return the path of the experiment's runs with the columns of `COLUMNS`, below the server's address."""
    # Without the type the page offers what is for language models.
    return f"/#/experiments/{experiment_id}/runs?workflowType=machine_learning&viewStateShareKey={VIEW}"


def title(*parts: str | int | None) -> str:
    """Return a run's name, such as ``edos-emotion-classifier, crowd+similar, seed 13, weighted``."""
    return ", ".join(str(part) for part in parts if part not in (None, ""))


def parent_run(client: "MlflowClient", experiment_id: str, name: str, tags: Mapping[str, str], by: str) -> str:
    """Return the id of the run whose children are the trials of a comparison; create it if it does not exist.

    Args:
        by: the tag whose value tells it from other comparisons.
    """
    found = client.search_runs([experiment_id], f"tags.{by} = '{tags[by]}'", max_results=1)
    if found:
        return str(found[0].info.run_id)
    parent = client.create_run(experiment_id, run_name=name, tags={"kind": "comparison", **code_tags(), **tags})
    client.set_terminated(parent.info.run_id)
    return str(parent.info.run_id)


@cache
def code_tags() -> Mapping[str, str]:
    """Return tags of the code: the package's version, and the git commit where it runs from a checkout."""
    tags = {"mlflow.source.name": f"edos-lakehouse {package_version()}", "mlflow.source.type": "LOCAL"}
    root = Path(__file__).resolve().parents[2]
    if not (root / ".git").exists():
        return tags
    try:
        commit, changed = (
            subprocess.run(
                ["git", "-C", str(root), *words], capture_output=True, text=True, timeout=20, check=True
            ).stdout.strip()
            for words in (("rev-parse", "HEAD"), ("status", "--porcelain", "--untracked-files=no"))
        )
    except (OSError, subprocess.SubprocessError):  # no git, or a checkout of somebody else's
        return tags
    return tags | {"mlflow.source.git.commit": commit, "code.changed": "yes" if changed else "no"}
