"""Files of votes as people have them: other column orders, formats and damage. Labels stay with their dialogues."""

import csv
import gzip
import io
import json
import re
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from conf.errors import InputError
from conf.settings import load_settings
from etl.common.labelled_files import usable_files
from etl.edos.tables import ANSWERS
from etl.edos.votes import VOTE_COLUMNS
from etl.pipeline.planner import PipelineContext
from etl.pipeline.tables import TABLES
from jobs.edos.crowd import agree_labels, collect_annotations, collect_answers
from tests.stages import called, run_stages, stage_run

pytestmark = pytest.mark.usefixtures("tables")

ODD_IDS = ("1.09E+05", "1.09012E+05", "109013.0")
COLUMNS = ("Index", "DialogID", "Dialog", "Worker 1 answer", "Worker 2 answer", "Worker 3 answer")


def votes(number: int, label: str, text: str = "It rains .") -> dict[str, str]:
    return dict(zip(COLUMNS, (f"0.9-{number}", str(number), text, label, label, "Neutral"), strict=True))


def table(rows: list[dict[str, str]], columns: tuple[str, ...] = COLUMNS) -> str:
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, columns, extrasaction="ignore")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def collected(spark: SparkSession, tmp_path: Path) -> tuple[dict[str, str], set[tuple[str, ...]]]:
    """Return the label of each dialogue, and the ledger of the stage that reads votes."""
    settings = {"lakehouse.root": str(tmp_path / "lakehouse"), "edos.crowd_votes": f"[{tmp_path}/votes]"}
    context = PipelineContext(spark, load_settings("local", [], [f"{key}={value}" for key, value in settings.items()]))
    run_stages(context, [collect_answers, collect_annotations, agree_labels])
    read = context.lakehouse.read
    labels = {row.dialogue_id: row.label for row in read(TABLES["edos.crowd_labels"]).collect()}
    dropped = read(TABLES["ops.dropped"]).where("stage = 'collect_annotations'").collect()
    return labels, {(row.unit, row.id, row.reason, row.units) for row in dropped}


def test_each_file_is_read_by_its_header_and_all_damage_is_in_the_ledger(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "votes"
    folder.mkdir()
    rows = table([votes(1, "Sad", "It\nrains ."), votes(2, "Proud")]).splitlines(keepends=True)
    open_quote = '0.9-9,9,"It rains .,Sad,Sad,Sad\r\n'
    (folder / "a.csv").write_text("".join([*rows[:3], open_quote, *rows[3:]]), "utf-8", newline="")
    (folder / "b.csv.gz").write_bytes(gzip.compress(table([votes(3, "Afraid")]).encode()))
    lines = [json.dumps(votes(4, "Sad")), json.dumps(votes(5, "Sad", "\ud83d")), "[" * 50_000, '{"Index": "1"}']
    (folder / "c.jsonl").write_text("\n".join(lines), "utf-8")
    (folder / "d.json.gz").write_bytes(gzip.compress(json.dumps([votes(6, "Proud"), 7]).encode()))
    (folder / "e.csv").write_bytes(table([votes(7, "Sad"), votes(8, "Sad", "caf@")]).encode().replace(b"@", b"\xe9"))
    other = ("Worker 1 answer", "Worker 2 answer", "Dialog", "Worker 3 answer", "DialogID", "Index")
    (folder / "f.csv").write_text("\ufeff" + table([votes(11, "Afraid"), votes(12, "Proud")], other), "utf-8")
    odd = [votes(n, "\u00a0Sad\u00a0", "Hi .<br>It rains .") | {"DialogID": name} for n, name in enumerate(ODD_IDS)]
    (folder / "g.csv").write_text(
        table(odd).replace("Worker ", "Worker\u00a0").replace("\r\n", "\r"), "utf-8", newline=""
    )
    (folder / "notes.csv").write_text("a,b\n1,2\n", "utf-8")
    (folder / "cut.csv.gz").write_bytes(gzip.compress(table([votes(10, "Sad")]).encode(), mtime=0)[:-9])
    (folder / "broken.csv.gz").write_bytes(b"\x1f\x8bno gzip")
    (folder / "README.md").write_text("Votes", "utf-8")
    labels, dropped = collected(spark, tmp_path)
    assert labels == {
        "1": "sad",
        "2": "proud",
        "3": "afraid",
        "4": "sad",
        "6": "proud",
        "7": "sad",
        "8": "sad",
        "10": "sad",
        "11": "afraid",
        "12": "proud",
        "109012": "sad",
        "109013": "sad",
    }
    assert dropped == {
        ("row", "a.csv:4", "open_quote", 3),
        ("row", "g.csv:2", "rounded_id", 3),
        ("row", "c.jsonl:2", "not_unicode", 3),
        ("row", "c.jsonl:3", "too_deep", 3),
        ("row", "c.jsonl:4", "no_column", 3),
        ("row", "d.json.gz:2", "no_object", 3),
        ("file", "notes.csv", "no_column", 0),
        ("file", "cut.csv.gz", "bad_gzip", 0),
        ("file", "broken.csv.gz", "bad_gzip", 0),
        ("file", "README.md", "unknown_format", 0),
    }


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("Index,Dialog\n1,x\n", r"edos\.crowd_votes: no file has the columns Index, .*; a\.csv: no_column: DialogID"),
        ("", r"a\.csv: no_header: the file is empty"),
        (",".join(COLUMNS), r"^edos\.crowd_votes: no row of votes in "),
        (None, r"nor a folder with \.csv, "),
    ],
)
def test_nothing_of_use_is_a_wrong_setting(
    spark: SparkSession, tmp_path: Path, content: str | None, message: str
) -> None:
    (tmp_path / "votes").mkdir()
    if content is not None:
        (tmp_path / "votes" / "a.csv").write_text(content, "utf-8")
    settings = load_settings("local", [], {"edos.crowd_votes": [f"{tmp_path}/votes"]})
    with pytest.raises(InputError, match=message) as error:
        called(collect_annotations, stage_run(spark, settings), settings, spark.createDataFrame([], ANSWERS.schema))
    assert "\n" not in str(error.value)


def test_all_refused_files_are_named_in_one_line(tmp_path: Path) -> None:
    for number in range(6):
        (tmp_path / f"v\n{number}.csv").write_text("Index;DialogID\n1;2\n" if number else "", "utf-8")
    with pytest.raises(InputError) as error:
        usable_files([str(tmp_path)], VOTE_COLUMNS, "edos.crowd_votes")
    message = str(error.value)
    found = re.findall(r"v (\d)\.csv: (\w+): ", message)
    assert found == [("0", "no_header"), *((str(n), "no_column") for n in range(1, 5))]
    assert message.endswith("; and 1 more")
    assert "\n" not in message


def test_the_columns_are_those_of_the_released_file() -> None:
    assert VOTE_COLUMNS == COLUMNS
