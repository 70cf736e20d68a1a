"""The small classifier that learns from the large one's probabilities."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from pyspark.sql import SparkSession

from conf.errors import InputError
from conf.settings import load_settings
from etl.edos.settings import EmotionClassifierSettings
from etl.edos.tables import INITIAL, TRAINING_DIALOGUES
from etl.edos.training import distillation
from etl.edos.training.distillation import mixed, one_hot, soft_rows, teacher_answers
from etl.pipeline.planner import PipelineContext
from etl.pipeline.progress import Progress
from etl.pipeline.runner import run_stage
from etl.pipeline.stage_run import UsedModel
from etl.training.loop.train import TrainingContext, train_model
from etl.training.registration import Recipe
from jobs.edos.classifier import distil_emotion_classifier
from tests.edos.training.trial_rows import labelled
from tests.stages import called, stage_run
from tests.training.small_sets import LABELS, TRAIN, VALID
from tests.udfs.tiny_models import tiny_encoder
from udfs.models.classifiers.classifier import load_encoder
from udfs.models.classifiers.dialogue_classifier import DialogueClassifier
from udfs.models.classifiers.distilled import DistilledClassifier, DistilledLabeler
from udfs.models.classifiers.weak_labeler import WeakLabeler
from udfs.models.trainable import TrainingRows

HISTORIES = [tuple(turns) for turns, _ in TRAIN]
OPTIONS = EmotionClassifierSettings(
    epochs=40,
    batch_size=10,
    effective_batch=10,
    learning_rate=5e-3,
    dropout=0,
    threads=1,
    device="cpu",
    precision="fp32",
    keep="last",
)


@pytest.fixture(scope="module")
def small_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_encoder(tmp_path_factory.mktemp("student"))


def test_certain_probabilities_have_the_loss_of_labels(small_encoder: Path) -> None:
    torch.manual_seed(1)
    student = DistilledClassifier(*load_encoder(small_encoder), LABELS, dropout=0).eval()
    plain = DialogueClassifier(student.encoder, student.tokenizer, LABELS, dropout=0).eval()
    plain.load_state_dict(student.state_dict())
    for smoothing in (0.0, 0.1):
        hard = plain(plain.encode_rows(TRAIN), smoothing).detach()
        soft = student(student.encode_rows(one_hot(TRAIN, len(LABELS))), smoothing).detach()
        assert float(soft) == pytest.approx(float(hard), rel=1e-6)
    valid = student.encode_rows(one_hot(VALID, len(LABELS)))
    assert student.validate(valid, 4) == pytest.approx(plain.validate(plain.encode_rows(VALID), 4))


def test_a_student_without_labels_comes_near_its_teacher(small_encoder: Path, tmp_path: Path) -> None:
    """From answers that no label gives: the floor is a student that was never trained."""
    wanted = np.random.default_rng(5).dirichlet([0.6] * len(LABELS), len(HISTORIES))
    start = partial(DistilledClassifier.new, small_encoder, LABELS, OPTIONS)
    rows = TrainingRows(soft_rows(HISTORIES, wanted), one_hot(VALID, len(LABELS)))
    saved = train_model(start, rows, OPTIONS, tmp_path / "student", TrainingContext()).path

    def distance(model: DialogueClassifier) -> float:
        found = model.probabilities(HISTORIES, 4).numpy()
        return float((wanted * np.log(wanted / found)).sum(axis=1).mean())

    untrained = distance(start().eval())
    assert distance(DialogueClassifier.load(saved)) < 0.2 * untrained


def test_the_answers_are_the_teachers_in_the_order_of_the_histories(small_encoder: Path, tmp_path: Path) -> None:
    torch.manual_seed(2)
    teacher = DialogueClassifier(*load_encoder(small_encoder), LABELS).eval()
    rows = soft_rows(
        HISTORIES, teacher_answers(DialogueClassifier, teacher.save(tmp_path / "teacher"), OPTIONS, HISTORIES)
    )
    assert [turns for turns, _ in rows] == HISTORIES
    for turns, shares in rows:
        assert shares == pytest.approx(teacher.probabilities([turns], 1)[0].tolist(), abs=1e-4)


def test_truths_are_the_mean_of_label_and_teacher() -> None:
    def answers(items: Sequence[str]) -> NDArray[np.float64]:
        return np.array([[0.2, 0.8]] * len(items))

    assert mixed([("a", 0), ("c", 1)], answers, 2) == [("a", (0.6, 0.4)), ("c", (0.1, 0.9))]


def test_a_weak_labelers_student_comes_near_its_teacher(small_encoder: Path, tmp_path: Path) -> None:
    texts = [" ".join(turns) for turns in HISTORIES]
    wanted = np.random.default_rng(6).dirichlet([0.6] * len(LABELS), len(texts))
    start = partial(DistilledLabeler.new, small_encoder, LABELS, OPTIONS)
    rows = TrainingRows(soft_rows(texts, wanted), one_hot([(texts[0], 0)], len(LABELS)))
    saved = train_model(start, rows, OPTIONS, tmp_path / "student", TrainingContext()).path

    def distance(model: WeakLabeler) -> float:
        return float((wanted * np.log(wanted / model.probabilities(texts, 4).numpy())).sum(axis=1).mean())

    assert distance(WeakLabeler.load(saved)) < 0.2 * distance(start().eval())


def test_a_row_of_another_taxonomy_is_refused(small_encoder: Path) -> None:
    student = DistilledClassifier(*load_encoder(small_encoder), LABELS)
    with pytest.raises(InputError, match="3 probabilities for 4 labels"):
        student.check(student.encode_rows(one_hot(TRAIN, 3)), "training")


@pytest.mark.usefixtures("tables")
@pytest.mark.parametrize("trained", [False, pytest.param(True, marks=pytest.mark.long)])
def test_the_stage_learns_from_turns_that_nobody_labelled(
    spark: SparkSession, small_encoder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trained: bool
) -> None:
    settings = load_settings(
        "local",
        [],
        {
            "lakehouse.root": str(tmp_path / "lakehouse"),
            "models.student_encoder": f"file:{small_encoder}",
            "models.weak_labeler": f"file:{small_encoder}",
            "training.emotion_student.epochs": 1,
            "training.emotion_student.start_from_weak_labeler": False,
            "training.emotion_student.max_tokens": 16,
            "training.emotion_student.unlabelled": 3,
            "models.emotion_classifier": f"file:{tmp_path / 'teacher'}",
        },
    )
    labels = settings.edos.taxonomy.names
    DialogueClassifier(*load_encoder(small_encoder), labels, max_tokens=16).save(tmp_path / "teacher")
    training = labelled(spark, {"crowd": 6})
    last = ("what ?", "what ?", "so happy !", "what ?")
    chosen = [
        (f"d{rank}", "1", rank, 0.5, [f"film {rank}", text], 0.5, 0.9, None, None, None, None)
        for rank, text in enumerate(last)
    ]
    initial = spark.createDataFrame(chosen, INITIAL.schema)
    asked: list[list[tuple[str, ...]]] = []
    real = distillation.teacher_answers
    monkeypatch.setattr(distillation, "teacher_answers", lambda *given: asked.append(given[3]) or real(*given))
    if trained:
        place = PipelineContext(spark, settings)
        place.lakehouse.replace(TRAINING_DIALOGUES, training, {})
        place.lakehouse.replace(INITIAL, initial, {})
        plan = place.plan(distil_emotion_classifier)
        done = run_stage(place, distil_emotion_classifier, plan, Progress(spark, 1))
        assert done.rows_out == 18
        assert done.output_version is not None
        assert place.plan(distil_emotion_classifier).why is None
    else:
        recipes: list[Recipe] = []
        monkeypatch.setattr(distillation, "train_and_register", lambda recipe, run: recipes.append(recipe))
        run = stage_run(spark, settings)
        models = {
            "emotion_classifier": UsedModel(tmp_path / "teacher", "t@1", settings.models.emotion_classifier, run),
            settings.models.student_encoder: UsedModel(small_encoder, "e@1", settings.models.student_encoder, run),
        }
        called(distil_emotion_classifier, stage_run(spark, settings, models=models), settings, training, initial)
        (recipe,) = recipes
        assert len(recipe.rows.train) == 6 + 3
        assert recipe.params["unlabelled_rows"] == 3
    # "so happy !" is the last turn of a labelled history.
    assert len(asked[0]) == 3
    assert all(turns[-1] != "so happy !" for turns in asked[0])
