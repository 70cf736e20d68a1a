"""The views' SQL, on a few rows."""

import re
from collections.abc import Iterator

import pytest
from pyspark.sql import Row, SparkSession

from etl.analysis.emo_pillars_views import emo_pillars_views
from etl.analysis.llm_views import llm_views
from etl.lakehouse.tables import TABLES

LABELS = "array(named_struct('label', 'joy', 'level', 0.9D), named_struct('label', 'fear', 'level', 0.5D))"
ROWS = {
    "emo_pillars.plots": "SELECT concat('p', id) AS plot_id FROM range(450)",
    "emo_pillars.actors": "SELECT * FROM VALUES ('p1'), ('p1'), ('p1'), ('p2') AS t(plot_id)",
    "emo_pillars.utterances": "SELECT concat('a', id % 2) AS actor_id FROM range(6)",
    "emo_pillars.examples": f"SELECT concat('p', id) AS plot_id, concat('a', id) AS actor_id, 'joy' AS primary_label, "
    f"{LABELS} AS labels, id % 4 = 0 AS goes_on FROM range(400)",
    "emo_pillars.contextual_examples": "SELECT id FROM range(100)",
    "llm.emo_pillars_actors": "SELECT 'm' AS model, 10 AS prompt_tokens, 5 AS answer_tokens, 1.8D AS seconds, "
    "CAST(if(id = 0, 'bad', NULL) AS string) AS error FROM range(4)",
}


@pytest.fixture(scope="module")
def views(spark: SparkSession) -> Iterator[dict[str, str]]:
    """Every table with a few rows or none, and the views, as temporary views; real name to its name here."""
    declared = llm_views() | emo_pillars_views()
    tables = {name: table for name, table in TABLES.items() if name.split(".")[0] in ("emo_pillars", "llm", "ops")}
    names = {name: f"emo_views_{name.replace('.', '_')}" for name in (*tables, *declared)}
    for name, table in tables.items():
        empty = spark.createDataFrame([], table.schema)
        rows = spark.sql(ROWS[name]) if name in ROWS else empty
        empty.unionByName(rows, allowMissingColumns=True).createOrReplaceTempView(names[name])
    pattern = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    for name, (_, sql) in declared.items():
        here = re.sub(rf"\b(?:{pattern})\b", lambda match: names[match[0]], sql)
        spark.sql(here).createOrReplaceTempView(names[name])
    yield names
    for name in names.values():
        spark.catalog.dropTempView(name)


def rows(spark: SparkSession, views: dict[str, str], name: str) -> list[Row]:
    return spark.table(views[f"analysis.{name}"]).collect()


def test_scale(spark: SparkSession, views: dict[str, str]) -> None:
    found = {row.criterion: (row.value, row.paper) for row in rows(spark, views, "emo_pillars_scale")}
    assert found["plots"] == (450, 2000)
    assert found["actors a plot, mean"] == (2, 15) and found["actors a plot, standard deviation"] == (1.4142, 9.44)
    assert found["utterances an actor, mean"] == (3, 10)
    assert found["share of examples drawn for contexts"] == (0.25, 0.3333)
    assert found["labels an example, mean"] == (2, 3.17) and found["labels"] == (800, 1_000_000)
    polarities = ("positive", "negative", "ambiguous", "neutral")
    assert [found[f"share of {name} labels"][0] for name in polarities] == [0.5, 0.5, 0, 0]


def test_yield_grows_by_two_hundred_plots(spark: SparkSession, views: dict[str, str]) -> None:
    found = rows(spark, views, "emo_pillars_yield")
    assert [row.plots for row in found] == [200, 400, 450]
    assert [row.examples for row in found] == sorted(row.examples for row in found)
    assert (found[-1].examples, found[-1].labels, found[-1].actors) == (400, 800, 400)


def test_labels(spark: SparkSession, views: dict[str, str]) -> None:
    found = {row.label: row for row in rows(spark, views, "emo_pillars_labels")}
    assert len(found) == 28
    assert (found["joy"].primary_labels, found["joy"].labels, found["joy"].mean_level) == (400, 400, 0.9)
    assert (found["fear"].primary_labels, found["fear"].labels, found["grief"].labels) == (0, 400, 0)


def test_cost_is_projected(spark: SparkSession, views: dict[str, str]) -> None:
    found = {row.step: row for row in rows(spark, views, "llm_cost")}
    step, every = found["emo_pillars_actors"], found["all"]
    assert (step.prompts, step.errors, step.prompt_tokens, step.answer_tokens) == (4, 1, 40, 20)
    assert (step.seconds, step.seconds_a_prompt, step.paper_prompts, step.projected_hours) == (7.2, 1.8, 2000, 1.0)
    assert (every.projected_hours, every.paper_hours) == (350.0, 450)
    assert {row.step for row in spark.table(views["llm.generations"]).collect()} == {"emo_pillars_actors"}


def test_nothing_read_yet_is_no_error(spark: SparkSession, views: dict[str, str]) -> None:
    assert rows(spark, views, "emo_pillars_reading") == [] and rows(spark, views, "emo_pillars_mapped_labels") == []
