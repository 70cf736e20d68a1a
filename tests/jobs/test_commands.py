"""Bad settings and bad input: one clear line, exit status 2, no traceback."""

from pathlib import Path

import pytest

from tests.jobs.conftest import jobs


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["run", "--set", "subtitles.langauges=[en]"], "setting subtitles.langauges is not known"),
        (["run", "--set", "subtitles.sample=2"], "setting subtitles.sample: Input should be less than or equal to 1"),
        (["run", "--set", "subtitles.sample"], "--set subtitles.sample: write section.key=value"),
        (["run", "--profile", "moon"], "profile 'moon' is not known"),
        (["run", "--config", "no/such.yaml"], "config file no/such.yaml is not there"),
        (["sing"], "stage 'sing' is not known"),
        (["run", "--to", "sing"], "stage 'sing' is not known"),
    ],
)
def test_bad_settings_are_named(arguments: list[str], line: str) -> None:
    done = jobs(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert line in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("sources", "line"),
    [
        ("[]", "subtitles.sources is empty"),
        ("[nowhere]", "nowhere is not there"),
        ("[empty]", "no .xml or .xml.gz file"),
    ],
)
def test_bad_sources_are_named(tmp_path: Path, sources: str, line: str) -> None:
    (tmp_path / "empty").mkdir()
    named = sources.replace("empty", str(tmp_path / "empty"))
    done = jobs("find_subtitles", "--set", f"subtitles.sources={named}", f"lakehouse.root={tmp_path / 'lakehouse'}")
    assert done.returncode == 2, done.stdout + done.stderr
    assert line in done.stderr
    assert "Traceback" not in done.stderr


def test_a_stage_without_its_input_says_what_is_missing(tmp_path: Path) -> None:
    done = jobs("choose_uploads", "--set", f"lakehouse.root={tmp_path}")
    assert done.returncode == 2
    assert "choose_uploads reads subtitles.files, which is not there" in done.stderr
