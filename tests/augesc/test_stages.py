"""The stages of the AugESC path as the pipeline runs them: accounts, a second run, other thresholds, the export."""

from pathlib import Path

import pyarrow.dataset as ds
import pytest
from pyspark.sql import SparkSession

from conf.errors import InputError
from conf.settings import load_settings
from etl.pipeline.planner import PipelineContext, chosen
from etl.pipeline.tables import TABLES, Table
from jobs import all_stages
from tests.stages import run_stages

pytestmark = pytest.mark.usefixtures("tables")

ENDS = (
    "augesc_draw_sessions,augesc_collect_queries,augesc_keep_conversations,augesc_describe_conversations,"
    "augesc_grow_bigrams,augesc_compare_words,augesc_check_paper_reading,augesc_export"
)


def work(place: PipelineContext) -> list[str]:
    return run_stages(place, chosen(all_stages(), to=ENDS))


def context(spark: SparkSession, settings: dict[str, str]) -> PipelineContext:
    return PipelineContext(spark, load_settings("local", [], [f"{key}={value}" for key, value in settings.items()]))


def test_each_stage_of_the_path_runs(spark: SparkSession, settings: dict[str, str], tmp_path: Path) -> None:
    place = context(spark, settings)
    assert len(work(place)) == 11
    read = place.lakehouse.read
    written = [stage.writes for stage in chosen(all_stages(), to=ENDS) if isinstance(stage.writes, Table)]
    counts = {table.name: read(table).count() for table in written}
    assert (counts["augesc.sessions"], counts["augesc.training_sessions"], counts["augesc.queries"]) == (3, 2, 2)
    assert (counts["augesc.measured_texts"], counts["augesc.conversations"]) == (6, 2)
    by_a_model = {"augesc.role_plays", "llm.augesc_untuned", "llm.augesc_augmenter"}
    assert {name for name, count in counts.items() if not count} <= by_a_model
    dropped = {(row.stage, row.reason) for row in read(TABLES["ops.dropped"]).collect()}
    assert dropped == {
        ("augesc_read_sessions", "not_readable"),
        ("augesc_draw_sessions", "not_drawn"),
        ("augesc_collect_queries", "not_readable"),
        ("augesc_collect_queries", "other_emotion"),
        ("augesc_keep_conversations", "utterances"),
    }
    both = [read(TABLES[name]).orderBy("text_id").collect() for name in ("augesc.violations", "augesc.paper_reading")]
    assert both[0] == both[1], "texts of one utterance a line are read alike"
    exported = tmp_path / "lakehouse" / "exports" / "augesc"
    assert {path.name for path in exported.iterdir()} >= {"README.md", "export.json", "jsonl", "parquet"}
    assert "2 emotional support conversations" in (exported / "README.md").read_text("utf-8")
    assert ds.dataset(exported / "parquet").count_rows() == 2
    strict = {**settings, "augesc.reading": "paper"}
    (measure,) = chosen(all_stages(), only="augesc_measure_texts")
    assert "augesc.reading" in str(context(spark, strict).plan(measure).why)


@pytest.mark.long
def test_the_path_then_has_nothing_to_do(spark: SparkSession, settings: dict[str, str], tmp_path: Path) -> None:
    from datasets import load_dataset

    place = context(spark, settings)
    work(place)
    opened = load_dataset(str(tmp_path / "lakehouse" / "exports" / "augesc"), cache_dir=str(tmp_path / "cache"))
    assert sum(len(rows) for rows in opened.values()) == 2
    assert work(place) == ["augesc_export"]  # it looks, and writes nothing
    again = context(spark, {**settings, "augesc.filters.least_utterances": "2"})
    ran = work(again)
    assert {*ran[:2]} == {"augesc_check_texts", "augesc_check_paper_reading"}
    assert "augesc_measure_texts" not in ran
    assert again.lakehouse.read(TABLES["augesc.conversations"]).count() == 3


def test_a_folder_that_is_not_there_is_said_in_one_line(spark: SparkSession, settings: dict[str, str]) -> None:
    place = context(spark, {**settings, "augesc.sessions": "nowhere"})
    with pytest.raises(InputError, match="nowhere"):
        run_stages(place, chosen(all_stages(), only="augesc_read_sessions"))
