"""The command line: what help shows; bad settings and input give one clear line, exit status 2, no traceback."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from conf.errors import InputError
from conf.settings import load_settings
from etl.cli.command_line import main
from etl.cli.options import COMMANDS, parsed, stage_options
from jobs import all_stages
from tests.jobs.conftest import REPOSITORY, jobs


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["run", "--set", "subtitles.langauges=[en]"], "langauges is not known: did you mean subtitles.languages?"),
        (["run", "--set", "subtitles.sample=2"], "setting subtitles.sample: Input should be less than or equal to 1"),
        (["run", "--set", "subtitles.sample"], "--set subtitles.sample: write section.key=value"),
        (["run", "--profile", "moon"], "profile 'moon' is not known"),
        (["run", "--config", "no/such.yaml"], "config file no/such.yaml is not there"),
        (["sing"], "stage 'sing' is not known: `python -m jobs plan` lists them"),
        (["runn"], "command 'runn' is not known: did you mean run? `python -m jobs --help` lists them"),
        (["clean_dialogue"], "stage 'clean_dialogue' is not known: did you mean clean_dialogues?"),
        (["run", "--to", "sing"], "stage 'sing' is not known"),
        (["run", "--bot", "esconv"], "unrecognized arguments: --bot esconv (see edos-lakehouse run --help)"),
        (["sql", "--to", "clean_dialogues"], "unrecognized arguments: --to clean_dialogues"),
        (["clean_dialogues", "--only", "x"], "unrecognized arguments: --only x (see edos-lakehouse clean_dialogues"),
        (["chat", "--bot", "eliza"], "argument --bot: invalid choice: 'eliza'"),
        ([], "name a command or a stage: run, plan,"),
    ],
)
def test_bad_settings_are_named(arguments: list[str], line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert line in printed.err
    assert len(printed.err.splitlines()) == 1


def test_the_entry_point_ends_with_the_status() -> None:
    done = jobs("run", "--profile", "moon")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("edos-lakehouse: profile 'moon' is not known")


@pytest.mark.parametrize(
    ("sources", "line"),
    [
        pytest.param("[]", "subtitles.sources is empty", marks=pytest.mark.slow),
        pytest.param("[nowhere]", "nowhere, which is not there", marks=pytest.mark.slow),
        pytest.param("[empty]", "no .xml, .srt or .vtt file", marks=pytest.mark.slow),
    ],
)
def test_bad_sources_are_named(tmp_path: Path, sources: str, line: str) -> None:
    (tmp_path / "empty").mkdir()
    named = sources.replace("empty", str(tmp_path / "empty"))
    done = jobs("find_subtitles", "--set", f"subtitles.sources={named}", f"lakehouse.root={tmp_path / 'lakehouse'}")
    assert done.returncode == 2, done.stdout + done.stderr
    assert line in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_a_stage_without_its_input_says_what_is_missing(tmp_path: Path) -> None:
    done = jobs("choose_uploads", "--set", f"lakehouse.root={tmp_path}")
    assert done.returncode == 2
    assert "choose_uploads reads subtitles.files, which is not there" in done.stderr


def test_a_reader_that_has_enough_is_no_failure() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "jobs", "completion", "bash"]
    done = subprocess.run(command, cwd=REPOSITORY, stdout=writing, stderr=subprocess.PIPE, text=True, timeout=300)
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, "")


def test_help_lists_the_commands_a_line_each() -> None:
    done = jobs("--help")
    assert done.returncode == 0
    for name, text in COMMANDS.items():
        assert f"  {name:14s}{text}\n" in done.stdout
    assert "--bot" not in done.stdout


def test_every_command_has_help_that_fits_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for words in ([], *([name] for name in COMMANDS)):
        with pytest.raises(SystemExit):
            parsed([*words, "--help"])
        shown = capsys.readouterr().out.splitlines()
        assert len(shown) <= 36, words
        assert max(map(len, shown)) <= 80, words
        assert words != ["trace"] or "trace DIALOGUE_ID [options]" in shown[0]


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ("foo.bar=1", "setting foo is not known: docs/settings.md lists all"),
        ("sample=0.1", "setting sample is not known: did you mean subtitles.sample?"),
        ("subtitles.min_turns=3", "did you mean subtitles.cleaning.min_turns?"),
        ("subtitles.cleaning.max_chars=9", "did you mean subtitles.cleaning.max_characters?"),
        ("training.weak_labeler.lr=2", "docs/settings.md has what training.weak_labeler knows"),
        ("spark.sql.shuffle.partitions=8", "Spark's own keys go below spark.conf, such as spark.conf.spark.sql."),
        ("subtitles.sources=en.zip", "setting subtitles.sources is a list, got 'en.zip': write [en.zip]"),
        ("lakehouse=here", "setting lakehouse is a section, got 'here': name a setting in it, such as lakehouse.root"),
    ],
)
def test_a_setting_that_is_not_known_leads_to_the_one_that_is(given: str, line: str) -> None:
    with pytest.raises(InputError) as refused:
        load_settings("local", [], [given])
    assert line in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_command_shows_its_own_options(capsys: pytest.CaptureFixture[str]) -> None:
    own = {"run": "--to", "plan": "--only", "sql": "--execute", "reply": "--intent", "chat": "--pair"}
    for name, option in own.items():
        with pytest.raises(SystemExit) as left:
            parsed([name, "--help"])
        shown = capsys.readouterr().out
        assert left.value.code == 0
        assert option in shown
        assert "--set" in shown
        others = {*own.values()} - {option} - ({"--to", "--only"} if name in ("run", "plan") else set())
        assert not [other for other in others if other in shown]


def test_a_stage_shows_what_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parsed(["segment_dialogues", "--help"])
    shown = capsys.readouterr().out
    assert "Split each film's turns into dialogues at silences of more than 5 s" in shown
    assert "reads:\n  subtitles.chosen_uploads\n  subtitles.files\n  subtitles.turn_scores\n" in shown
    assert "writes:\n  subtitles.dialogues\n" in shown
    assert re.search(r"^  subtitles\.silence_seconds \(5\): EDOS 3\.1", shown, re.MULTILINE)
    with pytest.raises(SystemExit):
        parsed(["train_weak_labeler", "--help"])
    shown = capsys.readouterr().out
    assert "models.weak_labeler" in shown
    assert re.search(r"^  training\.weak_labeler\.\*: \d+ settings", shown, re.MULTILINE)


@pytest.mark.parametrize("columns", [80, 200])
def test_every_stage_has_help_that_fits_a_terminal(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    for stage in all_stages():
        shown = stage_options(stage).format_help()
        assert len(shown.splitlines()) <= 48, stage.name
        assert max(map(len, shown.splitlines())) <= min(columns, 100), stage.name
        assert stage.title in " ".join(shown.split())
        assert "writes:" in shown
        assert "--again" in shown
        assert "--bot" not in shown
