"""A tiny pipeline from subtitle files to clean dialogues, its undisturbed rows, and how other rows differ from them."""

import json
import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pyspark.sql import SparkSession

from conf.settings import Settings, load_settings
from etl.cli.running import run_stages
from etl.pipeline.lakehouse import Lakehouse
from etl.pipeline.stages import Stage
from etl.pipeline.tables import TABLES
from etl.subtitles.turn_features import FeatureSpace
from etl.subtitles.turn_segmenter import TurnSegmenter
from jobs import all_stages
from tests.compare_lakehouses import plain, plain_rows

REPOSITORY = Path(__file__).resolve().parents[2]
LAST = "clean_dialogues"
STAGES = (
    "find_subtitles",
    "ingest_subtitles",
    "choose_uploads",
    "lemmatize_words",
    "score_turns",
    "segment_dialogues",
    "filter_dialogues",
    LAST,
)
COMPARED = (
    "subtitles.manifest",
    "subtitles.files",
    "subtitles.quarantine",
    "subtitles.chosen_uploads",
    "subtitles.lemmas",
    "subtitles.turn_scores",
    "subtitles.dialogues",
    "subtitles.filtered_dialogues",
    "subtitles.clean_dialogues",
    "ops.dropped",
)
_WORDS = (
    "river",
    "candle",
    "mountain",
    "letter",
    "window",
    "garden",
    "captain",
    "silver",
    "winter",
    "bridge",
    "market",
    "doctor",
    "thunder",
    "village",
    "orange",
    "forest",
    "pocket",
    "engine",
    "kitchen",
    "shadow",
    "ladder",
    "harbor",
    "blanket",
    "feather",
    "mirror",
    "pepper",
    "rocket",
    "saddle",
    "tunnel",
    "velvet",
)
_OPENINGS = ("where", "why", "maybe", "never", "always", "tonight", "tomorrow", "listen", "perhaps", "surely")
_META = "<meta><source><genre>Drama</genre></source></meta>"
Rows = dict[str, Counter[str]]


@dataclass(frozen=True)
class Tiny:
    """A corpus and a turn segmenter in a folder; films have two uploads, and some copies cannot be read."""

    folder: Path

    @classmethod
    def made(cls, folder: Path, films: int = 5) -> "Tiny":
        """Write the corpus and the model."""
        tiny = cls(folder)
        for film in range(1, films + 1):
            tiny.add_film(film)
        damaged = tiny.source / "xml/en/1999/9"
        damaged.mkdir(parents=True)
        (damaged / "901.xml").write_bytes(b"hello")
        (tiny.source / "a/xml/en/1999/1").mkdir(parents=True)
        (tiny.source / "a/xml/en/1999/1/11.xml").write_bytes(b"<document>")  # the first copy, which cannot be read
        (tiny.source / "z/xml/en/1999/2").mkdir(parents=True)
        (tiny.source / "z/xml/en/1999/2/21.xml").write_bytes(subtitles(2, 1))
        choose = np.random.default_rng(5)
        TurnSegmenter(choose.normal(size=512), 0.0, FeatureSpace(512, True)).save(folder / "segmenter")
        return tiny

    @property
    def source(self) -> Path:
        """The folder of subtitle files."""
        return self.folder / "films"

    def add_film(self, film: int) -> Path:
        """Write a film's two uploads; returns their folder."""
        place = self.source / f"xml/en/1999/{film}"
        place.mkdir(parents=True, exist_ok=True)
        for upload in (1, 2):
            (place / f"{film}{upload}.xml").write_bytes(subtitles(film, upload))
        return place

    def values(self, root: Path, **more: object) -> dict[str, Any]:
        """Return the settings of a run, with those of ``more`` as ``section__key``."""
        own = {
            "lakehouse.root": str(root),
            "subtitles.sources": [str(self.source)],
            "subtitles.lemmatizer": "simplemma",
            "models.turn_segmenter": f"file:{self.folder}/segmenter",
            "pipeline.slice_minutes": 2e-4,
            "spark.shuffle_partitions": 2,
            "subtitles.cleaning.near_duplicates": False,
            # Of so few files one is more than the share that may get lost without a question.
            "pipeline.accept_loss": True,
        }
        return own | {key.replace("__", "."): value for key, value in more.items()}

    def settings(self, root: Path, **more: object) -> Settings:
        """Return the settings of a run in this process."""
        return load_settings("local", [], self.values(root, **more))

    def run(self, spark: SparkSession, root: Path, **more: object) -> None:
        """Run the pipeline in this process."""
        run_stages(spark, self.settings(root, **more), stages(), [])

    def child(self, root: Path, **more: object) -> "subprocess.Popen[str]":
        """Start the pipeline as people do, in a session of processes of its own."""
        values = [f"{key}={value}" for key, value in self.values(root, **more).items()]
        return subprocess.Popen(
            [sys.executable, "-m", "jobs", "run", "--to", LAST, "--set", *values, "spark.short_session=true"],
            cwd=REPOSITORY,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
            env=os.environ | {"PYTHONUNBUFFERED": "1"},
        )


def stages() -> list[Stage]:
    """Return the stages of the tiny pipeline, in order."""
    return [stage for stage in all_stages() if stage.name in STAGES]


def subtitles(film: int, upload: int, lines: int = 24) -> bytes:
    """Return an upload: talk in which neighbouring sentences differ, with a silence after every eight sentences."""
    choose = random.Random(f"{film}|{upload}")
    found = []
    at = 1_000
    for number in range(lines):
        at += 9_000 if number % 8 == 0 else 1_500
        words = [choose.choice(_OPENINGS), *choose.sample(_WORDS, 4)]
        text = " ".join(("-", *words)) if upload == 2 and number % 2 else " ".join(words)
        spoken = "".join(f'<w id="{number}.{place}">{word}</w>' for place, word in enumerate(text.split()))
        times = (f'<time id="T{number}{end}" value="{_clock(at + delay)}"/>' for end, delay in (("S", 0), ("E", 1_200)))
        found.append(f'<s id="{number}">{next(times)}{spoken}{next(times)}</s>')
    return f'<?xml version="1.0" encoding="utf-8"?>\n<document id="{film}">{"".join(found)}{_META}</document>'.encode()


def _clock(ms: int) -> str:
    return f"{ms // 3_600_000:02d}:{ms // 60_000 % 60:02d}:{ms // 1_000 % 60:02d},{ms % 1_000:03d}"


def rows_of(spark: SparkSession | None, settings: Settings) -> Rows:
    """Return the rows of all compared tables, with their counts; without Spark if the tables are on a disk."""
    from deltalake import DeltaTable

    found: Rows = {}
    for name in COMPARED:
        path = Path(settings.lakehouse.root, *name.split("."))
        if (path / "_delta_log").is_dir():
            found[name] = plain_rows(DeltaTable(str(path)))
        elif spark is not None:
            rows = Lakehouse(spark, settings.lakehouse).read(TABLES[name]).collect()
            each = (json.dumps(plain(row.asDict(recursive=True)), sort_keys=True, default=str) for row in rows)
            found[name] = Counter(each)
        else:
            found[name] = Counter()
    found["ops.dropped"] = Counter(
        {row: count for row, count in found["ops.dropped"].items() if json.loads(row)["reason"] != "withdrawn"}
    )
    return found


def losses(expected: Mapping[str, Counter[str]], found: Mapping[str, Counter[str]]) -> tuple[int, int]:
    """Return how many rows are lost and how many are there in excess."""
    lost = sum((expected[name] - found[name]).total() for name in COMPARED)
    return lost, sum((found[name] - expected[name]).total() for name in COMPARED)
