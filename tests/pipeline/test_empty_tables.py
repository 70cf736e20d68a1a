"""Each stage on empty tables: its function, all of its SQL and Python up to the rows, and what it says without any.

Chains of stages on rows of their own take minutes and are marked ``slow``; here each stage is called once.
"""

from dataclasses import dataclass
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from conf.errors import InputError
from conf.settings import Settings, load_settings
from conf.taxonomy import edos_labels
from etl.pipeline.model_loader import NO_MODEL, ResolvedModel
from etl.pipeline.outcome import LocalOutcome, Outcome, Trained
from etl.pipeline.stages import Model, Stage
from etl.pipeline.tables.ops import WORK_VERSION
from etl.subtitles.border_segmenter import BorderSegmenter
from jobs import all_stages
from tests.stages import called, stage_run
from tests.udfs.tiny_models import tiny_encoder, tiny_language_model
from udfs.models.classifiers.classifier import load_encoder
from udfs.models.classifiers.dialogue_classifier import DialogueClassifier
from udfs.models.classifiers.weak_labeler import WeakLabeler

WRITING = [stage for stage in all_stages() if stage.writes is not None]
NEEDS_MORE = {
    "find_subtitles": "subtitles.sources is empty: name a folder",
    "choose_weak_thresholds": "edos.weak_label_examples is not set",
    "collect_annotations": "edos.crowd_votes is empty: name one or more files",
    "compare_classifiers": "edos.training_dialogues has no rows of crowd",
    "evaluate_response_generator": "replies.generated is empty",
    "emo_pillars_read_emocontext": "emo_pillars.emocontext is not set",
    "emo_pillars_read_goemotions": "emo_pillars.goemotions is not set",
    "emo_pillars_read_isear": "emo_pillars.isear is not set",
    "augesc_compare_chatbots": "no session is held out",
    "emo_pillars_compare_predictions": "no model to compare",
    "emo_pillars_compare_encoders": "no train rows in emo_pillars.examples",
    "emo_pillars_transfer_emocontext": "rows in emo_pillars.emocontext: give it more data",
    "emo_pillars_transfer_goemotions": "no train rows in emo_pillars.goemotions",
    "emo_pillars_transfer_isear": "no train rows in emo_pillars.isear",
}
"""Stages that can make nothing of nothing, and what they say; trainings say what they learn from."""
FIXED = {
    "choose_label_thresholds": 41,  # one of each label
    "replies_list_trainings": 4,  # one of each generator, without the figures of a training
    "emo_pillars_score_evaluation": 11,  # each criterion, without answers
    "emo_pillars_embed_texts": 1,  # the query of topics
}
"""Rows that a stage makes of its settings alone."""
ABSENT = {
    "augesc_collect_queries": ("query_emotions", "query_goemotions", "toxicity"),
    "emo_pillars_compare_predictions": ("emo_pillars_contextless", "emo_pillars_contextual", "emo_pillars_emocontext"),
}
"""Stages that load their models whatever the rows are, and do without these."""
LEARNS_FROM = r"more crowd votes are needed|weak_label_examples is not set|add dialogues|give it more data|needs both"


@dataclass(frozen=True)
class Given:
    """What all stages get: settings, the folder of models, and models that stand in for trained ones."""

    settings: Settings
    folder: Path
    models: dict[str, ResolvedModel]

    def models_of(self, stage: Stage) -> dict[str, ResolvedModel]:
        """Return stand-ins for a stage's models, an untrained encoder for most."""
        absent = dict.fromkeys(ABSENT.get(stage.name, ()), ResolvedModel(self.folder, NO_MODEL))
        return {key: absent.get(key) or self.models.get(key, self.models["encoder"]) for key in stage.models}


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> Given:
    folder = tmp_path_factory.mktemp("models")
    encoder = tiny_encoder(folder / "encoder")
    saved = {
        "encoder": encoder,
        "emotion_classifier": DialogueClassifier(*load_encoder(encoder), edos_labels(), 24).save(folder / "classifier"),
        "weak_labeler": WeakLabeler(*load_encoder(encoder), edos_labels()).save(folder / "weak_labeler"),
        "chatbot": tiny_language_model(folder / "chatbot"),
        "turn_segmenter": folder / "segmenter",
    }
    saved["turn_segmenter"].mkdir()
    BorderSegmenter.packaged().save(saved["turn_segmenter"])
    saved["augmented_chatbot"] = saved["chatbot"]
    models = {key: ResolvedModel(place, f"file:{key}") for key, place in saved.items()}
    settings = load_settings("local", [], {"lakehouse.root": str(folder / "lakehouse"), "models.training_threads": 1})
    return Given(settings, folder, models)


def made(spark: SparkSession, stage: Stage, given: Given) -> Outcome | Trained:
    """Return what a stage makes of tables without rows."""
    run = stage_run(spark, given.settings, given.folder, stage, given.models_of(stage))
    frames = [spark.createDataFrame([], table.schema).limit(0) for table in stage.reads]
    if stage.incremental is not None:
        units = stage.units_of_work(frames, given.settings, run)
        frames = [units, *(frames if stage.incremental.gets_all else frames[1:])]
    result = called(stage, run, given.settings, *frames)
    if isinstance(result, LocalOutcome):
        return result.to_outcome(spark, stage.writes)
    return result if isinstance(result, Outcome | Trained) else Outcome(result)


TABLES = [stage for stage in WRITING if not isinstance(stage.writes, Model) and stage.name not in NEEDS_MORE]


@pytest.mark.parametrize("stage", TABLES, ids=lambda stage: stage.name)
def test_no_rows_make_no_rows(spark: SparkSession, given: Given, stage: Stage) -> None:
    outcome = made(spark, stage, given)
    assert isinstance(outcome, Outcome)
    # The framework adds the work version after the stage.
    columns = [name for name in stage.writes.columns if name != WORK_VERSION]
    counted = outcome.rows.select(*columns).select(F.lit("rows").alias("of"))
    if outcome.dropped is not None:  # one query of both plans their common part once
        counted = counted.union(outcome.dropped.select(F.lit("dropped")))
    expected = FIXED.get(stage.name, 0)
    assert {row["of"]: row["count"] for row in counted.groupBy("of").count().collect()} == (
        {"rows": expected} if expected else {}
    )


MODELS = [stage for stage in WRITING if isinstance(stage.writes, Model) and stage.name != "train_turn_segmenter"]
REFUSING = [*(stage for stage in WRITING if stage.name in NEEDS_MORE), *MODELS]


@pytest.mark.parametrize("stage", REFUSING, ids=lambda stage: stage.name)
def test_what_cannot_begin_says_what_it_needs(spark: SparkSession, given: Given, stage: Stage) -> None:
    with pytest.raises(InputError, match=NEEDS_MORE.get(stage.name, LEARNS_FROM)):
        made(spark, stage, given)


def test_without_examples_the_rule_parts_turns(spark: SparkSession, given: Given) -> None:
    (stage,) = [stage for stage in WRITING if stage.name == "train_turn_segmenter"]
    trained = made(spark, stage, given)
    assert isinstance(trained, Trained)
    assert trained.rows_in == 0
