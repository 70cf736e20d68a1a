"""Sources that shrink or break: the run is refused before anything is deleted, says so, and one flag overrides it."""

import gzip
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from conf.errors import InputError, LossError
from conf.settings import Settings, load_settings
from etl.cli.running import failures_recorded, run_stages
from etl.pipeline.lease import leased
from etl.pipeline.planner import PipelineContext
from etl.pipeline.tables import TABLES
from etl.pipeline.tables.ops import STAGE_RUNS
from etl.subtitles.manifest import wanted
from jobs import all_stages

FILES = TABLES["subtitles.files"]
MANIFEST = TABLES["subtitles.manifest"]
CHAIN = [stage for stage in all_stages() if stage.name in ("find_subtitles", "ingest_subtitles")]


def spoken(name: str, sentences: int = 6) -> bytes:
    said = "".join(
        f'<s id="{n}"><time id="T{n}S" value="00:00:{n:02d},000"/><w>{name}</w><w>{n}</w>'
        f'<time id="T{n}E" value="00:00:{n:02d},900"/></s>'
        for n in range(1, sentences + 1)
    )
    return f"<document>{said}</document>".encode()


def srt(name: str, cues: int = 6) -> bytes:
    return "\n".join(f"{n}\n00:00:{n:02d},000 --> 00:00:{n:02d},900\n{name} says {n}.\n" for n in range(cues)).encode()


def settings_of(root: Path, source: Path, **more: object) -> Settings:
    own = {"lakehouse.root": str(root), "subtitles.sources": [str(source)], "spark.short_session": True}
    return load_settings("local", [], own | more)


@pytest.fixture(scope="module")
def first(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a source of five files of each of two kinds, each a film of its own, a copy, and a run's tables."""
    place = tmp_path_factory.mktemp("losses")
    folder = place / "source" / "xml" / "en" / "1999"
    for number in range(5):
        (folder / f"{number}").mkdir(parents=True)
        (folder / f"{number}" / f"{number}.xml.gz").write_bytes(gzip.compress(spoken(f"film {number}")))
        (folder / f"{number + 10}").mkdir()
        (folder / f"{number + 10}" / f"{number + 10}.srt").write_bytes(srt(f"film {number}"))
    shutil.copytree(place / "source", place / "copy")
    run_stages(spark, settings_of(place / "lake", place / "source"), CHAIN, [])
    return place


@pytest.fixture
def source(first: Path) -> Path:
    """The folder of the films, as it was in the first run."""
    shutil.rmtree(first / "source")
    return shutil.copytree(first / "copy", first / "source") / "xml" / "en" / "1999"


@pytest.fixture
def settings(tmp_path: Path, first: Path, source: Path) -> Settings:
    """Settings of a copy of the first run's tables."""
    return settings_of(shutil.copytree(first / "lake", tmp_path / "lake"), first / "source")


def files_of(source: Path, kind: str) -> Iterator[Path]:
    yield from sorted(source.rglob(f"*{kind}"))


def gone(source: Path) -> None:
    for path in [*files_of(source, ".gz")][:4]:
        path.unlink()


def rows(spark: SparkSession, settings: Settings) -> dict[str, int]:
    lakehouse = PipelineContext(spark, settings).lakehouse
    names = ("subtitles.manifest", "subtitles.files", "subtitles.quarantine", "ops.dropped")
    return {name: lakehouse.read(TABLES[name]).count() for name in names}


def events(spark: SparkSession, settings: Settings) -> list[tuple[str, str]]:
    found = PipelineContext(spark, settings).lakehouse.rows(STAGE_RUNS)
    return [(one["stage"], one["event"]) for one in sorted(found, key=lambda one: one["started"])]


def accepting(settings: Settings) -> Settings:
    return settings.model_copy(update={"pipeline": settings.pipeline.model_copy(update={"accept_loss": True})})


def test_a_half_synced_source_is_refused_before_anything_is_deleted(
    spark: SparkSession, settings: Settings, source: Path
) -> None:
    stage = "find_subtitles"
    before = rows(spark, settings)
    assert before == {"subtitles.manifest": 10, "subtitles.files": 10, "subtitles.quarantine": 0, "ops.dropped": 0}
    gone(source)
    with pytest.raises(LossError) as refused:
        run_stages(spark, settings, CHAIN, [])
    line = str(refused.value)
    assert "\n" not in line
    assert line.startswith(f"{stage}: ")
    assert "4 of 10 files that the sources had are not there any more" in line
    assert f"nothing was deleted from the lakehouse {settings.lakehouse.root}: restore" in line
    assert "`python -m jobs run --accept-loss`" in line
    assert rows(spark, settings) == before
    log = PipelineContext(spark, settings).log
    newest = log.newest(stage)
    assert newest is not None
    assert newest.event == "refused"
    assert newest.detail == line
    assert log.state(stage) == "failed"
    run_stages(spark, accepting(settings), CHAIN, [])
    assert rows(spark, settings)["subtitles.files"] == 6
    assert PipelineContext(spark, settings).log.state(stage) == "done"


def test_a_source_that_is_whole_again_is_no_work(spark: SparkSession, settings: Settings, source: Path) -> None:
    kept = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in files_of(source, ".gz")}
    gone(source)
    with pytest.raises(LossError):
        run_stages(spark, settings, CHAIN, [])
    for path, (content, time) in kept.items():
        path.write_bytes(content)
        os.utime(path, ns=(time, time))
    assert [PipelineContext(spark, settings).plan(stage).why for stage in CHAIN] == [None, None]


def test_growth_moves_and_bad_new_files_are_no_loss(spark: SparkSession, settings: Settings, source: Path) -> None:
    source.rename(source.with_name("1998"))
    (source / "77").mkdir(parents=True)
    for number in range(8):
        (source / "77" / f"{number + 70}.xml.gz").write_bytes(b"broken")
    run_stages(spark, settings, CHAIN, [])
    assert rows(spark, settings) == {
        "subtitles.manifest": 18,
        "subtitles.files": 10,
        "subtitles.quarantine": 8,
        "ops.dropped": 0,
    }


def test_a_source_of_which_nothing_can_be_read_stops_the_run(spark: SparkSession, tmp_path: Path) -> None:
    for name, content in (("good/a.en.srt", srt("film")), ("bad/b.en.srt", b""), ("bad/c.zip", b"PK\5\6" + b"\0" * 18)):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    (tmp_path / "es").mkdir()
    spanish = (
        "He caminado por esta orilla todas las mañanas desde que la tormenta se llevó el viejo muelle, y nada más. "
    )
    (tmp_path / "es" / "d.srt").write_bytes(srt(spanish, 4))
    sources = [str(tmp_path / name) for name in ("good", "bad")]
    settings = settings_of(tmp_path / "lake", tmp_path, **{"subtitles.sources": sources})
    with pytest.raises(InputError, match=r"no file of .*bad could be read: b.en.srt is empty .*mend its 2 files"):
        run_stages(spark, settings, CHAIN, [])
    assert rows(spark, settings)["subtitles.quarantine"] == 2
    (tmp_path / "bad" / "e.en.srt").write_bytes(srt("another"))
    run_stages(spark, settings, CHAIN, [])
    assert PipelineContext(spark, settings).log.state("ingest_subtitles") == "done"
    other = settings_of(tmp_path / "other", tmp_path / "es")
    with pytest.raises(InputError, match=r"no file is in a language of subtitles\.languages"):
        run_stages(spark, other, CHAIN, [])


@pytest.mark.parametrize(
    "values",
    [
        {"subtitles.sample": 0.2},
        pytest.param({"subtitles.languages": ["de"]}, marks=pytest.mark.long),
        pytest.param({"subtitles.years": [1980, 1989]}, marks=pytest.mark.long),
    ],
    ids=["films", "none", "years"],
)
def test_what_the_settings_do_not_ask_for_any_more_is_no_loss(
    spark: SparkSession, settings: Settings, first: Path, source: Path, values: dict[str, object]
) -> None:
    german = source.parents[1] / "de" / "1999" / "5"
    german.mkdir(parents=True)
    (german / "500.xml").write_bytes(spoken("Herr Ober"))
    now = settings_of(Path(settings.lakehouse.root), first / "source", **values)
    run_stages(spark, now, CHAIN[:1], [])
    assert rows(spark, settings)["subtitles.manifest"] < 10


def test_of_a_manifest_what_the_settings_still_ask_for_is_wanted(
    spark: SparkSession, settings: Settings, first: Path
) -> None:
    listed = PipelineContext(spark, settings).lakehouse.read(MANIFEST)
    asked = [(["en"], 1.0, None), (["en"], 0.2, None), (["de"], 1.0, None), (["en"], 1.0, (1980, 1989))]
    counts = [wanted(listed, [str(first / "source")], *one).count() for one in asked]
    assert counts[0] == 10
    assert 0 <= counts[1] < 10
    assert counts[2:] == [0, 0]


def test_a_run_that_is_killed_after_it_was_asked_for_again_is_not_done(
    spark: SparkSession, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    for stage in CHAIN:
        with monkeypatch.context() as patch:
            patch.setattr(type(stage), "call", lambda *_: (_ for _ in ()).throw(SystemExit("killed")))
            with pytest.raises(SystemExit):
                run_stages(spark, settings, [stage], [], again=True)
        after = PipelineContext(spark, settings)
        assert after.log.state(stage.name) == "stopped"
        assert after.plan(stage).why is not None
        assert after.plan(stage).rebuild or after.log.unfinished(stage.name) is not None
    run_stages(spark, settings, CHAIN, [])
    after = PipelineContext(spark, settings)
    assert [after.log.state(stage.name) for stage in CHAIN] == ["done", "done"]
    assert [after.plan(stage).why for stage in CHAIN] == [None, None]


def test_a_failed_run_leaves_its_line_even_where_it_never_began(
    spark: SparkSession, first: Path, tmp_path: Path
) -> None:
    settings = settings_of(tmp_path / "new", first / "source")
    with pytest.raises(InputError, match=r"reads subtitles\.manifest, which does not exist"):
        run_stages(spark, settings, CHAIN[1:], [])
    context = PipelineContext(spark, settings)
    newest = context.log.newest("ingest_subtitles")
    assert newest is not None
    assert newest.event == "failed"
    assert "which does not exist: run find_subtitles first" in str(newest.detail)
    assert context.log.state("ingest_subtitles") == "failed"
    secret = RuntimeError("cannot reach https://me:hunter2@host/x\nsecond line")
    with pytest.raises(RuntimeError), failures_recorded(context, CHAIN[0]):
        raise secret
    newest = context.log.newest("find_subtitles")
    assert newest is not None
    row = next(one for one in context.lakehouse.rows(STAGE_RUNS) if one["stage"] == "find_subtitles")
    assert "hunter2" not in row["detail"]
    assert "\n" not in row["detail"]


def test_a_run_that_finds_the_stage_in_use_leaves_no_row(spark: SparkSession, first: Path, tmp_path: Path) -> None:
    settings = settings_of(tmp_path / "new", first / "source")
    with leased(settings, "find_subtitles"), pytest.raises(InputError, match="in use"):
        run_stages(spark, settings, CHAIN[:1], [])
    assert events(spark, settings) == []
