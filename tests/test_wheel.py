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
    assert base == {"charset-normalizer", "lxml", "py3langid", "pydantic", "pyyaml", "simplemma"}
    assert not base & BROUGHT_BY_RUNTIMES


def test_the_wheel_carries_packages_and_their_data(wheel: zipfile.ZipFile) -> None:
    names = set(wheel.namelist())
    for needed in (
        "conf/profiles/local.yaml",
        "conf/taxonomies/edos.yaml",
        "conf/profanity.txt",
        "conf/demo/settings.yaml",
        "conf/model_digests.csv",
        "jobs/__main__.py",
        "jobs/subtitles/ingest.py",
        "etl/pipeline/runner.py",
        "etl/pipeline/model_loader.py",
        "etl/annotation/page/page.html",
        "etl/annotation/page/page.js",
        "conf/taxonomies/goemotions.csv",
        "conf/papers/edos_paper_table_9.csv",
        "etl/analysis/sql/edos.turns.sql",
        "etl/pipeline/model_loader.py",
        "conf/reports/report.css",
        "conf/publishing/card.md",
        "conf/prompts/augesc.txt",
        "conf/augesc/sensitive_words.txt",
        "conf/publishing/augesc_card.md",
        "conf/reports/page.html",
        "conf/reports/report.js",
        "conf/reports/search.js",
        "conf/demo/stories.yaml",
        "conf/publishing/augesc_citation.txt",
        "conf/reports/pictures.svg",
        "conf/publishing/edos.yaml",
        "conf/publishing/croissant_context.json",
        "conf/publishing/licences.csv",
    ):
        assert needed in names, needed
    assert not [name for name in names if name.startswith("tests/")]
