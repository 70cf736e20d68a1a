"""``--demo`` stands for the demo's settings in every command."""

from pathlib import Path

import pytest

from conf.errors import InputError
from etl.cli.command_line import _settings, main
from etl.cli.demo import demo_settings
from etl.cli.options import COMMANDS, parsed
from etl.publishing.describe import next_steps

WITHOUT_SETTINGS = {"fetch-jars", "fetch-data", "completion"}
GIVEN = {"trace": ["1-0"], "export-model": ["weak_labeler"], "withdraw": ["--film", "1"]}


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
