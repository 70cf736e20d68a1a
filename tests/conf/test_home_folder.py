"""Paths in settings that begin with the user's home folder."""

from pathlib import Path

import pytest

from conf.errors import InputError
from conf.settings import load_settings


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("~/votes.csv", "{home}/votes.csv"),
        ("file:~/models/a", "file:{home}/models/a"),
        ("file://~/models/a", "file://{home}/models/a"),
        ("votes~/a", "votes~/a"),
        ("s3://~/a", "s3://~/a"),
        ("~other/a", "~other/a"),
    ],
)
def test_a_tilde_is_the_home_folder_wherever_a_setting_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str, found: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    expected = found.format(home=tmp_path)
    file = tmp_path / "my.yaml"
    file.write_text(f"lakehouse: {{root: '{given}'}}\nedos: {{crowd_votes: ['{given}', b.csv]}}\n", encoding="utf-8")
    settings = load_settings("local", [file], [f"models.weak_labeler={given}"])
    assert settings.lakehouse.root == settings.models.weak_labeler == expected
    assert list(settings.edos.crowd_votes) == [expected, "b.csv"]


def test_variables_of_the_environment_in_paths(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EDOS_PLACE", "/data/edos")
    given = {"lakehouse.root": "$EDOS_PLACE/lake", "subtitles.sources": ["${EDOS_PLACE}/subs", "s3://a:b$c@d/e"]}
    settings = load_settings("local", [], given)
    assert settings.lakehouse.root == "/data/edos/lake"
    assert settings.subtitles.sources == ("/data/edos/subs", "s3://a:b$c@d/e")
    with pytest.raises(InputError, match="environment variable EDOS_NOWHERE is not set"):
        load_settings("local", [], {"lakehouse.root": "$EDOS_NOWHERE/lake"})


def test_norwegian_is_no_truth_value() -> None:
    assert load_settings("local", [], ["subtitles.languages=[no, en]"]).subtitles.languages == ("no", "en")
