"""The stages behind AugESC's report as the pipeline runs them: forms, faults, the page, and answers that come in."""

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from conf.settings import load_settings
from etl.augesc.rating_form import ASPECTS
from etl.pipeline.planner import PipelineContext, chosen
from etl.pipeline.progress import Progress
from etl.pipeline.runner import run_stage
from etl.pipeline.tables import TABLES
from jobs import all_stages

pytestmark = pytest.mark.usefixtures("tables")

ENDS = "augesc_report,augesc_export_ratings"


def work(spark: SparkSession, settings: dict[str, str]) -> tuple[PipelineContext, list[str]]:
    place = PipelineContext(spark, load_settings("local", [], [f"{key}={value}" for key, value in settings.items()]))
    ran = []
    stages = chosen(all_stages(), to=ENDS)
    for stage in stages:
        need = place.plan(stage)
        if need.why is not None:
            run_stage(place, stage, need, Progress(place.spark, len(stages)))
            ran.append(stage.name)
    return place, ran


@pytest.mark.slow
def test_forms_faults_and_the_report(spark: SparkSession, settings: dict[str, str], tmp_path: Path) -> None:
    place, _ = work(spark, settings)
    read = place.lakehouse.read
    assert read(TABLES["augesc.rating_tasks"]).count() == 5  # three sessions of people, two kept texts
    found = {row.text_id: row for row in read(TABLES["augesc.faults"]).collect()}
    assert len(found) == 6
    assert found["t0"].utterances == 12
    assert {row.toxic_by for row in found.values()} == {"none"}
    assert all(row.statement_pairs is None for row in found.values())  # no model of entailment is set
    page = tmp_path / "lakehouse" / "reports" / "augesc.html"
    assert "2 conversations between" in page.read_text("utf-8")
    (folder,) = (tmp_path / "lakehouse" / "annotation").iterdir()
    assert {path.name for path in folder.iterdir()} == {"annotate.html", "key.jsonl"}

    key = [json.loads(line) for line in (folder / "key.jsonl").read_text("utf-8").splitlines()]
    hits = {line["hit_id"] for line in key}
    documents = [
        {
            "format": "edos-lakehouse answers 1",
            "hit_id": hit,
            "worker_id": worker,
            "submitted": "2026-01-01",
            "answers": [
                {"item_id": line["item_id"], "answers": {one.name: {"value": "2"} for one in ASPECTS}}
                for line in key
                if line["hit_id"] == hit
            ],
        }
        for hit in sorted(hits)
        for worker in ("ann", "bob")
    ]
    (tmp_path / "answers.jsonl").write_text("\n".join(map(json.dumps, documents)), "utf-8")
    ratings = "augesc.evaluation.ratings"
    answered = {**settings, f"{ratings}.answers": f"[{tmp_path}/answers.jsonl]", f"{ratings}.batches": f"[{folder}]"}
    place, ran = work(spark, answered)
    assert ran == ["augesc_collect_ratings", "augesc_score_ratings", "augesc_report"]
    scores = place.lakehouse.read(TABLES["augesc.rating_scores"]).collect()
    assert {row["mean"] for row in scores} == {2.0}
    assert {row.ratings for row in scores} == {4, 6}
    text = page.read_text("utf-8")
    assert "Quality rated by people" in text
    assert "rated by people yet" not in text
