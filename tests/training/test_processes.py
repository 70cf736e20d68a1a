"""A training in two processes by TorchDistributor, and what is said where that cannot work."""

import sys
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from conf.errors import InputError
from conf.settings import load_settings
from etl.edos.settings import EmotionClassifierSettings
from etl.training.loop.process_job import MODEL, write_result
from etl.training.loop.train import TrainingContext, train_model
from etl.training.processes import refuse_unfit_cluster, train_in_processes, write_packages
from tests.stages import stage_run
from tests.training.small_sets import LABELS, TRAIN, VALID
from tests.udfs.sharded_tuning import as_only_process
from tests.udfs.tiny_models import tiny_encoder, tiny_language_model
from udfs.models.classifiers.dialogue_classifier import DialogueClassifier
from udfs.models.language.causal_language_model import CausalLanguageModel
from udfs.models.language.language_model import perplexity
from udfs.models.trainable import TrainingResult, TrainingRows

# Updates of 5 and of 1 row: the second process has no row of the last one.
ROWS = [*TRAIN, (["rain , rain ."], 0)]
OPTIONS = EmotionClassifierSettings(
    epochs=3,
    batch_size=2,
    effective_batch=5,
    learning_rate=5e-3,
    dropout=0.0,
    threads=1,
    device="cpu",
    precision="fp32",
)


GIVEN = TrainingRows(ROWS, VALID)


def start_at(encoder: Path) -> Callable[[], DialogueClassifier]:
    return partial(DialogueClassifier.new, encoder, LABELS, OPTIONS)


@pytest.mark.slow
def test_two_processes_make_the_updates_of_one(spark: SparkSession, tmp_path: Path) -> None:
    encoder = tiny_encoder(tmp_path / "encoder", "roberta")
    settings = load_settings("local", [], {"training.processes": 2})
    said: list[str] = []
    run = stage_run(spark, settings, tmp_path / "models", say=said.append)
    told_epochs: list[int] = []
    context = TrainingContext(on_epoch=lambda epoch: told_epochs.append(epoch.epoch))
    two = train_in_processes(run, start_at(encoder), GIVEN, OPTIONS, tmp_path / "two", context)
    one = train_model(start_at(encoder), GIVEN, OPTIONS, tmp_path / "one")

    assert told_epochs == [1, 2, 3]
    assert two.best_epoch == one.best_epoch
    assert two.options == OPTIONS
    assert two.path == tmp_path / "two"
    for theirs, ours in zip(two.history, one.history, strict=True):
        assert theirs.train_loss == pytest.approx(ours.train_loss, abs=1e-4)
        assert theirs.validation_loss == pytest.approx(ours.validation_loss, abs=1e-4)
    assert two.history[-1].train_loss < two.history[0].train_loss
    trained = DialogueClassifier.load(two.path)
    saved = trained.validate(trained.encode_rows(VALID), 2)
    assert saved == pytest.approx(one.metrics, abs=1e-3)
    assert list((tmp_path / "models" / "trainings").iterdir()) == []
    assert said == ["training in 2 processes"]


@pytest.mark.slow
def test_the_parts_of_a_language_model_are_tuned_in_processes(spark: SparkSession, tmp_path: Path) -> None:
    settings = load_settings("local", [], {"training.processes": 2, "models.training_device": "cpu"})
    own = settings.training.augmenter.model_copy(update={"epochs": 2, "threads": 1, "device": "cpu"})
    run = stage_run(spark, settings, tmp_path / "models")
    model = CausalLanguageModel.load(tiny_language_model(tmp_path / "start"))
    rows = model.encode([[("you are so", False), (" happy and glad", True)]] * 3)
    told: list[int] = []
    updates: dict[int, float] = {}
    context = TrainingContext(
        checkpoints=tmp_path / "checkpoints",
        on_epoch=lambda epoch: told.append(epoch.epoch),
        on_update=updates.__setitem__,
    )
    given = TrainingRows(rows, rows[:1])
    result = train_in_processes(run, lambda: model, given, own, tmp_path / "tuned", context)
    assert (told, list(updates)) == ([1, 2], [1, 2, 3, 4])
    assert result.path == tmp_path / "tuned"
    tuned = CausalLanguageModel.load(result.path)
    assert perplexity(tuned, rows, 1) == pytest.approx(result.metrics["perplexity"], rel=1e-3)
    assert result.metrics["perplexity"] < perplexity(model, rows, 1)


CONF = {"spark.task.resource.gpu.amount": "1"}


@pytest.mark.parametrize(
    ("conf", "processes", "device", "line"),
    [
        ({"spark.dynamicAllocation.enabled": "true"}, 2, "cpu", "with spark.dynamicAllocation.enabled=false"),
        ({"spark.task.resource.gpu.amount": "0.25"}, 2, "auto", "one whole GPU a task: .* not 0.25"),
        ({"spark.task.resource.gpu.amount": "2"}, 2, "cuda", "one whole GPU a task: .* not 2"),
        ({}, 2, "cuda", "gives its tasks no GPU"),
        (CONF, 9, "auto", "runs 8 tasks at once"),
    ],
)
def test_a_cluster_that_does_not_fit_is_refused_in_one_line(conf, processes, device, line) -> None:
    with pytest.raises(InputError, match=line) as error:
        refuse_unfit_cluster(conf.get, processes, device, slots=8)
    assert str(error.value).startswith(f"training.processes={processes}")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("conf", "device"),
    [({}, "cpu"), ({}, "auto"), (CONF, "auto"), (CONF, "cuda"), ({"spark.task.resource.gpu.amount": "0.25"}, "cpu")],
)
def test_a_cluster_that_fits_is_not_refused(conf, device) -> None:
    refuse_unfit_cluster(conf.get, 8, device, slots=8)


@pytest.mark.parametrize("here", [True, pytest.param(False, marks=pytest.mark.long)], ids=["one", "two"])
def test_a_process_that_fails_is_told_by_its_own_reason(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, here: bool
) -> None:
    if here:  # this process in place of two, which take a minute to start
        as_only_process(monkeypatch)
        monkeypatch.setattr("sys.path", [*sys.path])
        monkeypatch.setattr("pyspark.ml.torch.distributor.TorchDistributor.run", lambda _, train: train())
    run = stage_run(spark, load_settings("local", [], {"training.processes": 2}), tmp_path)
    with pytest.raises(InputError, match=r"no encoder: no \.safetensors weights"):
        train_in_processes(run, start_at(tmp_path / "no encoder"), GIVEN, OPTIONS, tmp_path / "out", TrainingContext())
    start = start_at(tiny_encoder(tmp_path / "encoder"))
    wrong = TrainingRows([(["yes"], 4)], VALID)
    with pytest.raises(InputError, match="label id 4 in the training rows"):
        train_in_processes(run, start, wrong, OPTIONS, tmp_path / "out", TrainingContext())
    assert list((tmp_path / "trainings").iterdir()) == []


def test_a_process_that_ends_badly_after_all_was_done_changes_nothing(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def abort(*_: object) -> None:
        (folder,) = (tmp_path / "trainings").iterdir()
        (folder / MODEL).mkdir()
        (folder / MODEL / "weights").write_text("all of them")
        write_result(folder, TrainingResult(folder, {"loss": 0.5}, (), 2, 1.0, OPTIONS))
        raise RuntimeError("exit code -6")

    monkeypatch.setattr("pyspark.ml.torch.distributor.TorchDistributor.run", abort)
    said: list[str] = []
    settings = load_settings("local", [], {"training.processes": 2})
    run = stage_run(spark, settings, tmp_path, say=said.append)
    start = start_at(tiny_encoder(tmp_path / "encoder"))
    result = train_in_processes(run, start, GIVEN, OPTIONS, tmp_path / "out", TrainingContext())
    assert (result.path, result.best_epoch) == (tmp_path / "out", 2)
    assert (tmp_path / "out" / "weights").read_text() == "all of them"
    assert "its result is valid" in said[-1]


def test_the_packages_travel_as_a_zip_that_python_imports_from(tmp_path: Path) -> None:
    with zipfile.ZipFile(write_packages(tmp_path / "packages.zip")) as archive:
        names = set(archive.namelist())
    assert {"etl/training/loop/process_job.py", "conf/errors.py", "conf/taxonomies/edos.yaml"} <= names
    assert not {name for name in names if "__pycache__" in name or name.startswith(("jobs/", "tests/"))}
