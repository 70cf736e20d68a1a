"""The views over the EDOS tables run and hold what the paper's tables hold."""

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from conf.taxonomy import edos_labels
from etl.analysis.edos_views import edos_views, paper_counts

TABLES = {
    "edos_dialogues": "array(named_struct('text', 'Is it over ?', 'label', 'sad', 'confidence', 0.5f),"
    " named_struct('text', 'It is .', 'label', 'proud', 'confidence', 0.5f)) AS turns",
    "ops_dropped": "'s' AS stage, 'turn' AS unit, '1' AS id, 'too_short' AS reason, 2L AS units",
    "ops_stage_runs": "'s' AS stage, 'r' AS run_id, 'done' AS event, current_timestamp() AS started, 'turn' AS unit,"
    " 9L AS rows_in, 6L AS rows_out, 2L AS rows_dropped, 1L AS rows_quarantined",
    "subtitles_turn_scores": "'p' AS source_path, 'f' AS subtitle_id, array(-0.5f, 1.5f) AS scores",
}


@pytest.fixture()
def views(spark: SparkSession) -> Iterator[dict[str, str]]:
    """The views' SQL over one-row stand-ins of the tables."""
    for name, row in TABLES.items():
        spark.sql(f"SELECT {row}").createOrReplaceTempView(f"stand_in_{name}")
    sql = {}
    for name, (comment, text) in edos_views().items():
        assert comment.endswith(".")
        for table in TABLES:
            text = text.replace(table.replace("_", ".", 1), f"stand_in_{table}")
        sql[name] = text
    yield sql
    for name in TABLES:
        spark.catalog.dropTempView(f"stand_in_{name}")


def test_the_papers_counts_add_up_to_its_totals() -> None:
    counts = paper_counts()
    assert set(counts) == set(edos_labels())
    assert sum(dialogues for dialogues, _ in counts.values()) == 1_000_000
    assert sum(turns for _, turns in counts.values()) == 2_829_426


def test_table_9_counts_first_turns_and_turns_for_every_label(spark: SparkSession, views: dict[str, str]) -> None:
    rows = spark.sql(views["analysis.edos_table_9"]).collect()
    assert [row["label"] for row in rows] == [*edos_labels(), "total"]
    ours = {row["label"]: (row["dialogues"], row["turns"]) for row in rows if row["turns"]}
    assert ours == {"sad": (1, 1), "proud": (0, 1), "total": (1, 2)}
    assert (rows[-1]["paper_dialogues"], rows[-1]["paper_turns"]) == (1_000_000, 2_829_426)


def test_table_3_and_the_ledgers(spark: SparkSession, views: dict[str, str]) -> None:
    table_3 = [row["value"] for row in spark.sql(views["analysis.edos_table_3"]).collect()]
    assert table_3 == [1, 2, 7, 2, 7, 3.5]
    assert spark.sql(views["analysis.reconciliation"]).collect()[0]["unexplained"] == 0
    assert spark.sql(views["analysis.dropped_by_reason"]).collect()[0]["units"] == 2
    pairs = spark.sql(views["analysis.turn_score_pairs"]).collect()
    assert [(row["sentence"], row["next_sentence"], row["opens_turn"]) for row in pairs] == [
        (0, 1, False),
        (1, 2, True),
    ]
