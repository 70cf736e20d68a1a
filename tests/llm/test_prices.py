"""Prices of a million tokens: by model, in the view beside the tokens."""

from typing import Any

import duckdb
import pyarrow as pa
import pytest

from conf.errors import InputError
from conf.maintenance_settings import PriceSettings
from conf.settings import load_settings
from etl.emo_pillars.steps import actors
from etl.pipeline.tables import Table
from etl.pipeline.tables.ops import STAGE_RUNS
from etl.publishing.duckdb_sql import duckdb_view
from etl.publishing.views import TOKEN_PRICES, token_prices, views_of
from etl.publishing.without_spark import add_empty, connected

MODELS = {
    "openai:large": {"prompt": 2.0, "completion": 8},
    "openai:large-it's": {"prompt": 1},
    "*": {"prompt": 0.1, "completion": 0.4},
}


def arrow(one: Table) -> pa.Schema:
    with duckdb.connect() as connection:
        add_empty(connection, one.name)
        return connection.sql(f"SELECT * FROM {one.name}").to_arrow_table().schema


@pytest.mark.parametrize("prices", [{}, MODELS])
def test_the_view_has_the_prices(prices: dict[str, Any]) -> None:
    view = token_prices(PriceSettings.model_validate({"million_tokens": prices}))
    with duckdb.connect() as connection:
        found = connection.execute(duckdb_view(TOKEN_PRICES, view.sql)).fetchall()
    assert sorted(found) == sorted(
        ("" if name == "*" else name, float(one.get("prompt", 0)), float(one.get("completion", 0)))
        for name, one in prices.items()
    )


def test_the_settings_prices_reach_the_view() -> None:
    settings = load_settings("local", [], ['prices.million_tokens={"openai:large": {prompt: 2, completion: 8}}'])
    assert "('openai:large', 2.0D, 8.0D, true)" in views_of(settings)[TOKEN_PRICES].sql


@pytest.mark.parametrize("price", [{"prompt": -1}, {"prompts": 1}, 3])
def test_a_price_that_is_none_is_refused(price: Any) -> None:
    with pytest.raises(InputError, match=r"prices\.million_tokens"):
        load_settings("local", [], {"prices.million_tokens": {"openai:large": price}})


def test_the_view_of_costs_has_those_of_tokens() -> None:
    counted = {"prompt_tokens": 3_000_000, "answer_tokens": 500_000}
    row = dict.fromkeys(arrow(actors.STEP.answers).names) | counted | {"model": "openai:large-7"}
    other = row | {"model": "sha256:1"}
    stored = pa.Table.from_pylist([row, other], schema=arrow(actors.STEP.answers))
    runs = arrow(STAGE_RUNS).empty_table()
    prices = {"prices.million_tokens": {"openai:large": {"prompt": 2, "completion": 8}}}
    views = views_of(load_settings("local", [], prices))
    with connected({actors.STEP.answers.name: stored, STAGE_RUNS.name: runs}, views) as lakehouse:
        found = lakehouse.execute("SELECT step, model, cost, projected_cost FROM analysis.llm_cost").fetchall()
    assert [row[:3] for row in found] == [
        ("emo_pillars_actors", "openai:large-7", 10.0),
        ("context-less", "openai:large-7", 10.0),
        ("all", "openai:large-7", 10.0),
        ("emo_pillars_actors", "sha256:1", None),
        ("context-less", "sha256:1", None),
        ("all", "sha256:1", None),
    ]
    assert found[2][3] == 7_000_000
