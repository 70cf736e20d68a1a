"""Models of several seeds that answer as one."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conf.errors import InputError
from conf.training_options import TrainingOptions
from conf.training_settings import EmotionClassifierSettings
from etl.training.calibration import calibration, set_calibration, with_temperature
from etl.training.loop.members import train_members
from etl.training.loop.train import TrainingContext, train_model
from tests.training.small_sets import LABELS, TRAIN, VALID
from tests.udfs.tiny_models import tiny_encoder
from udfs.models.classifiers.classifier import ENCODER, HEAD_CONFIG, Ensemble, encoder_folder
from udfs.models.classifiers.dialogue_classifier import DialogueClassifier
from udfs.models.classifiers.multi_label_classifier import MultiLabelClassifier
from udfs.models.classifiers.weak_labeler import WeakLabeler
from udfs.models.trainable import EpochMetrics, TrainingResult, TrainingRows
from udfs.serving import ServedClassifier

OPTIONS = EmotionClassifierSettings(
    epochs=2,
    batch_size=4,
    effective_batch=4,
    learning_rate=5e-3,
    dropout=0,
    threads=1,
    device="cpu",
    precision="fp32",
    seed=3,
)
TURNS = [turns for turns, _ in VALID]
Start = Callable[[TrainingOptions], DialogueClassifier]


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Start:
    encoder = tiny_encoder(tmp_path_factory.mktemp("members"))
    return lambda own: DialogueClassifier.new(encoder, LABELS, own)  # type: ignore[arg-type]


def train(start: Start, out: Path, members: int = 3, **told: Any) -> TrainingResult:
    context = TrainingContext(say=lambda line: None, **told)
    return train_members(DialogueClassifier, start, TrainingRows(TRAIN, VALID), OPTIONS, members, out, context)


@pytest.fixture(scope="module")
def trained(start: Start, tmp_path_factory: pytest.TempPathFactory) -> TrainingResult:
    return train(start, tmp_path_factory.mktemp("trained") / "model")


def test_the_answer_is_the_mean_of_the_members(trained: TrainingResult) -> None:
    members = [DialogueClassifier.load(trained.path / f"seed-{seed}").probabilities(TURNS, 2) for seed in (3, 4, 5)]
    model = DialogueClassifier.load(trained.path)
    assert isinstance(model, Ensemble)
    wanted = np.mean([one.numpy() for one in members], axis=0)
    np.testing.assert_allclose(model.probabilities(TURNS, 2).numpy(), wanted, atol=1e-6)
    assert not np.allclose(members[0], wanted, atol=1e-3)
    assert trained.metrics == pytest.approx(model.figures(wanted, [label for _, label in VALID]), abs=1e-5)


def test_each_member_is_the_training_of_its_seed(start: Start, trained: TrainingResult, tmp_path: Path) -> None:
    own = OPTIONS.model_copy(update={"seed": 5})
    alone = train_model(lambda: start(own), TrainingRows(TRAIN, VALID), own, tmp_path / "alone").path
    weights = "head.safetensors"
    assert (alone / weights).read_bytes() == (trained.path / "seed-5" / weights).read_bytes()


def test_the_history_has_the_epochs_of_all(trained: TrainingResult) -> None:
    assert [epoch.epoch for epoch in trained.history] == [1, 2, 3, 4, 5, 6]


def test_a_killed_training_repeats_no_finished_member(start: Start, trained: TrainingResult, tmp_path: Path) -> None:
    def kill(epoch: EpochMetrics) -> None:
        if epoch.epoch == 4:
            raise KeyboardInterrupt

    kept = tmp_path / "checkpoints"
    with pytest.raises(KeyboardInterrupt):
        train(start, tmp_path / "killed", checkpoints=kept, on_epoch=kill)
    later: list[int] = []
    again = train(start, tmp_path / "again", checkpoints=kept, on_epoch=lambda epoch: later.append(epoch.epoch))
    assert later == [4, 5, 6]
    assert not kept.exists()
    for name in ("seed-3", "seed-4", "seed-5"):
        weights = f"{name}/head.safetensors"
        assert (again.path / weights).read_bytes() == (trained.path / weights).read_bytes()


def test_a_temperature_is_of_all_together(trained: TrainingResult, tmp_path: Path) -> None:
    folder = shutil.copytree(trained.path, tmp_path / "model")
    before = DialogueClassifier.load(folder).probabilities(TURNS, 4).numpy()
    found = calibration(before, [label for _, label in VALID])["temperature"]
    set_calibration(folder, {"temperature": found})
    after = DialogueClassifier.load(folder).probabilities(TURNS, 4).numpy()
    np.testing.assert_allclose(after, with_temperature(before, found), atol=1e-5)


def test_it_is_served_as_one_model(trained: TrainingResult) -> None:
    import pandas as pd

    answers = ServedClassifier(trained.path).predict(pd.DataFrame({"turns": TURNS}))
    best = DialogueClassifier.load(trained.path).probabilities(TURNS, 4).numpy().argmax(axis=1)
    assert list(answers["label"]) == [LABELS[place] for place in best]


def test_another_training_can_start_from_the_first_encoder(trained: TrainingResult) -> None:
    assert encoder_folder(trained.path) == trained.path / "seed-3" / ENCODER
    assert encoder_folder(trained.path / "seed-4") == trained.path / "seed-4" / ENCODER


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ("seed-3", "no list of 1 to 32 names"),
        ([], "no list of 1 to 32 names"),
        (["seed-3"] * 33, "no list of 1 to 32 names"),
        (["../model/seed-3"], "names no folder beside it"),
        ([".."], "train one first|names no folder"),
        ([3], "names no folder beside it"),
        (["seed-9"], "no head.json"),
    ],
)
def test_members_that_are_none_are_refused(trained: TrainingResult, tmp_path: Path, members: Any, message: str) -> None:
    folder = shutil.copytree(trained.path, tmp_path / "model")
    config = json.loads((folder / HEAD_CONFIG).read_text("utf-8"))
    (folder / HEAD_CONFIG).write_text(json.dumps({**config, "members": members}), "utf-8")
    with pytest.raises(InputError, match=message):
        DialogueClassifier.load(folder)


def test_an_ensemble_of_another_kind_or_of_ensembles_is_refused(trained: TrainingResult, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a weak_labeler"):
        WeakLabeler.load(trained.path)
    folder = shutil.copytree(trained.path, tmp_path / "model")
    config = json.loads((folder / HEAD_CONFIG).read_text("utf-8"))
    shutil.copy(folder / HEAD_CONFIG, folder / "seed-3" / HEAD_CONFIG)
    for name in ("seed-3", "seed-4", "seed-5"):
        shutil.copytree(trained.path / name, folder / "seed-3" / name)
    with pytest.raises(InputError, match="seed-3: no dialogue_classifier with the labels"):
        DialogueClassifier.load(folder)
    (folder / HEAD_CONFIG).write_text(json.dumps({**config, "kind": MultiLabelClassifier.kind}), "utf-8")
    with pytest.raises(InputError, match="have no members"):
        MultiLabelClassifier.load(folder)
