"""Views have the same rows in Spark and in DuckDB, and so has what the engines read differently by themselves."""

import duckdb
import pytest
from pyspark.sql import SparkSession

from conf.maintenance_settings import PriceSettings
from conf.taxonomy import load_taxonomy
from etl.pipeline.tables import TABLES
from etl.publishing.duckdb_sql import translated
from etl.publishing.views import all_views
from tests.both_engines import difference
from tests.made_rows import rows_of_all_tables
from tests.stand_ins import StandIns

PRICES = PriceSettings.model_validate({"million_tokens": {"openai:large": {"prompt": 2.5, "completion": 8}}})
TABLE = """(SELECT * FROM VALUES
  (0, 'a_b', 1.005D, 2.675F, array('x', NULL, 'y')), (1, 'axb', 0.41664999999999996D, 0.91225F, array('u', 'v', 'w')),
  (2, '50 %', 1e25D, 0.0005F, array('z', '', NULL)), (NULL, NULL, NULL, NULL, NULL)
  AS t(n, text, double, float, items))"""


@pytest.mark.parametrize(
    "selected",
    [
        r"n, text LIKE 'a\\_%' AS escaped, text LIKE 'a_b' AS any, text NOT LIKE '%\\%' AS percent",
        "n, round(double, 2) AS two, round(double, 4) AS four, round(round(double, 3), 2) AS twice",
        "n, round(CAST(float AS double), 4) AS four, format_number(float, 4) AS words",
        "n, items[n] AS item, items[(n + 1) % 3] AS next, get(items, n + 5) AS beyond, size(items) AS size",
        "n, trim(concat(' \u00a0', text, '\u00a0 ')) AS trimmed, concat(text, NULL) AS none",
        "n, array_join(items, ',') AS joined, concat_ws(',', items) AS flat, slice(items, 2, 2) AS part",
        "n, row_number() OVER (ORDER BY n) AS nth, first_value(text) OVER (ORDER BY n DESC NULLS FIRST) AS first",
        "count(DISTINCT n, text) AS pairs, size(collect_list(n)) AS every, max_by(text, struct(n, text)) AS most",
        "n, n / 2 AS half, try_divide(7, n) AS divided, stddev(n) OVER (PARTITION BY n) AS one",
        "n, split(text, ' ') AS words, split('', ' ') AS none, regexp_extract(text, '^a(.)b$', 1) AS between",
        "n, substring_index(text, '_', -1) AS last, instr(text, 'b') AS place, left(text, 2) AS two, hex(n) AS hex",
    ],
)
def test_what_engines_read_differently_is_translated(spark: SparkSession, selected: str) -> None:
    query = f"SELECT {selected} FROM {TABLE}"
    ours = spark.sql(query)
    with duckdb.connect() as connection:
        theirs = connection.execute(translated(query))
        columns = [one[0] for one in theirs.description or ()]
        assert difference(ours.columns, ours.collect(), columns, theirs.fetchall()) is None


@pytest.mark.slow
def test_every_view_has_the_same_rows_in_both_engines(spark: SparkSession) -> None:
    views = StandIns(spark, all_views(load_taxonomy("edos"), prices=PRICES))
    for name, rows in rows_of_all_tables(60, seed=2).items():
        views.give(name, spark.createDataFrame(rows, TABLES[name].schema))
    counts = {name: len(views.ask(name)) for name in views.views}
    views.drop()
    assert [name for name, number in counts.items() if not number] == []
