"""The time of stages before anything was measured."""

import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from conf.settings import Settings, load_settings
from etl.cli import foreseen
from etl.cli.estimate import stored_lines
from etl.cli.foreseen import Holdings, StoredRate, holdings, seconds_ahead, seconds_of, stored_rates
from etl.pipeline.planner import chosen
from etl.pipeline.stages import Stage
from jobs import all_stages


def of(folder: Path, *sources: str) -> Settings:
    return load_settings("local", [], {"subtitles.sources": [str(folder / one) for one in sources]})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "own" / "deeper").mkdir(parents=True)
    for name in ("a.srt", "a.en.srt", "deeper/b.vtt", "notes.pdf", ".hidden.srt"):
        (tmp_path / "own" / name).touch()
    with zipfile.ZipFile(tmp_path / "en.zip", "w") as packed:
        for name in ("1/11.xml", "1/12.xml.gz", "2/21.xml"):
            packed.writestr(f"OpenSubtitles/xml/en/1999/{name}", "")
    return tmp_path


@pytest.mark.parametrize(
    ("sources", "held"),
    [
        (["own"], Holdings(3, 2)),
        (["en.zip"], Holdings(3, 2)),
        (["own", "en.zip"], Holdings(6, 4)),
        (["own/a.srt"], Holdings(1, 1)),
        (["nowhere"], None),
        ([], None),
    ],
)
def test_films_are_counted_by_the_names_of_files(folder: Path, sources: list[str], held: Holdings | None) -> None:
    assert holdings(of(folder, *sources)) == held


def test_more_cores_take_less_of_what_grows_and_of_trainings() -> None:
    rate = StoredRate(10.0, 2.0)
    assert rate.seconds(100, 2, training=False) == 210
    assert rate.seconds(100, 8, training=False) == 60
    assert rate.seconds(0, 8, training=True) == 2.5


def test_the_table_has_the_stages_of_the_readme() -> None:
    names = {one.name for one in [*chosen(all_stages(), to="export_dataset,report_dataset"), *chosen(all_stages())]}
    for demo in (False, True):
        assert names - stored_rates(demo).keys() == set()
        assert stored_rates(demo).keys() <= {one.name for one in all_stages()}


def test_an_estimate_before_the_first_run_says_how_sure_it_is(folder: Path) -> None:
    stages = chosen(all_stages(), to="export_dataset")
    few, many = (stored_lines(of(folder, "en.zip"), stages, files, Holdings(3, 2), cores=2) for files in (12, 12_000))
    assert "12 files of 8 films on 2 cores" in few[0]
    assert "most likely" in few[-2]
    totals = [int(lines[-3].split()[-1].replace(",", "")) for lines in (few, many)]
    assert 60 < totals[0] < totals[1]


class Log:
    """The events of a lakehouse."""

    def __init__(self, done: dict[str, float]) -> None:
        self._done = done

    def done(self, stage: str) -> list[Any]:
        return [SimpleNamespace(seconds=self._done[stage])] if stage in self._done else []


def context(settings: Settings, done: dict[str, float]) -> Any:
    return SimpleNamespace(settings=settings, log=Log(done), cores=2, is_off=lambda stage: False)


def test_ahead_are_stages_that_never_ran_and_those_after_them(folder: Path) -> None:
    stages: list[Stage] = chosen(all_stages(), to="segment_dialogues")
    known = {stage.name: 7.0 for stage in stages}
    assert seconds_ahead(context(of(folder, "own"), known), stages) == {}
    del known["score_turns"]
    ahead = seconds_ahead(context(of(folder, "own"), known), stages)
    score = next(stage for stage in stages if stage.name == "score_turns")
    assert ahead == {"score_turns": seconds_of(score, 2, 2), "segment_dialogues": 7.0}


def test_nothing_is_said_where_a_stage_is_not_known(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stages = chosen(all_stages(), to="ingest_subtitles")
    assert seconds_ahead(context(of(folder, "nowhere"), {}), stages) == {}
    monkeypatch.setattr(foreseen, "stored_rates", lambda demo=False: {"find_subtitles": StoredRate(1, 1)})
    assert seconds_ahead(context(of(folder, "own"), {}), stages) == {}
