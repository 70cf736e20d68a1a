"""The comparison of classifiers: which trials there are, and that each is done once."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from mlflow import MlflowClient
from pyspark.sql import SparkSession

from conf.errors import InputError
from conf.settings import Settings, load_settings
from etl.edos.settings import ComparisonSettings
from etl.edos.tables import CLASSIFIER_TRIALS, TRAINING_DIALOGUES
from etl.edos.training import trials
from etl.edos.training.classifiers import rows_by_split
from etl.edos.training.trials import ClassifierVariant, variants_of
from etl.pipeline.locations import tracking_uri
from etl.pipeline.planner import PipelineContext
from etl.pipeline.progress import Progress
from etl.pipeline.runner import run_stage
from jobs.edos.classifier import compare_classifiers
from tests.edos.training.trial_rows import labelled
from tests.stages import stage_run
from tests.udfs.tiny_models import tiny_encoder

pytestmark = pytest.mark.usefixtures("tables")


@pytest.fixture(scope="module")
def compared_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_encoder(tmp_path_factory.mktemp("compared"))


@pytest.fixture
def compared(tmp_path: Path, compared_encoder: Path) -> Iterator[Settings]:
    values = {
        "lakehouse.root": str(tmp_path / "lakehouse"),
        "models.encoder": f"file:{compared_encoder}",
        "models.weak_labeler": f"file:{compared_encoder}",
        "training.emotion_classifier.epochs": 1,
        "training.emotion_classifier.start_from_weak_labeler": False,
        "training.emotion_classifier.max_tokens": 16,
        "training.comparison.seeds": [1],
        "training.comparison.weightings": [True],
    }
    yield load_settings("local", [], values)


def changed(settings: Settings, **values: object) -> Settings:
    training = settings.training
    comparison = training.comparison.model_copy(update=values)
    return settings.model_copy(update={"training": training.model_copy(update={"comparison": comparison})})


def compare(spark: SparkSession, settings: Settings) -> PipelineContext:
    place = PipelineContext(spark, settings)
    need = place.plan(compare_classifiers)
    if need.why is not None:
        run_stage(place, compare_classifiers, need, Progress(spark, 1))
    return place


def done(place: PipelineContext) -> list[tuple]:
    rows = place.lakehouse.read(CLASSIFIER_TRIALS).collect()
    return sorted((row.weighted, tuple(row.origins), row.seed) for row in rows)


@pytest.mark.parametrize(
    ("present", "values", "arms"),
    [
        ({"crowd"}, {}, [(True, ("crowd",)), (False, ("crowd",))]),
        (
            {"self", "crowd", "similar"},
            {"weightings": (True,)},
            [(True, ("crowd",)), (True, ("crowd", "similar")), (True, ("crowd", "similar", "self"))],
        ),
        (
            {"similar_self", "crowd"},
            {"weightings": (False,)},
            [(False, ("crowd",)), (False, ("crowd", "similar_self"))],
        ),
        ({"crowd", "self"}, {"origins": ("self", "self"), "weightings": (True, True)}, [(True, ("self",))]),
    ],
)
def test_origins_are_added_in_turn(present: set, values: dict, arms: list) -> None:
    assert variants_of(present, ComparisonSettings(**values)) == [ClassifierVariant(*arm) for arm in arms]


def test_without_rows_of_an_origin_there_is_nothing_to_compare() -> None:
    with pytest.raises(InputError, match=r"training\.comparison\.origins: .* no rows of self"):
        variants_of({"crowd"}, ComparisonSettings(origins=("self",)))


def test_a_trial_is_tracked_and_done_once(spark: SparkSession, compared: Settings) -> None:
    settings = changed(compared, origins=("crowd",))
    PipelineContext(spark, settings).lakehouse.replace(TRAINING_DIALOGUES, labelled(spark, {"crowd": 6}), {})
    place = compare(spark, settings)
    assert done(place) == [(True, ("crowd",), 1)]
    assert place.plan(compare_classifiers).why is None
    _check_tracked(place, ["FINISHED"])


@pytest.mark.long
def test_each_trial_is_done_once_and_a_stopped_comparison_goes_on(
    spark: SparkSession, compared: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = PipelineContext(spark, compared)
    place.lakehouse.replace(TRAINING_DIALOGUES, labelled(spark, {"crowd": 6, "similar": 2}), {})
    trained = []
    real = trials.train_model

    def counted(*arguments: object):
        if len(trained) == 1:
            trained.append("stopped")
            raise KeyboardInterrupt
        trained.append(arguments[-1])
        return real(*arguments)

    monkeypatch.setattr(trials, "train_model", counted)
    with pytest.raises(KeyboardInterrupt):
        compare(spark, compared)
    assert len(done(place)) == 1
    crowd = (True, ("crowd",), 1)
    similar = (True, ("crowd", "similar"), 1)
    assert done(compare(spark, compared)) == [crowd, similar]
    assert len(trained) == 3  # one before the stop, the stop, and the other
    assert PipelineContext(spark, compared).plan(compare_classifiers).why is None

    # Another seed adds its trials; those that nobody asks for any more leave.
    more = changed(compared, seeds=(1, 2), origins=("crowd",))
    assert done(compare(spark, more)) == [crowd, (True, ("crowd",), 2)]
    assert len(trained) == 4

    _check_tracked(place, ["FAILED", *["FINISHED"] * 3])


def test_a_trial_is_known_by_all_that_it_depends_on(spark: SparkSession, compared: Settings) -> None:
    def planned(settings: Settings, similar: int) -> dict[tuple, str]:
        run = stage_run(spark, settings)
        given = labelled(spark, {"crowd": 3, "similar": similar})
        rows = compare_classifiers.units_of_work([given], settings, run).collect()
        return {(row.weighted, tuple(row.origins), row.seed): row.trial for row in rows}

    crowd = (True, ("crowd",), 1)
    similar = (True, ("crowd", "similar"), 1)
    before = planned(compared, 2)
    other_rows = planned(compared, 3)
    assert set(before) == {crowd, similar}
    assert before == planned(compared, 2)
    assert other_rows[crowd] == before[crowd]
    assert other_rows[similar] != before[similar]
    smoother = compared.training.emotion_classifier.model_copy(update={"label_smoothing": 0.3})
    training = compared.training.model_copy(update={"emotion_classifier": smoother})
    other_settings = planned(compared.model_copy(update={"training": training}), 2)
    assert not set(other_settings.values()) & set(before.values())


def _check_tracked(place: PipelineContext, statuses: list[str]) -> None:
    """Check the row and the run of the crowd's trial of seed 1, and the states of its family of runs."""
    row = place.lakehouse.read(CLASSIFIER_TRIALS).where("seed = 1").collect()[0]
    assert (row.train_rows, row.validation_rows, row.test_rows) == (6, 6, 6)
    assert len(row.classes) == 41
    assert sum(one.support for one in row.classes) == 6
    client = MlflowClient(tracking_uri(place.settings))
    run = client.get_run(row.run_id)
    assert run.info.status == "FINISHED"
    assert run.info.run_name == "crowd, seed 1, weighted"
    assert run.data.tags["kind"] == "dialogue_classifier"
    (read,) = run.inputs.dataset_inputs
    assert read.dataset.name == "edos.training_dialogues"
    assert read.dataset.source_type == "delta_table"
    assert read.dataset.digest.startswith("v")
    assert run.data.params["origins"] == "crowd"
    assert run.data.params["seed"] == "1"
    assert round(run.data.metrics["held_out_macro_f1"], 4) == row.macro_f1
    assert run.data.tags["data.edos.training_dialogues"].rpartition(":")[2].isdigit()
    names = {item.path for item in client.list_artifacts(row.run_id)}
    assert {"held_out_confusion.png"} <= names
    assert "model" not in names
    heading = client.get_run(run.data.tags["mlflow.parentRunId"])
    assert "macro_f1/weighted/crowd" in heading.data.metrics
    family = client.search_runs([run.info.experiment_id], f"tags.mlflow.parentRunId = '{heading.info.run_id}'")
    assert sorted(one.info.status for one in family) == statuses


def test_what_is_held_out_is_never_trained_on(spark: SparkSession) -> None:
    turns = ["i cry .", "why ?"]
    rows = [
        ("a", 1, turns, "sad", "crowd", None, None, "test"),
        ("b", 1, turns, "sad", "similar", None, None, "train"),
        ("c", 1, turns, "sad", "crowd", None, None, "validation"),
        ("d", 1, ["no ."], "sad", "crowd", None, None, "train"),
        ("e", 1, ["yes ."], "sad", "crowd", None, None, "validation"),
        ("f", 1, ["so ."], "sad", "self", None, None, "train"),
    ]
    found, dropped = rows_by_split(spark.createDataFrame(rows, TRAINING_DIALOGUES.schema), ("sad",))
    held_out = {"validation": [(("yes .",), 0)], "test": [(tuple(turns), 0)]}
    assert found == {"train": [(("no .",), 0), (("so .",), 0)], "crowd": [(("no .",), 0)], **held_out}
    assert sorted(dropped) == [
        ("turn", "b/1", "history_is_held_out", "i cry . / why ?", 1),
        ("turn", "c/1", "history_is_held_out", "i cry . / why ?", 1),
    ]


def test_a_split_without_rows_is_named(spark: SparkSession) -> None:
    rows = spark.createDataFrame([("a", 1, ["no ."], "sad", "crowd", None, None, "test")], TRAINING_DIALOGUES.schema)
    with pytest.raises(InputError, match="has no train rows"):
        rows_by_split(rows, ("sad",))
