"""Classifiers of different encoders that answer as one: registered, compared, loaded in a UDF, served, copied."""

import shutil
from pathlib import Path

import mlflow
import numpy as np
import pandas as pd
import pytest
import torch
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from conf.errors import InputError
from conf.settings import Settings, load_settings
from etl.common.hashes import history_hash
from etl.edos.tables import TRAINING_DIALOGUES
from etl.edos.training.classifiers import starting_encoder
from etl.edos.training.soft_rows import teacher_answers
from etl.pipeline.locations import model_at
from etl.pipeline.planner import PipelineContext
from etl.pipeline.progress import Progress
from etl.pipeline.runner import run_stage
from etl.training.calibration import with_temperature
from jobs.edos.classifier import train_emotion_classifier
from tests.edos.training.trial_rows import labelled
from tests.stages import stage_run
from tests.udfs.tiny_models import tiny_encoder
from udfs.models.classifiers.classifier import (
    UNCHANGED,
    load_encoder,
    read_head,
    save_mean,
    with_confidence,
    write_head,
)
from udfs.models.classifiers.dialogue_classifier import DialogueClassifier
from udfs.models.classifiers.weak_labeler import WeakLabeler
from udfs.predict import DECIMALS, score_histories

CHAMPION = "models:/edos-emotion-classifier@champion"
TURNS = [("so happy !",), ("what ?", "i cry at night ."), ("a ghost !", "what ?"), ("he went home .",)]


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Two classifiers with encoders of different families and tokenizers, one of them calibrated, named as one."""
    folder = tmp_path_factory.mktemp("mean")
    labels = load_settings("local", [], {}).edos.taxonomy.names
    for name, family, temperature in (("one", "bert", 1.0), ("other", "roberta", 0.5)):
        torch.manual_seed(len(name))
        encoder = tiny_encoder(folder / "encoders" / name, family)
        model = DialogueClassifier(*load_encoder(encoder), labels, max_tokens=24)
        model.temperature = temperature
        torch.nn.init.normal_(model.output.weight, std=3)
        model.eval().save(folder / name)
    values = {
        "lakehouse.root": str(folder / "lakehouse"),
        "models.encoder": f"file:{folder / 'encoders' / 'one'}",
        "models.weak_labeler": f"file:{folder / 'encoders' / 'one'}",
        "training.emotion_classifier.start_from_weak_labeler": False,
        "training.emotion_classifier.mean_of": [f"file:{folder / name}" for name in ("one", "other")],
    }
    return load_settings("local", [], values)


def members_of(settings: Settings) -> list[Path]:
    return [Path(uri.removeprefix("file:")) for uri in settings.training.emotion_classifier.mean_of]


@pytest.fixture(scope="module")
def mean(settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the mean, uncalibrated and not registered."""
    return save_mean(tmp_path_factory.mktemp("saved") / "mean", members_of(settings))


@pytest.fixture(scope="module")
def champion(settings: Settings, spark: SparkSession) -> Path:
    """The folder of the registered mean."""
    place = PipelineContext(spark, settings)
    place.lakehouse.replace(TRAINING_DIALOGUES, labelled(spark, {"crowd": 6}), {})
    plan = place.plan(train_emotion_classifier)
    run_stage(place, train_emotion_classifier, plan, Progress(spark, 1))
    return model_at(CHAMPION, settings).path


def expected(settings: Settings, folder: Path) -> np.ndarray:
    """The mean of the members' answers, with the calibration of the folder."""
    answers = [DialogueClassifier.load(member).probabilities(TURNS, 4).numpy() for member in members_of(settings)]
    head = read_head(folder)
    mean = with_temperature(np.mean(answers, axis=0), head.get("temperature", 1.0))
    return with_confidence(torch.from_numpy(mean), *head.get("confidence", UNCHANGED)).numpy()


@pytest.mark.parametrize("registered", [False, pytest.param(True, marks=pytest.mark.long)])
def test_the_model_is_the_mean_with_a_calibration_of_its_own(
    settings: Settings, request: pytest.FixtureRequest, registered: bool
) -> None:
    folder = request.getfixturevalue("champion" if registered else "mean")
    head = read_head(folder)
    assert (head["kind"], head["members"]) == ("dialogue_classifier", 2)
    assert ("confidence" in head) == registered
    answers = DialogueClassifier.load_to_answer(folder).probabilities(TURNS, 4).numpy()
    assert answers == pytest.approx(expected(settings, folder), abs=1e-5)
    assert answers.sum(axis=1) == pytest.approx(np.ones(len(TURNS)))
    one = DialogueClassifier.load(folder / "members" / "1").probabilities(TURNS, 4).numpy()
    assert np.abs(answers - one).max() > 0.01


@pytest.mark.long
def test_its_run_and_version_name_the_members(settings: Settings, champion: Path) -> None:
    client = mlflow.MlflowClient(f"sqlite:///{settings.lakehouse.root}/mlflow.db")
    version = client.get_model_version_by_alias("edos-emotion-classifier", "champion")
    names = version.tags["members"].split(", ")
    assert [name.partition("#")[0] for name in names] == ["file:one", "file:other"]
    run = client.get_run(version.run_id).data
    assert run.tags["members"] == run.params["members"] == version.tags["members"]
    assert "learning_rate" not in run.params
    assert {"held_out_macro_f1", "champion_validation_macro_f1", "best_validation_temperature"} <= set(run.metrics)
    assert "The mean of 2 models: file:one#" in (champion / "README.md").read_text("utf-8")


@pytest.mark.long
def test_it_answers_in_a_udf_and_served_as_it_does_here(
    settings: Settings, champion: Path, spark: SparkSession
) -> None:
    best = expected(settings, champion).max(axis=1).round(DECIMALS)
    histories = spark.createDataFrame([(list(turns),) for turns in TURNS], "turns array<string>")
    keyed = histories.withColumn("history_hash", history_hash(F.col("turns")))
    scored = keyed.select("history_hash", "turns").join(
        score_histories(keyed, str(champion), "mean@1", batch_size=2), "history_hash"
    )
    by_turns = {tuple(row.turns): row.confidence for row in scored.collect()}
    assert [by_turns[turns] for turns in TURNS] == pytest.approx(best, abs=2e-4)
    served = mlflow.pyfunc.load_model(str(champion))
    found = served.predict(pd.DataFrame({"turns": [list(turns) for turns in TURNS]}))
    assert found["confidence"].tolist() == pytest.approx(best, abs=2e-4)
    assert found["error"].isna().all()


def test_a_copy_in_another_place_is_the_same_model(settings: Settings, mean: Path, tmp_path: Path) -> None:
    shutil.copytree(mean, tmp_path / "copied")
    copied = model_at(f"file:{tmp_path / 'copied'}", settings)
    assert copied.identity.partition("#")[2] == model_at(f"file:{mean}", settings).identity.partition("#")[2]
    answers = teacher_answers(DialogueClassifier, copied.path, settings.training.emotion_student, TURNS)
    assert answers == pytest.approx(expected(settings, mean), abs=0.02), "the teacher answers in bf16 on some"


def test_a_mean_can_be_a_member_and_is_no_start(
    settings: Settings, mean: Path, spark: SparkSession, tmp_path: Path
) -> None:
    again = save_mean(tmp_path / "again", [mean, mean])
    found = DialogueClassifier.load_to_answer(again).probabilities(TURNS, 4).numpy()
    assert found == pytest.approx(expected(settings, mean), abs=1e-5)
    with pytest.raises(InputError, match="a mean of classifiers, which answers and is not trained"):
        DialogueClassifier.load(mean)
    models = {"weak_labeler": model_at(f"file:{mean}", settings)}
    options = settings.training.emotion_classifier.model_copy(update={"start_from_weak_labeler": True})
    with pytest.raises(InputError, match="is a mean of several; set it to false"):
        starting_encoder(stage_run(spark, settings, models=models), options, settings.models.encoder)


@pytest.mark.parametrize(("key", "value"), [("labels", ["sad", "glad"]), ("kind", WeakLabeler.kind)])
def test_members_that_answer_differently_are_refused(mean: Path, tmp_path: Path, key: str, value: object) -> None:
    shutil.copytree(mean / "members" / "1", tmp_path / "odd")
    write_head(tmp_path / "odd", {**read_head(tmp_path / "odd"), key: value})
    with pytest.raises(InputError, match=f"no mean of classifiers with different {key}"):
        save_mean(tmp_path / "mean", [mean / "members" / "2", tmp_path / "odd"])
