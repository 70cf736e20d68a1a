"""The command line: what help shows; bad settings and input give one clear line, exit status 2, no traceback."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from conf.errors import InputError
from conf.settings import load_settings
from etl.cli.command_line import main
from etl.cli.commands import COMPLETE, program
from tests.command_lines import parsed, shown
from tests.jobs.conftest import REPOSITORY, jobs


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["run", "--set", "subtitles.langauges=[en]"], "langauges is not known: did you mean subtitles.languages?"),
        (["run", "--set", "subtitles.sample=2"], "setting subtitles.sample: Input should be less than or equal to 1"),
        (["run", "--set", "subtitles.sample"], "--set subtitles.sample: write section.key=value"),
        (["run", "--profile", "moon"], "profile 'moon' is not known"),
        (["run", "--config", "no/such.yaml"], "config file no/such.yaml does not exist"),
        (["sing"], "stage 'sing' is not known: `python -m jobs plan` lists them"),
        (["runn"], "command 'runn' is not known: did you mean run? `python -m jobs --help` lists them"),
        (["clean_dialogue"], "stage 'clean_dialogue' is not known: did you mean clean_dialogues?"),
        (["run", "--to", "sing"], "stage 'sing' is not known"),
        (["run", "--bot", "esconv"], "No such option '--bot'."),
        (["sql", "--to", "clean_dialogues"], "No such option '--to'."),
        (["clean_dialogues", "--only", "x"], "No such option '--only'. (see edos-lakehouse clean_dialogues"),
        (["chat", "--bot", "eliza"], "Invalid value for '--bot': 'eliza' is not one of"),
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
        pytest.param("[nowhere]", "nowhere, which does not exist", marks=pytest.mark.slow),
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
    assert "choose_uploads reads subtitles.files, which does not exist" in done.stderr


def test_a_reader_that_has_enough_is_no_failure() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "jobs", "completion", "bash"]
    done = subprocess.run(command, cwd=REPOSITORY, stdout=writing, stderr=subprocess.PIPE, text=True, timeout=300)
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, "")


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


def test_help_names_commands_options_and_what_a_stage_depends_on() -> None:
    for name in program.commands:
        assert re.search(rf"^  {name} +[A-Z]", shown(), re.MULTILINE)
        assert max(map(len, shown(name).splitlines())) <= 80
    assert "--bot" in shown("chat")
    assert "--bot" not in shown("run")
    text = shown("segment_dialogues")
    assert "Split each film's turns into dialogues at silences of more than 5 s" in text
    assert "Reads:\n  subtitles.chosen_uploads\n  subtitles.files\n" in text
    assert "Writes:\n  subtitles.dialogues\n" in text
    assert re.search(r"^  subtitles\.silence_seconds \(5\) +EDOS 3\.1", text, re.MULTILINE)


def test_help_of_the_program_imports_no_spark() -> None:
    code = "import sys; from etl.cli.command_line import main; main(['--help']); sys.exit('pyspark' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True).returncode == 0


@pytest.mark.parametrize(
    ("given", "overrides", "more"),
    [
        (["--set", "a=1", "b=2", "--json"], ("a=1", "b=2"), {"as_json": True}),
        (["--json", "--set", "a=1", "--set", "b=2"], ("a=1", "b=2"), {"as_json": True}),
        (["--set=a=1", "--to", "clean_dialogues"], ("a=1",), {"to": "clean_dialogues"}),
    ],
)
def test_several_settings_follow_one_option(given: list[str], overrides: tuple[str, ...], more: dict[str, Any]) -> None:
    options = parsed(["plan", *given])
    assert options["overrides"] == overrides
    assert options.items() >= more.items()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("pl", {"plan"}),
        ("clean", {"clean_dialogues"}),
        ("plan --js", {"--json"}),
        ("run --to segment_d", {"segment_dialogues"}),
        ("segment_dialogues --ag", {"--again"}),
        ("run --profile ", {"local", "databricks", "emr"}),
        ("no_stage --ag", set()),
    ],
)
def test_a_shell_completes(line: str, expected: set[str], monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setenv(COMPLETE, "bash_complete")
    monkeypatch.setenv("COMP_WORDS", f"edos-lakehouse {line}")
    monkeypatch.setenv("COMP_CWORD", str(len(line.split()) + line.endswith(" ")))
    assert main([]) == 0
    assert {one.partition(",")[2] for one in capsys.readouterr().out.split()} == expected
