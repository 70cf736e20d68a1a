"""The built wheel: what it carries, and what installing it would bring along."""

import re
import subprocess
import sys
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]
BROUGHT_BY_RUNTIMES = {"pyspark", "delta-spark", "pandas", "numpy", "pyarrow", "torch", "mlflow", "transformers"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    folder = tmp_path_factory.mktemp("wheel")
    done = subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(REPOSITORY)],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return zipfile.ZipFile(next(folder.glob("*.whl")))


def test_base_dependencies_name_nothing_that_a_runtime_brings(wheel: zipfile.ZipFile) -> None:
    name = next(one for one in wheel.namelist() if one.endswith(".dist-info/METADATA"))
    required = Parser().parsestr(wheel.read(name).decode()).get_all("Requires-Dist") or []
    base = {re.split(r"[^\w-]", one)[0] for one in required if "extra" not in one}
    assert base == {"charset-normalizer", "click", "lxml", "py3langid", "pydantic", "pyyaml", "simplemma"}
    assert not base & BROUGHT_BY_RUNTIMES


def test_the_wheel_carries_packages_and_their_data(wheel: zipfile.ZipFile) -> None:
    names = set(wheel.namelist())
    suffixes = {Path(name).suffix for name in names}
    data = (path for package in ("conf", "etl") for path in (REPOSITORY / package).rglob("*.*") if path.is_file())
    missing = {path.suffix for path in data if "__pycache__" not in path.parts} - suffixes
    assert not missing
    for needed in (
        "conf/profiles/local.yaml",
        "conf/demo/corpus/opus.tar.xz",
        "jobs/subtitles/ingest.py",
        "etl/annotation/page/page.html",
        "etl/edos/views/edos.turns.sql",
    ):
        assert needed in names, needed
    assert not [name for name in names if name.startswith("tests/")]
