"""``--demo`` stands for the demo's settings in every command."""

from importlib.resources import as_file, files
from pathlib import Path

import pytest

from conf.errors import InputError
from conf.settings import load_settings
from etl.cli.command_line import _chosen, _settings, main
from etl.cli.demo import LAST, NAMED, demo_settings, demo_stages
from etl.cli.options import COMMANDS, parsed
from etl.publishing.describe import next_steps
from jobs import all_stages

WITHOUT_SETTINGS = {"fetch-jars", "fetch-data", "completion"}
GIVEN = {"trace": ["1-0"], "withdraw": ["--film", "1"]}


@pytest.fixture()
def finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a demo in it, in which the commands start."""
    (tmp_path / "demo" / "corpus").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("command", [*sorted(COMMANDS.keys() - WITHOUT_SETTINGS - {"demo"}), "export_dataset"])
def test_each_command_finds_the_demo(finished: Path, command: str) -> None:
    options = parsed([command, *GIVEN.get(command, []), "--demo"])
    assert _settings(options) == demo_settings("local", [], [])


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


@pytest.mark.parametrize("root", ["demo/lakehouse", "mine"])
def test_five_next_steps_fit_a_terminal(root: str) -> None:
    found = next_steps(root)
    assert len(found) == 10
    assert max(map(len, found)) <= 78
    assert ("--demo" in found[0]) == (root == "demo/lakehouse")


def test_the_demo_makes_some_of_the_other_sets_and_prints_last() -> None:
    every = all_stages()
    stages = demo_stages(every)
    names = [stage.name for stage in stages]
    assert set(NAMED) < set(names)
    assert [stage.name for stage in every if stage.name in names and stage.name != LAST] == names[:-1]
    assert names[-1] == LAST
    assert {stage.name for stage in every if not stage.manual} == set(names) - set(NAMED)


def test_each_stage_of_the_demo_comes_after_what_it_reads() -> None:
    # Of a stage that the settings leave off, and of a command.
    made: set[str] = {"augesc.role_plays", "subtitles.withdrawn"}
    for stage in demo_stages(all_stages()):
        needed = {table.name for table in stage.reads} - {table.name for table in stage.optional}
        assert needed <= made, stage.name
        made |= {one.name for one in (stage.writes, stage.quarantine) if one is not None}


def test_models_of_the_demo_say_that_they_are_recorded() -> None:
    with as_file(files("conf").joinpath("demo", "settings.yaml")) as own:
        models = load_settings("local", [str(own)], []).models
    asked = (models.generator, models.augmenter, models.augmenter_base)
    assert all(str(one).startswith("recorded:demo/corpus/") for one in asked)
    assert models.topic_namer is None


@pytest.mark.parametrize(
    ("arguments", "number"),
    [(["demo"], 63), (["plan", "--demo"], 63), (["run", "--demo", "--to", "find_subtitles"], 1), (["plan"], 36)],
)
def test_named_stages_are_chosen_as_without_the_demo(arguments: list[str], number: int) -> None:
    assert len(_chosen(all_stages(), parsed(arguments))) == number
