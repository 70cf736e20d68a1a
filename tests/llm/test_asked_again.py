"""Rows that failed at a language model are asked again by the next run, from plots to what is read of the answers."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from conf.settings import load_settings
from etl.pipeline.planner import PipelineContext
from etl.pipeline.tables import TABLES
from jobs import all_stages
from tests.llm_servers import RecordedServer, Reply, prompt_of
from tests.stages import run_stages

pytestmark = pytest.mark.usefixtures("tables_of_test")

PLOTS = """title,plot
Lamp,Ada keeps the lamp on a far island and waits for the ship that comes around the cape every spring.
Bread,The baker opens a shop beside the harbour and the people of the town do not like his bread at all.
Wall,The keeper stands in the rain by the wall until the end of the long night and nobody comes to him.
Dust,The mayor is alone in the house by the sea while the years go by and the letters never come.
"""
STEPS = ("emo_pillars_read_plots", "emo_pillars_ask_actors", "emo_pillars_actors")


def test_a_row_that_failed_is_asked_again_and_a_refused_one_only_as_another_request(
    spark: SparkSession, tmp_path: Path
) -> None:
    (tmp_path / "plots.csv").write_text(PLOTS, "utf-8")
    asked: Counter[str] = Counter()
    well = False

    def reply(body: dict[str, Any]) -> Reply:
        plot = next(word for word in ("Ada", "baker", "keeper", "mayor") if word in prompt_of(body))
        asked[plot] += 1
        if plot == "keeper":
            return 400, "the prompt is refused"
        if plot == "baker" and not well:
            return {"response": {"error": {"message": "quota exceeded", "code": 429}}}
        return f"1. The {plot} of the story"

    def context(**changes: Any) -> PipelineContext:
        values = {
            "lakehouse.root": str(tmp_path / "lakehouse"),
            "emo_pillars.plots": str(tmp_path / "plots.csv"),
            "models.generator": "openai:recorded",
            "llm.server.url": running.url,
            "llm.server.retries": 0,
            "pipeline.max_error_share": 0.9,
            **changes,
        }
        return PipelineContext(spark, load_settings("local", [], values))

    stages = [stage for stage in all_stages() if stage.name in STEPS]
    with RecordedServer(reply).running() as running:
        first = context()
        assert run_stages(first, stages) == list(STEPS)
        assert asked == {"Ada": 1, "baker": 1, "keeper": 1, "mayor": 1}
        errors = [row.error for row in first.lakehouse.read(TABLES["llm.emo_pillars_actors"]).collect() if row.error]
        assert len(errors) == 2
        assert any("quota exceeded" in error for error in errors)
        assert first.lakehouse.read(TABLES["emo_pillars.actors"]).count() == 2
        dropped = first.lakehouse.read(TABLES["ops.dropped"]).where("reason = 'model_failed'")
        assert dropped.count() == 2

        well = True
        second = context()
        why = second.plan(stages[1]).why
        assert why is not None
        assert "failed" in why
        assert run_stages(second, stages) == list(STEPS[1:])
        assert asked == {"Ada": 1, "baker": 2, "keeper": 1, "mayor": 1}
        answers = second.lakehouse.read(TABLES["llm.emo_pillars_actors"]).collect()
        assert len(answers) == 4
        assert len({row.request_id for row in answers}) == 4
        assert [row.error is None for row in answers].count(True) == 3
        actors = {row.actor for row in second.lakehouse.read(TABLES["emo_pillars.actors"]).collect()}
        assert len(actors) == 3
        assert any("baker" in actor for actor in actors)
        assert second.lakehouse.read(TABLES["ops.dropped"]).where("reason = 'model_failed'").count() == 1

        assert run_stages(context(), stages) == []
        assert asked.total() == 5

        other = context(**{"emo_pillars.steps.actors.max_new_tokens": 200})
        assert run_stages(other, stages[:2]) == [STEPS[1]]
        assert other.plan(stages[2]).why is not None
        assert asked == {"Ada": 2, "baker": 3, "keeper": 2, "mayor": 2}
