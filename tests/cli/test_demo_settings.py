"""``--demo`` stands for the demo's settings in every command."""

import zipfile
from pathlib import Path
from typing import Any

import pytest

from conf.errors import InputError
from conf.settings import Settings
from etl.cli.command_line import main
from etl.cli.commands import program, settings_of
from etl.cli.demo import PARTS, demo_corpus, demo_settings
from etl.pipeline.planner import chosen
from jobs import all_stages
from tests.command_lines import parsed

WITHOUT_SETTINGS = {"fetch-jars", "fetch-data", "completion"}
GIVEN = {"withdraw": ["--film", "1"]}


@pytest.fixture()
def finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a demo in it, in which the commands start."""
    (tmp_path / "demo" / "corpus").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("command", [*sorted(program.commands.keys() - WITHOUT_SETTINGS - {"demo"}), "export_dataset"])
def test_each_command_finds_the_demo(finished: Path, command: str) -> None:
    options = parsed([command, *GIVEN.get(command, []), "--demo"])
    assert _settings(options) == demo_settings("local", [], [])


def _settings(options: dict[str, Any]) -> Settings:
    return settings_of(options["profile"], options["config"], options["overrides"], options["demo"])


def test_the_corpus_is_written_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    demo_corpus()
    corpus = tmp_path / "demo" / "corpus"
    assert {path.name for path in corpus.iterdir()} == set(PARTS)
    release = corpus / "opus" / "OpenSubtitles" / "v2018"
    good = [path for path in release.glob("xml/en/*/9[0-9]*/*") if path.stat().st_size]
    with zipfile.ZipFile(release / "en.zip") as archive:
        zipped = [name for name in archive.namelist() if "/9" in name]
    assert len(good) + len(zipped) - 3 == 136, "three stand in both"
    written = (corpus / "labels" / "crowd_votes.csv.gz").stat().st_mtime_ns
    demo_corpus()
    assert (corpus / "labels" / "crowd_votes.csv.gz").stat().st_mtime_ns == written


def test_settings_are_laid_over_the_demos(finished: Path) -> None:
    options = parsed(["plan", "--demo", "--set", "edos.top_n=7"])
    found = _settings(options)
    assert found.edos.top_n == 7
    assert found.lakehouse.root == "demo/lakehouse"


def test_without_a_demo_the_folder_and_the_cure_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="make demo"):
        demo_settings("local", [], [])
    assert main(["plan", "--demo"]) == 2
    assert f"there is no demo in {tmp_path}" in capsys.readouterr().err


def test_each_stage_of_the_demo_comes_after_what_it_reads() -> None:
    # Of a stage that the settings leave off, and of a command.
    made: set[str] = {"augesc.role_plays", "subtitles.withdrawn"}
    for stage in chosen(all_stages(), to="describe_dataset,emo_pillars_report,augesc_report"):
        needed = {table.name for table in stage.reads} - {table.name for table in stage.optional}
        assert needed <= made, stage.name
        made |= {one.name for one in (stage.writes, stage.quarantine) if one is not None}
