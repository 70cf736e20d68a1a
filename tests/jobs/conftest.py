"""A tiny lakehouse run as people run it: the command line, in processes of its own."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from conf.settings import load_settings
from etl.edos.tables import DIALOGUES
from etl.pipeline.lakehouse import Lakehouse
from etl.subtitles.border_segmenter import BorderSegmenter
from etl.subtitles.tables import CLEAN_DIALOGUES
from jobs import all_stages
from tests.corpora import Facts, write_small_corpus
from tests.network_guard import guarded
from tests.udfs.tiny_models import tiny_encoder

REPOSITORY = Path(__file__).resolve().parents[2]
CONNECTIONS = Path(tempfile.gettempdir(), f"edos-tests-connections-{os.getpid()}.txt")
"""To which each process of a run appends its attempts to reach another machine."""
SAID = "said.txt"  # beside the finished lakehouse: what its runs printed
ON_REQUEST = "export_annotation,report_dataset,export_dataset"


@dataclass(frozen=True)
class TinyRun:
    """A demo corpus and the arguments of a run over it, with untrained encoders in place of MiniLM."""

    corpus: Path
    encoder: Path
    facts: Facts

    def arguments(self, root: Path, *more: str) -> list[str]:
        corpus = self.corpus
        labels = self.corpus / "labels"
        values = {
            "lakehouse.root": root,
            "subtitles.sources": f"[{corpus}/opus/OpenSubtitles/v2018]",
            "subtitles.turn_examples": f"[{corpus}/turns/meld, {corpus}/turns/emorynlp]",
            "subtitles.lemmatizer": "simplemma",
            "edos.weak_label_examples": labels,
            "edos.crowd_votes": f"[{labels}/crowd_votes.csv.gz]",
            "edos.empathetic_dialogues": f"{corpus}/talks",
            # Untrained encoders are sure of nothing.
            "edos.annotation.bands": "[0.9, 0.0]",
            "edos.annotation.per_class": 3,
            "edos.annotation.dialogues_per_hit": 3,
            "edos.annotation.quiz_per_hit": 2,
            "edos.preset": "released",
            "edos.top_n": 100,
            "edos.expansion.enabled": "false",
            "models.weak_encoder": f"file:{self.encoder}",
            "models.encoder": f"file:{self.encoder}",
            "models.sentence_encoder": f"file:{self.encoder}",
            "models.training_threads": 1,
            "training.weak_labeler.epochs": 1,
            "training.emotion_classifier.epochs": 1,
            "training.turn_segmenter.min_pairs": 0,
        }
        settings = [f"{key}={value}" for key, value in values.items()]
        return ["--set", *settings, "spark.short_session=true", "spark.shuffle_partitions=2", *more]

    def run(self, root: Path, *more: str, command: Sequence[str] = ("run",)) -> subprocess.CompletedProcess[str]:
        return jobs(*command, *self.arguments(root, *more))


def jobs(*arguments: str, timeout: float = 1500) -> subprocess.CompletedProcess[str]:
    """``python -m jobs ...`` from the repository."""
    return subprocess.run(
        [sys.executable, "-m", "jobs", *arguments],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=timeout,
        env=os.environ | {"PYTHONUNBUFFERED": "1"} | guarded(CONNECTIONS),
    )


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> TinyRun:
    folder = tmp_path_factory.mktemp("tiny")
    return TinyRun(folder / "corpus", tiny_encoder(folder / "encoder"), write_small_corpus(folder / "corpus"))


@pytest.fixture(scope="session")
def labelled(tiny: TinyRun, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The lakehouse of a run up to clean dialogues without trainings; made-up labels finish 100 of its dialogues."""
    folder = tmp_path_factory.mktemp("labelled")
    (folder / "segmenter").mkdir()
    BorderSegmenter.packaged().save(folder / "segmenter")
    root = folder / "lakehouse"
    given = f"models.turn_segmenter=file:{folder}/segmenter"
    done = tiny.run(root, given, command=("run", "--to", "clean_dialogues"))
    assert done.returncode == 0, done.stderr[-3000:] + done.stdout[-3000:]
    place = load_settings("local", [], {"lakehouse.root": str(root)}).lakehouse
    lakehouse = Lakehouse(spark, place, small=True)
    first = lakehouse.read(CLEAN_DIALOGUES).orderBy(F.xxhash64("dialogue_id")).limit(100)
    labels = first.selectExpr(
        "dialogue_id",
        "movie_id",
        "'made-up' AS model",
        "transform(turns, t -> struct(t.text AS text, 'sad' AS label, 0.5F AS confidence)) AS turns",
        "transform(turns, t -> true) AS accepted",
    )
    lakehouse.append(DIALOGUES, labels, {})
    return root


@pytest.fixture(params=["labelled", pytest.param("finished", marks=pytest.mark.long)])
def made(request: pytest.FixtureRequest) -> Path:
    """The lakehouse of a run: of the short one, and of the one of all stages."""
    found: Path = request.getfixturevalue(request.param)
    return found


@pytest.fixture(scope="session")
def finished(tiny: TinyRun, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The lakehouse of an undisturbed run, with everything that runs on request but hours of training."""
    root = tmp_path_factory.mktemp("finished") / "lakehouse"
    names = [stage.name for stage in all_stages() if not stage.manual]
    done = tiny.run(root, command=("run", "--to", ",".join([*names, ON_REQUEST])))
    assert done.returncode == 0, done.stderr[-3000:] + done.stdout[-3000:]
    (root.parent / SAID).write_text(done.stdout, encoding="utf-8")
    return root
