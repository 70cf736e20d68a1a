"""Write the reference under ``docs/``, its picture of the pipeline and ``databricks.yml`` from the declarations.

    python -m etl.cli.documents [--check]

writes the files that differ from the declarations of stages, tables, views and settings; with ``--check`` nothing is
written and the exit status is 1 where a file is out of date.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from etl.cli.pipeline_picture import THEMES, pipeline_svg
from etl.cli.reference import DATA_SETS, settings_page, stages_page, tables_page, views_page
from etl.pipeline.jars import EXCLUDED, PACKAGES
from etl.pipeline.planner import feeds
from etl.pipeline.stages import Stage
from jobs import all_stages

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = "edos-lakehouse"
RUNTIME = "16.4.x-cpu-ml-scala2.12"
_CLUSTER = "stages"
_HEADER = "# Written by `python -m etl.cli.documents` from the stages under jobs/: change those, not this file.\n"


def databricks_job(stages: Sequence[Stage]) -> dict[str, Any]:
    """Return a Databricks job with one wheel task per stage, each after the stages whose output it reads.

    Args:
        stages: in order; those that run only when named are no part of it.

    Returns:
        The job as a bundle's resource: name, job_clusters, tasks.
    """
    libraries = _libraries()  # one list, so that YAML writes it once
    return {
        "name": PACKAGE,
        "max_concurrent_runs": 1,
        "job_clusters": [{"job_cluster_key": _CLUSTER, "new_cluster": _cluster()}],
        "tasks": [
            _task(stage, [first.name for first in stages if feeds(first, stage)], libraries)
            for stage in stages
            if not stage.manual
        ],
    }


def databricks_yaml(stages: Sequence[Stage]) -> str:
    """Return the text of ``databricks.yml``: a bundle that builds the wheel and deploys :func:`databricks_job`."""
    bundle = {
        "bundle": {"name": PACKAGE},
        "artifacts": {"wheel": {"type": "whl", "path": ".", "build": "python -m build --wheel"}},
        "variables": {
            "config": {"description": "YAML file of settings in a volume: sources, labelled sets, names of models"},
            "node_type": {"description": "machine type of the job cluster, as your cloud calls it"},
            "workers": {"description": "how many workers", "default": 4},
            "runtime": {"description": "15.4 or 16.4 ML, Scala 2.12; -gpu-ml- for GPUs", "default": RUNTIME},
        },
        "resources": {"jobs": {PACKAGE.replace("-", "_"): databricks_job(stages)}},
        "targets": {"dev": {"mode": "development", "default": True}},
    }
    return _HEADER + yaml.safe_dump(bundle, sort_keys=False, width=110)


def generated() -> dict[str, str]:
    """Return the text of each generated file by its path in the repository."""
    stages = all_stages()
    pictures = {f"docs/pipeline-{theme}.svg": pipeline_svg(stages, DATA_SETS, theme) for theme in THEMES}
    return {
        "docs/stages.md": stages_page(stages),
        "docs/tables.md": tables_page(),
        "docs/views.md": views_page(),
        "docs/settings.md": settings_page(),
        **pictures,
        "databricks.yml": databricks_yaml(stages),
    }


def outdated(root: Path = ROOT) -> list[str]:
    """Return the paths of the files that differ from the declarations."""
    return [
        path
        for path, text in generated().items()
        if not (root / path).is_file() or (root / path).read_text("utf-8") != text
    ]


def write(root: Path = ROOT) -> list[str]:
    """Write the files that are out of date; return their paths."""
    stale = outdated(root)
    texts = generated()
    for path in stale:
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(texts[path], "utf-8")
    return stale


def main(arguments: Sequence[str] | None = None) -> int:
    """Write or check; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m etl.cli.documents", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; fail where a file is out of date")
    if parser.parse_args(arguments).check:
        stale = outdated()
        if stale:
            print(f"out of date: {', '.join(stale)}: run python -m etl.cli.documents", file=sys.stderr)
        return int(bool(stale))
    written = write()
    print(f"written: {', '.join(written)}" if written else "all files are up to date")
    return 0


def _cluster() -> dict[str, Any]:
    return {
        "spark_version": "${var.runtime}",
        "node_type_id": "${var.node_type}",
        "num_workers": "${var.workers}",
        "data_security_mode": "SINGLE_USER",  # what the bundle's schema calls dedicated access
    }


def _task(stage: Stage, after: list[str], libraries: list[dict[str, Any]]) -> dict[str, Any]:
    depends = {"depends_on": [{"task_key": name} for name in after]} if after else {}
    return {
        "task_key": stage.name,
        "description": stage.title,
        **depends,
        "job_cluster_key": _CLUSTER,
        "python_wheel_task": {
            "package_name": PACKAGE,
            "entry_point": PACKAGE,
            "parameters": [stage.name, "--profile", "databricks", "--config", "${var.config}"],
        },
        "libraries": libraries,
    }


def _libraries() -> list[dict[str, Any]]:
    """Return a task's libraries: the wheel, and Spark NLP's package and jar; the runtime brings the others."""
    jar = next(coordinates for coordinates in PACKAGES if ":spark-nlp_" in coordinates)
    return [
        {"whl": "./dist/*.whl"},
        {"pypi": {"package": f"spark-nlp=={jar.rpartition(':')[2]}"}},
        {"maven": {"coordinates": jar, "exclusions": list(EXCLUDED)}},
    ]


if __name__ == "__main__":
    sys.exit(main())
