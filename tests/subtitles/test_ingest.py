"""Reading a manifest: nothing lost, bad files to the quarantine, copies left out, zip and folder alike."""

import csv
import gzip
import os
import zipfile
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from etl.subtitles.copies import mark_copies
from etl.subtitles.ingest import balanced_by_bytes, ingest_subtitles
from etl.subtitles.manifest import find_subtitles
from etl.subtitles.tables import FILES
from tests.attacks.zips import UTF8, Entry, zip_of


def ingest_xml(words: str, language: str = "English") -> bytes:
    spoken = "".join(f"<w>{word}</w>" for word in words.split())
    return (
        f'<document id="x"><s><time id="T1S" value="00:00:01,000"/>{spoken}<time id="T1E" value="00:00:02,000"/></s>'
        f"<meta><subtitle><language>{language}</language></subtitle></meta></document>"
    ).encode()


SPANISH = (
    "1\n00:00:01,000 --> 00:00:03,000\nNo sé dónde están las llaves de la casa de mi abuela.\n\n"
    "2\n00:00:04,000 --> 00:00:06,000\nLas dejaste encima de la mesa, como siempre, y luego te fuiste a dormir.\n\n"
    "3\n00:00:07,000 --> 00:00:09,000\nEntonces alguien las ha cogido mientras dormíamos los dos.\n"
)


def ingest_write(folder: Path, files: dict[str, bytes]) -> str:
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return str(folder)


def ingest_plain_rows(rows: DataFrame) -> list[Any]:
    columns = [name for name in FILES.columns if name not in ("source", "source_path", "work_version")]
    return sorted(rows.select(F.to_json(F.struct(*columns))).toPandas().iloc[:, 0])


def test_marks_are_kept_with_the_file_and_are_no_part_of_its_hash(spark: SparkSession, tmp_path: Path) -> None:
    files = {"xml/en/1999/1/1.xml": ingest_xml("- Come"), "xml/en/1999/2/2.xml": ingest_xml("Come in")}
    source = ingest_write(tmp_path, files)
    rows = ingest_subtitles(find_subtitles(spark, [source], ["en"], "v2018")).rows
    added = ("source", "source_path", "speaker_marks", "content_hash", "work_version")
    read = [F.to_json(name) if name == "quirks" else F.col(name) for name in FILES.columns if name not in added]
    found = rows.select("subtitle_id", "speaker_marks", F.expr("content_hash") == F.xxhash64(*read)).collect()
    assert sorted(tuple(row) for row in found) == [("1", 1, True), ("2", 0, True)]


def test_bad_and_vanished_files_go_to_the_quarantine_and_the_rest_goes_on(spark: SparkSession, tmp_path: Path) -> None:
    good = ingest_xml("Come in")
    files = {
        "xml/en/1999/1/1.xml": good,
        "xml/en/1999/1/2.xml.gz": gzip.compress(good),
        "xml/en/1999/1/3.xml": b"",
        "xml/en/1999/1/4.xml.gz": gzip.compress(good)[:-9],
        "xml/en/1999/1/5.xml": b"<!DOCTYPE x><document/>",
        "xml/en/1999/1/6.xml": b"hello",
        "xml/en/1999/1/7.xml.gz": gzip.compress(b"a" * (3 << 20)),
        "xml/en/1999/1/8.xml": good.replace(b"Come", b"caf\xe9"),
        "xml_unplaced/9.xml": ingest_xml("Come in"),
        "xml_unplaced/10.xml": ingest_xml("Entrez", "French"),
        "xml_unplaced/1.xml": good,
        "own/film.en.srt": SPANISH.encode(),
        "b/xml/en/1999/1/2.xml": good,
        "xml/en/1999/1/20.xml": good,
    }
    source = ingest_write(tmp_path, files)
    with zipfile.ZipFile(tmp_path / "z.zip", "w") as archive:
        archive.writestr("xml/en/2000/2/../11.xml", good)
        archive.writestr("xml/en/2000/2/12.xml", good)
    (tmp_path / "broken.zip").write_bytes(b"PK")
    manifest = find_subtitles(spark, [source], ["en"], "v2018")
    (tmp_path / "xml/en/1999/1/2.xml.gz").rename(tmp_path / "gone")
    (tmp_path / "xml/en/1999/1/20.xml").unlink()
    outcome = ingest_subtitles(manifest, languages=["en"], sources=[source])
    assert outcome.dropped is not None
    assert outcome.quarantined is not None
    kept = {row.source_path: row.language for row in outcome.rows.select("source_path", "language").collect()}
    dropped = {row.id: (row.unit, row.reason, row.units) for row in outcome.dropped.collect()}
    refused = {row.source_path: row.reason for row in outcome.quarantined.collect()}
    assert kept == {
        "xml/en/1999/1/1.xml": "en",
        "xml_unplaced/9.xml": "en",
        "z.zip!xml/en/2000/2/12.xml": "en",
        "b/xml/en/1999/1/2.xml": "en",
    }
    assert dropped == {
        "xml/en/1999/1/2.xml.gz": ("file", "same_upload_again", 1),
        "xml_unplaced/1.xml": ("file", "same_upload_again", 1),
        "xml_unplaced/10.xml": ("file", "language_not_chosen", 1),
        "own/film.en.srt": ("file", "language_not_chosen", 1),
    }
    told = {row.id: row.detail for row in outcome.dropped.where("reason = 'language_not_chosen'").collect()}
    assert told == {"xml_unplaced/10.xml": "fr", "own/film.en.srt": "es: by its text, despite its name"}
    assert refused == {
        "xml/en/1999/1/3.xml": "empty",
        "xml/en/1999/1/4.xml.gz": "truncated_gzip",
        "xml/en/1999/1/5.xml": "doctype",
        "xml/en/1999/1/6.xml": "not_xml",
        "xml/en/1999/1/7.xml.gz": "ratio",
        "xml/en/1999/1/8.xml": "bad_encoding",
        "xml/en/1999/1/20.xml": "unreadable",
        "z.zip!xml/en/2000/2/../11.xml": "unsafe_name",
        "broken.zip": "bad_zip",
    }
    assert manifest.count() == len(kept) + len(dropped) + len(refused)
    spark.catalog.clearCache()


def test_copies_by_source_then_path(spark: SparkSession) -> None:
    rows = [
        ("b", "1.xml", "v2018", "en", "1"),
        ("a", "2.xml", "v2018", "en", "1"),
        ("a", "3.xml", "v2018", "en", "1"),
        ("a", "4.xml", "v2016", "en", "1"),
        ("a", "5.xml", "v2018", "de", "1"),
        ("a", "6.xml", "v2018", None, "1"),
        ("a", "7.xml", "v2018", None, "7"),
        ("a", "8.xml", "v2018", "en", "8"),
        ("a", "9.xml", "v2018", "en", "9"),
        ("b", "0.xml", "v2018", "en", "1", "bad_zip: x"),
        ("a", "f.xml", "v2018", "en", "5", "bad_zip: x"),
    ]
    columns = "source string, source_path string, release string, language string, subtitle_id string, fault string"
    manifest = spark.createDataFrame([(*row, *[None] * (6 - len(row))) for row in rows], columns)
    marked = mark_copies(manifest.repartition(3), ["b", "a"]).collect()
    assert {row.source_path: row.copy_of for row in marked if row.copy_of} == {
        "2.xml": "1.xml",
        "3.xml": "1.xml",
        "6.xml": "1.xml",
    }
    assert len(marked) == len(rows)


def test_hostile_names_sizes_and_sources_reach_the_tables(spark: SparkSession, tmp_path: Path) -> None:
    """Names that are not UTF-8, sizes beyond 2**63, what is no file, and a source that adds nothing to another."""
    good = ingest_xml("Come in")
    ingest_write(tmp_path, {"xml/en/1999/1/1.xml": good, "xml/en/1999/1/2.xml": good})
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/xml/en/1999/1/caf\xe9.xml")).write_bytes(good)
    os.mkfifo(tmp_path / "xml/en/1999/1/pipe.xml")
    entries = [Entry(b"xml/en/2000/2/%d.xml" % number, good) for number in range(4)]
    entries[1:2] = [Entry(b"xml/en/2000/2/9.xml", good, claimed_bytes=claim) for claim in (2**63, 2**62, 2**62)]
    entries += [Entry(b"xml/en/2000/2/\xff.xml", good, UTF8), Entry(b"xml/en/2000/2/3.xml", good)]
    (tmp_path / "z.zip").write_bytes(zip_of(entries))
    sources = [str(tmp_path), str(tmp_path / "xml")]
    manifest = find_subtitles(spark, sources, ["en"], "v2018")
    outcome = ingest_subtitles(manifest, languages=["en"], sources=sources)
    assert outcome.dropped is not None
    assert outcome.quarantined is not None
    kept = {row.source_path for row in outcome.rows.select("source_path").collect()}
    dropped = {row.id: row.detail for row in outcome.dropped.collect()}
    refused = {row.source_path: row.reason for row in outcome.quarantined.collect()}
    folder = "xml/en/1999/1"
    zipped = "z.zip!xml/en/2000/2"
    assert kept == {
        f"{folder}/1.xml",
        f"{folder}/2.xml",
        f"{folder}/caf\ufffdE9.xml",
        f"{zipped}/0.xml",
        f"{zipped}/3.xml",
        f"{zipped}/\ufffdFF.xml",
    }
    assert dropped == {
        f"{zipped}/2.xml": f"read instead: {folder}/2.xml",
        f"{zipped}/3.xml#2": f"read instead: {zipped}/3.xml",
    }
    assert refused == {
        f"{folder}/pipe.xml": "not_a_file",
        f"{zipped}/9.xml": "too_large",
        f"{zipped}/9.xml#2": "too_large",
        f"{zipped}/9.xml#3": "too_large",
    }
    assert manifest.count() == len(kept) + len(dropped) + len(refused)
    spark.catalog.clearCache()


def test_a_zip_gives_the_same_rows_as_its_folder_whatever_the_tasks(spark: SparkSession, tmp_path: Path) -> None:
    files = {f"xml/en/1999/{n % 7}/{n}.xml": ingest_xml(f"word{n} " * (n + 1)) for n in range(40)}
    folder = ingest_write(tmp_path / "tree", files)
    with zipfile.ZipFile(tmp_path / "en.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    from_tree = ingest_subtitles(find_subtitles(spark, [folder], ["en"], "v2018").repartition(5))
    from_zip = ingest_subtitles(find_subtitles(spark, [str(tmp_path / "en.zip")], ["en"], "v2018"), task_mb=1)
    assert ingest_plain_rows(from_tree.rows) == ingest_plain_rows(from_zip.rows)
    assert from_tree.rows.count() == 40
    assert from_tree.rows.dtypes == [(one.name, one.dataType.simpleString()) for one in FILES.schema][:-1]
    spark.catalog.clearCache()


EVEN = [1 << 20] * 16
MIXED = [4 << 20] * 3 + [4 << 10] * 500 + [4 << 20] * 3  # a task of few rows beside one of many
LARGE = [9 << 20, 1 << 10, 1 << 20]
SMALL = [1 << 10] * 3


@pytest.mark.parametrize(
    ("sizes", "zipped"),
    [
        pytest.param(MIXED, True, id="mixed in a zip"),
        pytest.param(MIXED, False, id="mixed in a folder"),
        pytest.param(LARGE, False, id="large in a folder"),
        pytest.param(EVEN, True, id="even in a zip", marks=pytest.mark.long),
        pytest.param(EVEN, False, id="even in a folder", marks=pytest.mark.long),
        pytest.param(LARGE, True, id="large in a zip", marks=pytest.mark.long),
        pytest.param(SMALL, True, id="small in a zip", marks=pytest.mark.long),
        pytest.param(SMALL, False, id="small in a folder", marks=pytest.mark.long),
    ],
)
def test_tasks_have_neighbours_and_even_bytes(spark: SparkSession, sizes: list[int], zipped: bool) -> None:
    rows = [("s", f"{number:04}", size) for number, size in enumerate(sizes)]
    plain = {"container": F.col("source_path"), "offset": F.lit(0), "method": F.lit(None).cast("int")}
    # Several of the ranges within which sizes are added up have files.
    in_zip = {"container": F.lit("en.zip"), "offset": F.expr("bigint(source_path) * 3000000"), "method": F.lit(8)}
    columns = {"directory_year": F.expr("1990 + int(source_path) div 100"), **(in_zip if zipped else plain)}
    frame = spark.createDataFrame(rows, "source string, source_path string, stored_bytes bigint")
    found = frame.withColumns(columns).repartition(3)
    most = 3 << 20
    tasks: dict[int, list[str]] = {}
    for row in balanced_by_bytes(found, most).withColumn("task", F.spark_partition_id()).collect():
        tasks.setdefault(row.task, []).append(row.source_path)
    paths = sorted(path for task in tasks.values() for path in task)
    assert paths == [path for _, path, _ in rows]
    for task in tasks.values():
        assert paths.index(max(task)) - paths.index(min(task)) == len(task) - 1
        assert sum(sizes[int(path)] for path in task) < most + max(sizes)
    opening = 0 if zipped else (64 << 10) * len(sizes)
    assert len(tasks) <= (sum(sizes) + opening) // (1 << 20) + 1


@pytest.mark.long
def test_the_real_sample_is_read_whole(spark: SparkSession, shared_data: Path) -> None:
    """267 files, as published but for sentences in which the speaker changes, and for tokens that cannot be seen."""
    folder = shared_data / "opensubtitles2018_xml"
    manifest = find_subtitles(spark, [str(folder)], ["en"], "v0")
    outcome = ingest_subtitles(manifest, languages=["en"], sources=[str(folder)])
    found = outcome.rows.select(
        "source_path",
        "sentence_count",
        "token_count",
        F.size("sentences"),
        "language",
        "release",
        F.expr("aggregate(sentences, 0, (n, s) -> n + if(s.text = '', 0, size(split(s.text, ' '))))"),
    ).collect()
    with (folder / "manifest.tsv").open(encoding="utf-8", newline="") as lines:
        published = {
            row["path"]: (int(row["sentences"]), int(row["tokens"])) for row in csv.DictReader(lines, delimiter="\t")
        }
    assert {row[0] for row in found} == set(published)
    unseen = [published[row[0]][1] - row[2] for row in found]
    assert min(unseen) == 0
    assert sum(one > 0 for one in unseen) <= 3
    assert sum(unseen) <= 30
    parted = [row[1] - published[row[0]][0] for row in found]
    assert min(parted) == 0
    assert 0 < sum(parted) < 100
    assert all(row[3] == row[1] and row[6] == row[2] for row in found)
    assert {(row[4], row[5]) for row in found} == {("en", "v2018")}
    spark.catalog.clearCache()


BAD = b"hello"
GOOD = ingest_xml("Come in")
OTHER = ingest_xml("Go out")
FRENCH = ingest_xml("Entrez", "French")


COPIES = [
    # files, those that are kept, those that repeat another, those that are refused, by their first folder
    ({"a/xml/en/1/1/1.xml": GOOD, "b/xml/en/1/1/1.xml": OTHER}, {"a"}, {"b": "a"}, set()),
    ({"a/xml/en/1/1/1.xml": BAD, "b/xml/en/1/1/1.xml": GOOD}, {"b"}, {}, {"a"}),
    (
        {
            "a/xml/en/1/1/1.xml": BAD,
            "b/xml/en/1/1/1.xml": GOOD,
            "c/xml/en/1/1/1.xml": OTHER,
            "d/xml/en/1/1/1.xml": BAD,
        },
        {"b"},
        {"c": "b"},
        {"a", "d"},
    ),
    ({"a/xml/en/1/1/1.xml": BAD, "b/xml/en/1/1/1.xml.gz": gzip.compress(GOOD)[:-9]}, set(), {}, {"a", "b"}),
    # A copy whose path names no language comes after all that do, and may be French.
    (
        {"a/xml/en/1/1/1.xml": BAD, "b/1.xml": FRENCH, "c/1.xml": GOOD, "d/xml/en/1/1/1.xml": BAD},
        {"c"},
        {},
        {"a", "d"},
    ),
    ({"a/1.xml": FRENCH, "b/1.xml": GOOD, "c/1.xml": GOOD}, {"b"}, {"c": "b"}, set()),
    ({"a/xml/en/1/1/1.xml": BAD, "b/1.xml": BAD, "c/xml/en/1/2/2.xml": GOOD}, {"c"}, {}, {"a", "b"}),
    # Another release is another file.
    ({"v2016/xml/en/1/1/1.xml": BAD, "v2018/xml/en/1/1/1.xml": GOOD}, {"v2018"}, {}, {"v2016"}),
]


def test_a_copy_that_cannot_be_read_takes_no_intact_one_with_it(spark: SparkSession, tmp_path: Path) -> None:
    """The subtitles of each case have numbers of their own, which begin with the case's."""
    files = {
        f"{folder}/{case}{name}": content
        for case, (given, *_) in enumerate(COPIES)
        for (folder, _, name), content in ((path.rpartition("/"), content) for path, content in given.items())
    }
    source = ingest_write(tmp_path, files)
    manifest = find_subtitles(spark, [source], ["en"], "v0")
    outcome = ingest_subtitles(manifest, languages=["en"], sources=[source])
    assert outcome.dropped is not None
    assert outcome.quarantined is not None

    def top(path: str) -> tuple[int, str]:
        """Return the case and the first folder of a file."""
        path = path.removeprefix("read instead: ")
        return int(path.rpartition("/")[2][0]), path.split("/")[0]

    dropped = outcome.dropped.collect()
    rows = outcome.rows.select("source_path").collect()
    refused = outcome.quarantined.collect()
    cases = list(enumerate(COPIES))
    assert {top(row.source_path) for row in rows} == {(n, name) for n, (_, kept, *_) in cases for name in kept}
    assert {top(row.id): top(row.detail) for row in dropped if row.reason == "same_upload_again"} == {
        (n, name): (n, first) for n, (_, _, again, _) in cases for name, first in again.items()
    }
    assert {top(row.source_path) for row in refused} == {(n, name) for n, (*_, bad) in cases for name in bad}
    assert len(files) == len(rows) + len(dropped) + len(refused)
    spark.catalog.clearCache()
