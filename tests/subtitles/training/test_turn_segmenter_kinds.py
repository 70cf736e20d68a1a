"""The stage's training of the kind that adds linear model and encoder, from marked films to a registered model."""

import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from conf.settings import load_settings
from etl.subtitles.settings import SegmenterOptions, TurnPairSettings
from etl.subtitles.training.turn_segmenter import (
    SegmenterKinds,
    films_behind,
    right_line,
    too_little,
    train_and_register_turn_segmenter,
    widest,
)
from etl.subtitles.turn_evaluation import at_most, split_held_out
from etl.subtitles.turn_features import LemmaTable
from etl.subtitles.turn_pairs import films_by_hash, marked_pairs
from etl.subtitles.turn_scorers import EQUAL_WEIGHTS, WindowScorer, turn_scorer
from etl.training.registry import model_store
from tests.stages import stage_run
from tests.subtitles.marked_films import FILES, turn_file, turn_small_talk
from tests.turn_contexts import pair_context
from tests.udfs.tiny_models import tiny_encoder

PAIRS = TurnPairSettings(
    epochs=1,
    learning_rate=5e-3,
    batch_size=64,
    effective_batch=64,
    max_tokens=384,
    threads=1,
    subtitle_pairs=5_000,
    films=1_000,
)


@pytest.mark.slow
def test_both_are_trained_weighed_and_registered(spark: SparkSession, tmp_path: Path) -> None:
    films = [turn_file(f"m{n}.xml", f"m{n}", turn_small_talk(f"m{n}")) for n in range(800)]
    files = spark.createDataFrame(films, FILES).cache()
    settings = load_settings("local", [], {"lakehouse.root": str(tmp_path / "lake")})
    said: list[str] = []
    run = stage_run(spark, settings, tmp_path, say=said.append)
    options = SegmenterOptions(kind="both", subtitle_pairs=200, films=20, min_pairs=0)
    kinds = SegmenterKinds(True, PAIRS, f"file:{tiny_encoder(tmp_path / 'encoder')}")
    trained = train_and_register_turn_segmenter(files, run, options, kinds, (), "en")
    assert trained.figures["accuracy"] > 0.9
    assert said[0].startswith("learns where the speaker changes from ")
    assert any(re.match(r"right at (9\d|100)% of [\d,]+ borders that it did not learn from", line) for line in said)
    (weights,) = [line for line in said if line.startswith("weights: ")]
    assert weights != "weights: linear {:.2f}, encoder {:.2f}, constant {:.2f}".format(*EQUAL_WEIGHTS)
    store = model_store(run.tracking)
    version = store.client().get_model_version_by_alias(options.name, "champion")
    assert version.tags["films"] == "800"
    tables = Path(store.client().download_artifacts(str(version.run_id), "accuracy.txt", str(tmp_path))).read_text()
    figures = {line[:26].strip(): line.split()[3] for line in tables.splitlines() if " dashes " in line}
    assert set(figures) >= {"both", "linear", "encoder"}
    assert float(figures["both"].rstrip("%")) > 90
    model = run.model(f"models:/{options.name}@champion")
    scorer = turn_scorer(model.path, LemmaTable.of({}), 8, 1)
    assert isinstance(scorer, WindowScorer)
    assert scorer.linear is not None
    texts = pa.array(["Where is the boat ?", "No idea , I lost the boat .", "And I am tired of the boat ."])
    margins = scorer(texts, np.array([0, 1]), np.array([1, 2]), pair_context([1, 1]))
    assert margins[0] > margins[1]


def test_an_encoder_learns_from_more_pairs_and_films_than_the_linear_model() -> None:
    options = SegmenterOptions(subtitle_pairs=200, films=20)
    assert widest(options, PAIRS) == options
    for kind in ("encoder", "both"):
        found = widest(options.model_copy(update={"kind": kind}), PAIRS)
        assert (found.subtitle_pairs, found.films) == (5_000, 1_000)
    many = SegmenterOptions(kind="both", subtitle_pairs=9_000, films=9_000)
    assert widest(many, PAIRS) == many


def test_the_bound_of_pairs_leaves_the_transcripts_alone(spark: SparkSession) -> None:
    pairs = marked_pairs(spark.createDataFrame([turn_file("a.xml", "a", turn_small_talk("a"))], FILES))
    assert at_most(pairs, 3, only=("dashes",)).count() == 3
    assert at_most(pairs, 3, only=("carried",)).count() == pairs.count()


def test_a_model_that_learned_from_no_mark_has_no_film_behind_it(spark: SparkSession) -> None:
    files = spark.createDataFrame([("a",), ("b",), ("a",)], "movie_id string")
    assert films_behind(files, {"meld": 500, "dashes": 3}) == 2
    assert films_behind(files, {"meld": 500}) == 0
    assert films_behind(files, {"meld": 500, "dashes": 0}) == 0


def test_the_films_that_are_read_of_a_large_corpus_are_not_all_held_out(spark: SparkSession) -> None:
    files = spark.createDataFrame([(f"{number}",) for number in range(2_000)], "movie_id string")
    read = films_by_hash(files, 200).withColumnRenamed("movie_id", "split_group")
    training, held_out = split_held_out(read, 0.2)
    assert 140 < training.count() < 180
    assert held_out.count() == 200 - training.count()


@pytest.mark.parametrize(
    ("pairs", "answers", "why"),
    [
        (1_600, 2, ""),
        (
            1_599,
            2,
            "1,599 pairs of lines to learn from, fewer than training.turn_segmenter.min_pairs=1,600: the packaged",
        ),
        (2_000, 1, "2,000 pairs of lines to learn from, all with the same answer: the packaged segmenter decides"),
    ],
)
def test_what_is_too_little_to_learn_from_is_said(pairs: int, answers: int, why: str) -> None:
    said = too_little(SegmenterOptions(), pairs, answers)
    assert said.startswith(why)
    assert bool(said) == bool(why)


@pytest.mark.parametrize(
    ("accuracies", "line"),
    [
        (
            [("segmenter", 100, 0.8), ("majority class", 100, 0.7), ("gap rule", 100, None), ("dash rule", 100, 1.0)],
            "80% of 100 borders that it did not learn from, without their marks; the commoner answer alone: 70% ",
        ),
        (
            [
                ("segmenter", 300, 0.9),
                ("majority class", 300, 0.5),
                ("segmenter", 100, 0.5),
                ("majority class", 100, 0.9),
            ],
            "80% of 400 borders that it did not learn from, without their marks; the commoner answer alone: 60% ",
        ),
    ],
)
def test_how_often_it_is_right_is_one_line(accuracies: list[tuple[str, int, float | None]], line: str) -> None:
    assert right_line(accuracies).startswith(f"right at {line}")
