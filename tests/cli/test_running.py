"""The session that a run takes: short where the sources are small."""

from pathlib import Path

import pytest

from conf.settings import Settings, load_settings
from etl.cli import running
from etl.cli.running import are_small, run


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    (tmp_path / "films/xml/en").mkdir(parents=True)
    (tmp_path / "films/xml/en/1.xml").write_bytes(b"x" * 600)
    (tmp_path / "en.zip").write_bytes(b"x" * 300)
    (tmp_path / "gone").symlink_to(tmp_path / "nowhere")
    return tmp_path


@pytest.mark.parametrize(
    ("names", "small"),
    [
        (["en.zip"], True),
        (["films"], True),
        (["films", "en.zip"], True),
        (["films", "en.zip", "en.zip"], False),
        (["no such file"], False),
        (["gone"], False),
        ([], False),
    ],
)
def test_sources_are_small_together(sources: Path, names: list[str], small: bool) -> None:
    assert are_small([str(sources / name) for name in names], 1_000) == small


@pytest.mark.parametrize("source", ["s3a://bucket/en.zip", "n" * 5_000])
def test_what_is_no_local_path_is_not_small(source: str) -> None:
    assert not are_small([source])


def test_a_session_of_a_cluster_is_left_as_it_is(sources: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Settings] = []
    monkeypatch.setattr(running, "in_session", lambda settings, work: seen.append(settings) or 0)
    values = {"subtitles.sources": [str(sources / "films")], "spark.master": "spark://host:7077"}
    assert run(load_settings("local", [], values), [], again=False) == 0
    assert seen[0].spark.short_session is None


@pytest.mark.parametrize(("given", "taken"), [(None, True), (False, False), (True, True)])
def test_a_run_decides_where_nothing_is_set(
    sources: Path, given: bool | None, taken: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Settings] = []
    monkeypatch.setattr(running, "in_session", lambda settings, work: seen.append(settings) or 0)
    values = {"subtitles.sources": [str(sources / "films")], "spark.short_session": given}
    assert run(load_settings("local", [], values), [], again=False) == 0
    assert seen[0].spark.short_session is taken
