"""Models of one speaker's utterances: tuned, tuned further, compared on the same held-out sessions."""

from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from conf.settings import Settings, load_settings
from etl.pipeline.model_loader import resolve
from etl.training.registry import model_store
from jobs.augesc.chatbots import (
    augesc_compare_chatbots,
    augesc_train_augmented_chatbot,
    augesc_train_chatbot,
)
from tests.stages import called, stage_run
from tests.udfs.tiny_models import tiny_language_model

TURNS = "array<struct<role: string, text: string>>"


@pytest.fixture()
def settings(tmp_path: Path) -> Settings:
    own = "{held_out: 3, max_tokens: 60, learning_rate: 0.01, epochs: 3, effective_batch: 2}"
    return load_settings(
        "local",
        [],
        [
            f"lakehouse.root={tmp_path}/lakehouse",
            f"models.dialogue_base=file:{tiny_language_model(tmp_path / 'base')}",
            *(f"training.{name}={own}" for name in ("chatbot", "augmented_chatbot")),
        ],
    )


def test_two_chatbots_are_tuned_and_compared(spark: SparkSession, settings: Settings, tmp_path: Path) -> None:
    run = stage_run(spark, settings, tmp_path / "models", augesc_train_chatbot)
    said = [("supporter", "hello"), ("seeker", "my dog is lost"), ("supporter", "are you sad ?")]
    rows = [
        (f"s{n}", n == 9, [{"role": role, "text": f"{text} {'so ' * n}"} for role, text in said]) for n in range(10)
    ]
    sessions = spark.createDataFrame(rows, f"session_id string, contrast boolean, turns {TURNS}").cache()
    drawn = sessions.where("session_id = 's0'")
    first = called(augesc_train_chatbot, run, settings, drawn, sessions)
    assert first.rows_in == 9  # of ten one failed its makers' checks
    store = model_store(run.tracking)
    chatbot = resolve("models:/augesc-chatbot@champion", Path(run.folder), store.tracking_uri)
    assert first.identity == chatbot.identity
    models = {"chatbot": chatbot}
    conversations = sessions.withColumnRenamed("session_id", "conversation_id").where("conversation_id < 's3'")
    run = replace(run, models=models)
    second = called(augesc_train_augmented_chatbot, run, settings, conversations, drawn, sessions)
    assert second.figures["perplexity_before"] == pytest.approx(first.figures["perplexity"], rel=1e-3)
    models["augmented_chatbot"] = resolve(
        "models:/augesc-augmented-chatbot@champion", Path(run.folder), store.tracking_uri
    )
    outcome = called(augesc_compare_chatbots, run, settings, drawn, sessions)
    figures = {row.chatbot: row for row in outcome.rows.collect()}
    assert figures["chatbot"].perplexity == pytest.approx(first.figures["perplexity"], rel=1e-3)
    assert figures["augmented_chatbot"].perplexity == pytest.approx(second.figures["perplexity"], rel=1e-3)
    assert {row.sessions for row in figures.values()} == {3}
    assert figures["chatbot"].perplexity < 40
