"""What must be installed for which part of the code: every module imports under the extra of its role."""

import json
import subprocess
import sys
import tomllib
from functools import cache
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

REPOSITORY = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]
RUNTIME = ("pyspark", "py4j", "delta-spark", "pandas", "numpy", "pyarrow")
"""What a Spark cluster brings, whatever was installed."""
EXTRAS = ("", "text", "cluster", "local")
"""Each has all that the one before it has."""
ROLES = {
    "text": (
        "etl.pipeline.mlflow_client",
        "udfs.models.pictures",
        "etl.training.tracking",
        "etl.training.experiment",
        "etl.training.registration",
        "etl.training.data_inputs",
        "etl.training.served_files",
        "etl.training.signatures",
        "etl.subtitles.training.turn_segmenter",
        "etl.cli.fetch_data",
        "etl.cli.safety",
    ),
    "cluster": (
        "udfs.devices",
        "udfs.generate",
        "udfs.models.batches",
        "udfs.models.classifiers",
        "udfs.models.language",
        "udfs.models.pretrained",
        "udfs.models.sentence_encoder",
        "udfs.models.trainable",
        "udfs.predict",
        "udfs.replies",
        "udfs.role_play",
        "udfs.serving",
        "etl.cli.chat",
        "etl.cli.reply_shell",
        "etl.edos.similarity_search",
        "etl.safety.__main__",
        "etl.safety.classifier",
        "etl.training.calibration",
        "etl.edos.training",
        "etl.emo_pillars.training.multi_label",
        "etl.emo_pillars.training.predictions",
        "etl.emo_pillars.training.transfer",
        "etl.emo_pillars.training.transfer_tasks",
        "etl.replies.training",
        "etl.subtitles.training.turn_measures",
        "etl.training.held_out_classifiers",
        "etl.augesc.training.held_out_texts",
        "etl.augesc.training.language_models",
        "etl.training.loop",
        "etl.training.processes",
    ),
    "local": (
        "etl.publishing.duckdb_sql",
        "etl.publishing.without_spark",
        "etl.cli.documents",
        "etl.cli.duckdb_shell",
    ),
}
"""Modules that need an extra; all others need none: listing, parsing, cleaning, SQL, and every stage's declaration."""
BLOCKER = """
import importlib, json, sys

class Without:
    # A finder that does not find the blocked modules, as if they were not installed.
    def __init__(self, finder):
        self.finder = finder

    def find_spec(self, name, path=None, target=None):
        return None if name.partition(".")[0] in blocked else self.finder.find_spec(name, path, target)

    def __getattr__(self, name):
        return getattr(self.finder, name)

blocked, names = map(set, json.load(sys.stdin))
sys.meta_path[:] = map(Without, sys.meta_path)
failed = {}
for name in sorted(names):
    try:
        importlib.import_module(name)
    except Exception as error:
        failed[name] = f"{type(error).__name__}: {error}"
"""


def modules() -> list[str]:
    """The modules of the core."""
    files = (path for package in ("conf", "udfs", "etl", "jobs") for path in (REPOSITORY / package).rglob("*.py"))
    parts = (path.relative_to(REPOSITORY).with_suffix("").parts for path in files)
    names = (".".join(part[:-1] if part[-1] == "__init__" else part) for part in parts)
    return sorted(name for name in names if not name.startswith("etl.extras."))


def role_of(module: str) -> str:
    """The extra that a module needs, by the longest prefix that names it."""
    found = [
        (len(prefix), extra)
        for extra, prefixes in ROLES.items()
        for prefix in prefixes
        if module == prefix or module.startswith(f"{prefix}.")
    ]
    return max(found, default=(0, ""))[1]


def importing(extra: str) -> list[str]:
    return [module for module in modules() if EXTRAS.index(role_of(module)) <= EXTRAS.index(extra)]


@cache
def blocked(extra: str) -> list[str]:
    """The installed top-level modules that neither the base, the extra nor a cluster brings."""
    extras = PROJECT["optional-dependencies"]
    allowed: set[str] = set(RUNTIME)
    waiting = [Requirement(text) for text in [*PROJECT["dependencies"], *extras.get(extra, ())]]
    waiting += [Requirement(name) for name in RUNTIME]
    done: set[str] = set()
    while waiting:
        one = waiting.pop()
        name = canonicalize_name(one.name)
        if str(one) in done or (one.marker is not None and not one.marker.evaluate({"extra": ""})):
            continue
        done.add(str(one))
        if name == PROJECT["name"]:
            waiting += [Requirement(text) for own in one.extras for text in extras[own]]
            continue
        allowed.add(name)
        try:
            further = [Requirement(text) for text in requires(name) or ()]
        except PackageNotFoundError:
            continue
        for needed in further:
            if needed.marker is None or any(needed.marker.evaluate({"extra": own}) for own in ("", *one.extras)):
                needed.marker = None
                waiting.append(needed)
    return sorted(
        module
        for module, distributions in packages_distributions().items()
        if not {canonicalize_name(name) for name in distributions} & allowed
        and module not in ("conf", "etl", "jobs", "udfs")
    )


def python(script: str, extra: str, names: list[str]) -> str:
    """Run a script in a process that finds only what the extra brings; returns what it printed."""
    done = subprocess.run(
        [sys.executable, "-c", f"{BLOCKER}\n{script}"],
        input=json.dumps([blocked(extra), names]),
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.splitlines()[-1]


@pytest.mark.parametrize(
    "extra",
    ["", *(pytest.param(extra, marks=pytest.mark.slow) for extra in EXTRAS[1:])],
)
def test_modules_import_with_their_extra(extra: str) -> None:
    if extra:
        assert "torch" in blocked("text")
        assert "torch" not in blocked("cluster")
    failed = json.loads(python("print(json.dumps(failed))", extra, importing(extra)))
    assert failed == {}, f"with the extra {extra or 'none'}: {failed}"


def test_stages_are_declared_without_any_extra() -> None:
    script = """
import jobs
from conf.settings import load_settings
from etl.pipeline.planner import chosen
stages = chosen(jobs.all_stages(), to="clean_dialogues")
settings = load_settings("emr")
print(json.dumps([[stage.name for stage in stages], sorted({"torch", "mlflow", "sklearn"} & set(sys.modules))]))
"""
    names, loaded = json.loads(python(script, "", []))
    assert names[0] == "find_subtitles"
    assert names[-1] == "clean_dialogues"
    assert loaded == []


def test_commands_pin_what_they_install() -> None:
    """Every requirement of an extra has its version in constraints.txt."""
    pinned = {
        canonicalize_name(line.partition("==")[0]) for line in (REPOSITORY / "constraints.txt").read_text().splitlines()
    }
    extras = PROJECT["optional-dependencies"]
    for extra in ("text", "cluster", "local"):
        named = {canonicalize_name(Requirement(text).name) for text in extras[extra]} - {PROJECT["name"]}
        assert named <= pinned, f"{extra}: {named - pinned}"


@pytest.mark.slow
def test_a_segmenter_is_logged_without_networks(tmp_path: Path) -> None:
    """The training of the turn segmenter ends in MLflow, in an environment with the extra ``text`` alone."""
    script = f"""
from pathlib import Path
from etl.training.tracking import ModelStore, tracked_run
folder = Path({str(tmp_path)!r})
(folder / "model").mkdir()
(folder / "model" / "config.json").write_text("{{}}")
store = ModelStore(f"sqlite:///{{folder}}/mlflow.db", "edos", str(folder / "artifacts"))
with tracked_run(store, "segmenter", {{}}) as run:
    version = run.register("edos-turn-segmenter", run.log_model(folder / "model", "turn_segmenter"))
print(json.dumps([version, sorted({{"torch", "transformers"}} & set(sys.modules))]))
"""
    assert json.loads(python(script, "text", [])) == ["1", []]
