"""All stages of the demo's path to clean dialogues on Spark 4: the same rows as on Spark 3.5.

``make spark4`` installs pyspark 4 beside the environment and names its Python in ``SPARK4_PYTHON``.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.clusters.commands import LONGEST, REPOSITORY, SMALL_OPTIONS, TABLES, table_rows
from tests.corpora import write_small_corpus

PYTHON = os.environ.get("SPARK4_PYTHON", "")
pytestmark = [pytest.mark.slow, pytest.mark.timeout(2 * LONGEST)]


def run_to_clean_dialogues(python: str, corpus: Path, root: Path) -> str:
    """Run the path by a Python, and return the version of its pyspark."""
    options = [
        f"lakehouse.root={root}",
        f"subtitles.sources=[{corpus}/opus/OpenSubtitles/v2018/en.zip]",
        f"subtitles.turn_examples=[{corpus}/turns/meld]",
        "subtitles.lemmatizer=simplemma",
        *SMALL_OPTIONS,
        "spark.shuffle_partitions=2",
        "spark.short_session=true",
    ]
    done = subprocess.run(
        [python, "-m", "jobs", "run", "--traceback", "--to", "clean_dialogues", "--set", *options],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=LONGEST,
    )
    assert done.returncode == 0, done.stderr[-6000:] + done.stdout[-3000:]
    version = [python, "-c", "import pyspark; print(pyspark.__version__)"]
    return subprocess.run(version, capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.skipif(not PYTHON, reason="no Python with pyspark 4: run `make spark4`")
def test_spark_4_gives_the_rows_of_spark_3(tmp_path: Path) -> None:
    write_small_corpus(tmp_path / "corpus")
    assert run_to_clean_dialogues(PYTHON, tmp_path / "corpus", tmp_path / "four") >= "4"
    assert run_to_clean_dialogues(sys.executable, tmp_path / "corpus", tmp_path / "three") < "4"
    for table in TABLES:
        three = table_rows(str(tmp_path / "three" / table))
        four = table_rows(str(tmp_path / "four" / table))
        assert three == four, f"{table}: {three.total()} rows on Spark 3.5, {four.total()} on Spark 4"
    assert table_rows(str(tmp_path / "four" / "subtitles/clean_dialogues")).total() > 0
