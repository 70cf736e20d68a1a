"""Finding subtitle files: folders and zips, languages by path, sources that are wrong."""

import zipfile
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from conf.errors import InputError
from conf.settings import load_settings
from etl.subtitles.manifest import (
    find_subtitles,
    in_chosen_languages,
    in_film_sample,
    in_years,
    sources_fingerprint,
    wanted,
)
from jobs.subtitles.ingest import find_subtitles as stage
from udfs.opus.local_folders import HIDDEN

XML = b"<document><s><w>a</w></s></document>"


READ = "NOT coalesce(fault, '') LIKE 'unknown_format%'"
FRENCH = "more.zip!OpenSubtitles/xml/fr"


def manifest_tree(folder: Path) -> Path:
    """A source with plain files, gzip, two languages, hidden and other files, and a zip."""
    for name in (
        "xml/en/1999/10/1.xml",
        "xml/en/1999/10/2.xml.gz",
        "xml/en/2001/11/3.xml",
        "xml/de/1999/10/4.xml",
        "xml_unplaced/5.xml",
        "xml/en/1999/10/.6.xml",
        "xml/en/1999/10/readme.txt",
        ".git/7.xml",
    ):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(XML)
    with zipfile.ZipFile(folder / "more.zip", "w") as archive:
        for name in (
            "OpenSubtitles/xml/en/2003/12/8.xml",
            "OpenSubtitles/xml/fr/2003/12/9.xml",
            "INFO",
            "../up.xml",
        ):
            archive.writestr(name, XML)
    (folder / "broken.zip").write_bytes(b"PK not a zip")
    return folder


def test_folders_and_zips_are_listed_and_languages_chosen_by_path(spark: SparkSession, tmp_path: Path) -> None:
    source = str(manifest_tree(tmp_path / "OpenSubtitles2016"))
    listed = find_subtitles(spark, [source], ["en"], "v0")
    outcome = in_chosen_languages(listed, ["en"])
    assert outcome.dropped is not None
    dropped = outcome.dropped.where("reason = 'unknown_format'").collect()
    assert {(row.id, row.detail) for row in dropped} == {
        ("xml/en/1999/10/readme.txt", "files ending in .txt are not read"),
        *((name, HIDDEN) for name in ("xml/en/1999/10/.6.xml", ".git")),
        ("more.zip!INFO", "its name has no ending"),
    }
    rows = listed.where(READ).collect()
    found = {row.source_path: (row.language, row.movie_id, row.directory_year, row.subtitle_id) for row in rows}
    assert found == {
        "xml/en/1999/10/1.xml": ("en", "10", 1999, "1"),
        "xml/en/1999/10/2.xml.gz": ("en", "10", 1999, "2"),
        "xml/en/2001/11/3.xml": ("en", "11", 2001, "3"),
        "xml_unplaced/5.xml": (None, "file:5", None, "5"),
        "more.zip!OpenSubtitles/xml/en/2003/12/8.xml": ("en", "12", 2003, "8"),
        "more.zip!../up.xml": (None, "file:up", None, "up"),
        "broken.zip": (None, "file:broken.zip", None, "broken.zip"),
        "xml/de/": ("de", "file:xml/de/", None, "xml/de/"),
        f"{FRENCH}/": ("fr", f"file:{FRENCH}/", None, f"{FRENCH}/"),
    }
    assert {row.release for row in rows} == {"v2016"}
    member = next(row for row in rows if row.subtitle_id == "8")
    assert (member.bytes, member.method, member.container) == (len(XML), 0, f"{source}/more.zip")


def test_sources_deeper_in_the_tree_a_zip_itself_and_one_within_another(spark: SparkSession, tmp_path: Path) -> None:
    folder = manifest_tree(tmp_path / "data")
    sources = [str(folder / "xml" / "en"), f"file://{folder}/more.zip", str(folder)]
    rows = find_subtitles(spark, sources, ["en"], "v0").where(READ).collect()
    assert len({row.source_path for row in rows}) == len(rows)
    files = sorted(row.subtitle_id for row in rows if not row.source_path.endswith("/"))
    assert files == ["1", "2", "3", "5", "8", "broken.zip", "up"]
    assert {row.source_path for row in rows if row.source_path.endswith("/")} == {"xml/de/", f"{FRENCH}/"}
    assert {row.language for row in rows if row.source == sources[0]} == {"en"}
    assert {row.source for row in rows if row.subtitle_id == "8"} == {sources[1]}


def test_same_path_in_two_sources_stays_two_files(spark: SparkSession, tmp_path: Path) -> None:
    sources = [str(manifest_tree(tmp_path / name)) for name in ("v2016", "v2018")]
    rows = find_subtitles(spark, sources, ["de"], "v0").where("subtitle_id = '4'").collect()
    assert {(row.release, row.source_path) for row in rows} == {
        ("v2016", "xml/de/1999/10/4.xml"),
        ("v2018", f"{sources[1]}//xml/de/1999/10/4.xml"),
    }


def test_wrong_sources_are_named_with_the_cure(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "others").mkdir()
    for name in ("a.fr.srt", "b.pt-BR.srt"):
        (tmp_path / "others" / name).write_bytes(b"x")
    for name, file in (("lyrics", "a.lrc"), ("moses", "OpenSubtitles.en-fr.ids"), ("tmx", "en-fr.tmx.gz")):
        (tmp_path / name).mkdir()
        (tmp_path / name / file).write_bytes(b"x")
    cases = {
        "1 files of other kinds: lrc": [str(tmp_path / "lyrics")],
        "OPUS hold no times; take the one called 'xml'": [str(tmp_path / "moses")],
        "Moses and TMX downloads of OPUS": [str(tmp_path / "tmx")],
        "does not exist": [str(tmp_path / "gone")],
        "no .xml, .srt or .vtt file in en": [str(tmp_path / "empty")],
        "its files are in fr, pt_br": [str(tmp_path / "others")],
        "cannot be listed": ["nowhere://x/y"],
        "is empty": [],
    }
    for message, sources in cases.items():
        with pytest.raises(InputError, match=message) as wrong:
            find_subtitles(spark, sources, ["en"], "v0")
        assert "subtitles.sources" in str(wrong.value) or "OpenSubtitles/v2018/xml/en.zip" in str(wrong.value)
        assert "\n" not in str(wrong.value)


def test_fingerprint_changes_with_the_files_only(tmp_path: Path) -> None:
    folder = manifest_tree(tmp_path / "data")
    before = sources_fingerprint([str(folder)], ["en"])
    assert sources_fingerprint([str(folder)], ["en"]) == before
    (folder / "xml/de/1999/10/4.xml").write_bytes(XML * 2)
    assert sources_fingerprint([str(folder)], ["en"]) == before
    (folder / "xml/en/1999/10/1.xml").write_bytes(XML * 2)
    changed = sources_fingerprint([str(folder)], ["en"])
    (folder / "more.zip").unlink()
    assert len({before, changed, sources_fingerprint([str(folder)], ["en"])}) == 3


def test_a_smaller_sample_of_films_is_part_of_a_larger(spark: SparkSession) -> None:
    films = spark.range(20_000).select(F.col("id").cast("string").alias("movie_id"))
    shares = (("a", 0.01), ("b", 0.1), ("c", 1.0))
    row = (
        films.select(*(in_film_sample(F.col("movie_id"), share).cast("int").alias(name) for name, share in shares))
        .agg(F.sum("a"), F.sum("b"), F.sum("c"), F.sum(F.expr("int(a > b)")))
        .first()
    )
    assert row is not None
    assert 140 < row[0] < 260
    assert 1_850 < row[1] < 2_150
    assert (row[2], row[3]) == (20_000, 0)


@pytest.mark.parametrize(
    ("years", "kept"),
    [
        (None, [None, 0, 1989, 1990, 1999, 2000]),
        ((1990, 1999), [None, 1990, 1999]),
        ((1999, 1999), [None, 1999]),
        ((2001, 2002), [None]),
        ((0, 3000), [None, 0, 1989, 1990, 1999, 2000]),
    ],
)
def test_films_of_other_years_are_not_asked_for(
    spark: SparkSession, years: tuple[int, int] | None, kept: list[int | None]
) -> None:
    columns = "source string, movie_id string, language string, fault string, directory_year int"
    rows = [("a", "1", "en", None, year) for year in (None, 0, 1989, 1990, 1999, 2000)]
    listed = spark.createDataFrame(rows, columns)
    found = [row.directory_year for row in listed.where(in_years(F.col("directory_year"), years)).collect()]
    assert found == kept
    assert wanted(listed, ["a"], ["en"], 1.0, years).count() == len(kept)


def test_a_span_of_years_is_work_and_none_is_as_before_there_were_spans() -> None:
    before = stage.settings_hash(load_settings("local", []))
    (_, counted) = stage.covered(load_settings("local", []))
    assert "subtitles.years" not in counted
    spans = [load_settings("local", [], {"subtitles.years": years}) for years in ([1990, 1999], [1980, 1999], None)]
    (first, second, none) = map(stage.settings_hash, spans)
    assert len({before, first, second}) == 3
    assert none == before
    with pytest.raises(InputError, match="ends before it begins"):
        load_settings("local", [], {"subtitles.years": [1999, 1990]})
