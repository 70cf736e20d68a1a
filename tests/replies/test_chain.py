"""From rows to Tables 7 and 10 by tiny generators: what each stage writes, and what the runs in MLflow hold."""

from pathlib import Path

import pytest
from mlflow import MlflowClient
from pyspark.sql import SparkSession

from conf.errors import InputError
from conf.settings import Settings, load_settings
from conf.taxonomy import edos_labels
from etl.pipeline.locations import tracking_uri
from etl.pipeline.planner import PipelineContext
from etl.pipeline.progress import Progress
from etl.pipeline.runner import run_stage
from etl.pipeline.stages import Stage
from etl.replies.requests import steered_requests
from etl.replies.tables import EVALUATION, EXAMPLES, GENERATED, LIKELIHOODS, STEERED, TRAININGS
from jobs.replies.evaluation import (
    evaluate_response_generator,
    replies_answer_plainly,
    replies_embed,
    replies_generate,
    replies_score,
)
from jobs.replies.steering import replies_read_intents, replies_steer, replies_tune_steered
from jobs.replies.training import (
    replies_list_trainings,
    replies_pretrain,
    replies_tune_causal,
    replies_tune_empathetic,
    train_response_generator,
)
from tests.stages import called, register_views, stage_run
from tests.udfs.reply_generators import LINES
from tests.udfs.tiny_models import tiny_encoder, tiny_language_model
from udfs.models.classifiers.classifier import load_encoder
from udfs.models.classifiers.dialogue_classifier import DialogueClassifier

pytestmark = pytest.mark.usefixtures("tables")

TRAININGS_IN_TURN = (
    replies_pretrain,
    train_response_generator,
    replies_tune_empathetic,
    replies_tune_causal,
    replies_tune_steered,
)
REST = (
    replies_score,
    replies_generate,
    replies_answer_plainly,
    replies_embed,
    evaluate_response_generator,
    replies_list_trainings,
    replies_steer,
    replies_read_intents,
)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    encoder = tiny_encoder(tmp_path / "encoder")
    reader = DialogueClassifier(*load_encoder(encoder), edos_labels(), 24).save(tmp_path / "reader")
    values: dict[str, object] = {
        "lakehouse.root": str(tmp_path / "lakehouse"),
        "models.training_threads": 1,
        "models.training_precision": "fp32",
        "models.sentence_encoder": f"file:{encoder}",
        "models.emotion_classifier": f"file:{reader}",
        "models.reply_base": f"file:{tiny_language_model(tmp_path / 'base')}",
        "models.reply_causal": "models:/edos-reply-causal@champion",
        "replies.tokens": {"tokenizer": "trained", "vocabulary": 330},
        "replies.network": {"layers": 1, "heads": 2, "hidden": 16, "feed_forward": 32, "max_tokens": 24},
        "replies.decoding": {"method": "top_p", "max_new_tokens": 5},
        "replies.evaluation": {"examples": 2, "contexts": 1, "intents": ["sad", "questioning"]},
    }
    for name in ("pretrained", "edos", "empathetic", "causal", "steered"):
        values |= {
            f"training.reply_{name}.{key}": value
            for key, value in {"epochs": 2, "effective_batch": 4, "warmup_steps": 0}.items()
        }
    return load_settings("local", [], values)


def work(spark: SparkSession, settings: Settings, *stages: Stage) -> list[str | None]:
    """Do what there is to do; why each was done, None where there was nothing."""
    why = []
    for stage in stages:
        place = PipelineContext(spark, settings)
        need = place.plan(stage)
        why.append(need.why)
        if need.why is not None:
            run_stage(place, stage, need, Progress(spark, 1))
    return why


@pytest.mark.slow
def test_from_rows_to_the_papers_tables(spark: SparkSession, settings: Settings) -> None:
    place = PipelineContext(spark, settings)
    with pytest.raises(InputError, match=r"reads replies\.examples, which does not exist"):
        place.plan(replies_pretrain)
    rows = [
        (f"{source}/{split}{number}/1", source, split, [said], reply, None if source == "os" else "sad")
        for source in ("os", "edos", "empathetic")
        for split, count in (("train", 6), ("validation", 3), ("test", 3))
        for number, (said, reply) in enumerate(LINES[:count])
    ]
    place.lakehouse.replace(EXAMPLES, spark.createDataFrame(rows, EXAMPLES.schema), {})
    stages = (*TRAININGS_IN_TURN, *REST)
    assert work(spark, settings, *stages) == ["first run"] * len(stages)

    place = PipelineContext(spark, settings)
    scored = place.lakehouse.read(LIKELIHOODS)
    written = place.lakehouse.read(GENERATED)
    assert scored.where("error IS NULL AND nats > 0 AND words > 0").count() == 4 * 3 * 2 == written.count()
    assert written.where("error IS NULL AND tokens BETWEEN 1 AND 5").count() == written.count()
    steered = place.lakehouse.read(STEERED).collect()
    asked = sorted((row.generator, row.intent or "") for row in steered)
    assert asked == [("causal", ""), ("steered", ""), ("steered", "questioning"), ("steered", "sad")]
    cells = {(row.generator, row.source): row for row in place.lakehouse.read(EVALUATION).collect()}
    assert len(cells) == 12 + 18
    assert all(row.examples == 2 and row.failed == 0 for row in cells.values())
    assert {row.distinct_replies for row in cells.values()} == {2}
    assert {row.similarity for row in cells.values() if row.kind == "ceiling"} == {1.0}
    cells = {cell: row for cell, row in cells.items() if row.kind == "model"}
    held_out = {cell for cell, row in cells.items() if row.held_out}
    assert held_out == {
        ("pretrained", "os"),
        ("edos", "edos"),
        ("empathetic", "empathetic"),
        ("causal", "edos"),
        ("causal", "empathetic"),
    }
    assert all(row.perplexity < row.word_perplexity and -1 <= row.similarity <= 1 for row in cells.values())
    trainings = {row.generator: row for row in place.lakehouse.read(TRAININGS).collect()}
    assert {row.epochs for row in trainings.values()} == {2}
    assert trainings["edos"].parameters > 10_000
    assert len(trainings["edos"].history) == 2
    _check_views(spark, place)
    _check_tracked(place, cells)
    assert work(spark, settings, replies_tune_empathetic, replies_score, evaluate_response_generator) == [None] * 3


def test_a_request_is_known_by_all_that_its_answer_depends_on(spark: SparkSession) -> None:
    def ids(reply: str = "yes", model: str = "m", how: str = "beam") -> set[str]:
        rows = [("os/a/1", "os", "test", ["so ?"], reply, None)]
        asked = steered_requests(
            spark.createDataFrame(rows, EXAMPLES.schema), ("steered", model), ("empathetic", "e"), ("sad", "proud"), how
        )
        return {row.request_id for row in asked.where("generator = 'steered'").collect()}

    assert len(ids()) == 3
    assert ids() == ids()
    assert not ids() & (ids("no") | ids(model="n") | ids(how="greedy"))


def _check_views(spark: SparkSession, place: PipelineContext) -> None:
    register_views(place, "edos_table_7", "edos_table_10", "reply_intents")
    table = [row.asDict() for row in spark.table("analysis.edos_table_7").collect()]
    assert [(row["generator"], row["source"]) for row in table[:4]] == [
        ("pretrained", "os"),
        ("pretrained", "edos"),
        ("pretrained", "empathetic"),
        ("edos", "os"),
    ]
    assert [row["setting"] for row in table[:9]] == ["held-out", *["zero-shot"] * 3] * 2 + ["held-out"]
    assert [row["generator"] for row in table[9:12]] == ["causal"] * 3
    assert [row["setting"] for row in table[9:12]] == ["zero-shot", "held-out", "held-out"]
    assert [row["setting"] for row in table[12:]] == ["floor"] * 15 + ["ceiling"] * 3
    assert (table[2]["paper_perplexity"], table[8]["paper_similarity"]) == (564.6, 0.316)
    assert sum(row["likeliest"] or False for row in table) == 3
    times = spark.table("analysis.edos_table_10").collect()
    assert [(row.generator, row.paper_hours, row.epochs_run) for row in times] == [
        ("pretrained", 171.0, 2),
        ("edos", 4.23, 2),
        ("empathetic", 0.33, 2),
    ]
    intents = spark.table("analysis.reply_intents").collect()
    assert intents[0].intent == "all"
    assert intents[0].replies == 2
    assert {row.intent for row in intents[1:]} == {"sad", "questioning"}
    assert all(0 <= rate <= 1 for row in intents for rate in (row.asked_rate, row.unasked_rate, row.plain_rate))


def _check_tracked(place: PipelineContext, cells: dict) -> None:
    client = MlflowClient(tracking_uri(place.settings))
    experiment = client.get_experiment_by_name("edos").experiment_id  # type: ignore[union-attr]
    (whole,) = client.search_runs([experiment], "tags.mlflow.runName = 'comparison of response generators'")
    family = client.search_runs([experiment], f"tags.mlflow.parentRunId = '{whole.info.run_id}'")
    found = {run.data.params["generator"]: run.data.metrics for run in family}
    assert found["edos"]["perplexity/empathetic"] == cells["edos", "empathetic"].perplexity
    (tuned,) = client.search_runs([experiment], "tags.mlflow.runName LIKE 'edos-reply-edos, %'")
    assert tuned.data.params["starts_from"].startswith("models:/edos-reply-pretrained/1#")
    assert int(tuned.data.params["parameters"]) > 10_000
    metrics = tuned.data.metrics
    assert metrics["held_out_word_perplexity"] > metrics["held_out_perplexity"] > 1
    assert len(client.get_metric_history(tuned.info.run_id, "validation_word_perplexity")) == 2


def test_a_training_without_rows_says_what_is_missing(spark: SparkSession) -> None:
    rows = spark.createDataFrame([("os/a/1", "os", "train", ["so ?"], "yes", None)], EXAMPLES.schema)
    settings = load_settings("local")
    with pytest.raises(InputError, match=r"replies\.examples has no validation rows of os"):
        called(replies_pretrain, stage_run(spark, settings), settings, rows)
