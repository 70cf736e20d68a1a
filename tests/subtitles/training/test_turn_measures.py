"""What the turn segmenter is worth at borders that it has not seen."""

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from pyspark.sql import SparkSession

from conf.settings import load_settings
from etl.subtitles.border_segmenter import UNIT, BorderSegmenter
from etl.subtitles.settings import SegmenterOptions
from etl.subtitles.training import turn_measures
from etl.subtitles.training.turn_measures import measure_turn_segmenter
from etl.subtitles.training.turn_segmenter import of_series
from etl.subtitles.turn_evaluation import HEADER, border_figures, opening_figures, turn_figures
from tests.stages import stage_run
from tests.subtitles.marked_films import FILES, turn_file, turn_small_talk


def test_figures_of_borders_by_hand() -> None:
    odds = math.log(4)
    found = border_figures(np.array([1, 1, 1, 0]), np.array([odds, odds, -odds, -odds]))
    assert found["borders"] == 4
    assert found["right"] == found["floor"] == found["true"] == 0.75
    assert found["predicted"] == 0.5
    assert found["auc"] == pytest.approx(5 / 6)
    assert found["error"] == pytest.approx((0.2 + 0.2 + 0.8 + 0.2) / 4)
    one = border_figures(np.array([1, 1]), np.array([odds, -odds]))
    assert math.isnan(one["auc"])
    assert (one["floor"], one["right"], one["sure_half"]) == (1.0, 0.5, 1.0)


def test_openings_are_as_certain_as_told() -> None:
    odds = np.array([2.0, 2.0, -1.0])
    found = opening_figures(np.array([1, 0, 1]), odds)
    assert (found["borders"], found["right"]) == (2, 0.5)
    assert found["told"] == pytest.approx(1 / (1 + math.exp(-2.08)))
    assert opening_figures(np.array([1]), odds[2:]) == {}


def test_a_turn_is_whole_if_all_its_borders_are_right() -> None:
    # Before the first change nothing says where the turn began, and the turn of place 5 has no end.
    one = [(1, 1, -1), (2, 1, 1), (3, 0, -1), (4, 1, 1), (5, 1, -1)]
    # A border is not known between 2 and 4.
    two = [(1, 1, 1), (2, 0, -1), (4, 1, 1), (5, 0, 1)]
    rows = [(group, *row) for group, part in (("one", one), ("two", two)) for row in part]
    pairs = pd.DataFrame(rows, columns=["split_group", "place", "label", "margin"])
    found = turn_figures(pairs.sample(frac=1, random_state=1))
    sure = 1 / (1 + math.exp(-(0.08 + UNIT)))
    assert found["borders"] == 2, "places 3 to 4 of the one file, place 5 of the other"
    assert found["right"] == 0.5
    assert found["told"] == pytest.approx((sure**2 + sure) / 2)
    assert turn_figures(pairs[:1]) == {}


@pytest.mark.parametrize(
    ("names", "held_out"),
    [
        ((), []),
        (("house",), ["house/S01E01"]),
        (("house", "friends/Friends.S10"), ["house/S01E01", "friends/Friends.S10E02"]),
        (("hou", "friends/S10", "s3d1"), []),
    ],
)
def test_series_and_parts_of_series_are_held_out(
    spark: SparkSession, names: tuple[str, ...], held_out: list[str]
) -> None:
    groups = ["house/S01E01", "household/S01E01", "friends/Friends.S01E02", "friends/Friends.S10E02", "s3d10"]
    rows = spark.createDataFrame([(group,) for group in groups], "split_group string")
    assert [row[0] for row in rows.where(of_series(names)).collect()] == held_out


def series(folder: Path, name: str, episodes: int) -> None:
    """Write a series in which the other one answers each question, and a statement goes on."""
    rows = ["episode\tstart_ms\tend_ms\tspeaker\ttext"]
    for episode in range(episodes):
        for number in range(60):
            speaker = "ANN" if number % 3 else "BEN"
            text = ("Where is it now?", "I left it at the mill.", "It was too heavy.")[number % 3]
            rows.append(f"E{episode}\t{number * 2000}\t{number * 2000 + 1900}\t{speaker}\t{text}")
    (folder / f"{name}.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")


@pytest.mark.parametrize("trained", [False, pytest.param(True, marks=pytest.mark.long)])
def test_a_series_is_judged_by_what_learned_from_the_others(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trained: bool
) -> None:
    monkeypatch.setattr(turn_measures, "EPISODES", (2, 99))
    if not trained:
        packaged = BorderSegmenter.packaged()
        monkeypatch.setattr(turn_measures, "train_border_segmenter", lambda *given: packaged)
    folder = tmp_path / "known"
    folder.mkdir()
    for name in ("harbour", "station"):
        series(folder, name, 8)
    films = [turn_file(f"m{n}.xml", f"m{n}", turn_small_talk(f"m{n}")) for n in range(8)]
    said: list[str] = []
    run = stage_run(spark, load_settings("local", [], {}), tmp_path, say=said.append)
    options = SegmenterOptions(held_out=("station",))
    measure_turn_segmenter(spark.createDataFrame(films, FILES), run, options, [str(folder)], "en")
    assert said[0] == HEADER
    assert any(line.startswith("the package ") and " station, cues " in line for line in said)
    judged = {line[:26].strip(): line for line in said if "station, cues" in line}
    assert set(judged) == {"the package", "the package and these", "harbour", "2 episodes"}
    assert not trained or " 100.0% " in judged["harbour"]
