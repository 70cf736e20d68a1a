"""From the synthetic data to models, their scores, their transfer and the map between taxonomies, on a tiny encoder."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from sklearn.metrics import f1_score

from conf.errors import InputError
from conf.settings import load_settings
from conf.taxonomy import goemotions_labels
from etl.emo_pillars.tables import (
    CONTEXTUAL_EXAMPLES,
    EMOCONTEXT,
    EMOCONTEXT_RESULTS,
    ENCODER_RESULTS,
    EXAMPLES,
    GOEMOTIONS,
    GOEMOTIONS_RESULTS,
    INTRA_DATASET,
    ISEAR,
    PREDICTIONS,
    TEST_ANSWERS,
)
from etl.emo_pillars.training.transfer_tasks import Arm, TaskRows, isear_rows, relabelled
from etl.pipeline.locations import model_folder
from etl.pipeline.planner import PipelineContext
from etl.pipeline.progress import Progress
from etl.pipeline.runner import run_stage
from etl.pipeline.stages import Stage
from etl.pipeline.tables import Table
from etl.training.registry import model_store
from jobs.emo_pillars.encoders import (
    emo_pillars_answer_tests,
    emo_pillars_intra_dataset,
    emo_pillars_train_contextless,
    emo_pillars_train_contextual,
)
from jobs.emo_pillars.transfer import (
    emo_pillars_compare_encoders,
    emo_pillars_compare_predictions,
    emo_pillars_train_emocontext,
    emo_pillars_transfer_emocontext,
    emo_pillars_transfer_goemotions,
)
from tests.stages import called, register_views, stage_run
from tests.udfs.tiny_models import tiny_encoder
from udfs.models.classifiers.multi_label_classifier import MultiLabelClassifier, Passage

pytestmark = pytest.mark.usefixtures("tables")

SAID = {"joy": "so happy !", "sadness": "i cry alone .", "fear": "a dark ghost ."}
SPLITS = ("train", "train", "validation", "test")
LESS = "emo_pillars_contextless"
FULL = "emo_pillars_contextual"
PLAIN = "emo_pillars_encoder"


def run(place: PipelineContext, stage: Stage) -> None:
    need = place.plan(stage)
    if need.why is not None:
        run_stage(place, stage, need, Progress(place.spark, 1))


def again(place: PipelineContext, **values: Any) -> PipelineContext:
    """The same lakehouse under other settings."""
    given = {key.replace("__", "."): value for key, value in values.items()}
    return PipelineContext(place.spark, load_settings("local", [], {**SET, "lakehouse.root": root_of(place), **given}))


def root_of(place: PipelineContext) -> str:
    return place.settings.lakehouse.root


SET: dict[str, Any] = {
    "models.emo_pillars_contextless_rewritten": None,
    "models.emo_pillars_contextual_rewritten": None,
    "emo_pillars.transfer.seeds": [1],
    "emo_pillars.transfer.folds": 2,
    "emo_pillars.transfer.folds_run": 1,
    "emo_pillars.transfer.validation_share": 0.3,
}
for _task in (LESS, FULL, "goemotions", "isear", "emocontext", "emo_pillars_emocontext"):
    SET |= {f"training.{_task}.{key}": value for key, value in {"epochs": 1, "max_tokens": 24}.items()}


@pytest.fixture(scope="module")
def learned(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[PipelineContext]:
    """A lakehouse with both data sets, people's sets, and two trained models."""
    folder = tmp_path_factory.mktemp("learned")
    SET["models.emo_pillars_encoder"] = f"file:{tiny_encoder(folder / 'encoder')}"
    SET["models.emotion_classifier"] = SET["models.emo_pillars_encoder"]
    place = PipelineContext(spark, load_settings("local", [], {**SET, "lakehouse.root": str(folder / "lakehouse")}))
    for table, rows in tables():
        place.lakehouse.replace(table, spark.createDataFrame(rows, table.schema), {})
    run(place, emo_pillars_train_contextless)
    run(place, emo_pillars_train_contextual)
    yield place


def tables() -> list[tuple[Table, list[tuple]]]:
    many = [(number, label, text) for number in range(12) for label, text in SAID.items()]
    labels = {label: [{"label": label, "level": 0.9}, {"label": "neutral", "level": 0.3}] for label in SAID}
    ids = [(f"p-{n}-{label}", f"p{n % 4}", "a", "Ada") for n, label, _ in many]
    comments = [(f"c{n}{label}", f"{text} {n}", [label], "train", SPLITS[n % 4]) for n, label, text in many]
    reports = [(f"r{n}{label}", f"{text} {n}", label, label, n % 2) for n, label, text in many]
    named = {"joy": "happy", "sadness": "sad", "fear": "others"}
    return [
        (
            EXAMPLES,
            [
                (*ids[i], f"{text} {n}", label, labels[label], True, SPLITS[n % 4])
                for i, (n, label, text) in enumerate(many)
            ],
        ),
        (
            CONTEXTUAL_EXAMPLES,
            [
                (
                    *ids[i],
                    "we are home .",
                    f"{text} {n}",
                    f"{text.split()[-2]} {n}",
                    label,
                    labels[label],
                    SPLITS[n % 4],
                )
                for i, (n, label, text) in enumerate(many)
            ],
        ),
        (GOEMOTIONS, comments),
        (ISEAR, reports),
        (
            EMOCONTEXT,
            [
                (f"d{n}{label}", ["what ?", "tell me", f"{text} {n}"], named[label], "train", SPLITS[n % 4])
                for n, label, text in many
            ],
        ),
    ]


def test_models_are_registered_with_their_threshold(learned: PipelineContext) -> None:
    client = model_store(learned.settings).client()
    for name in (LESS, FULL):
        version = client.get_model_version_by_alias(name.replace("_", "-"), "champion")
        metrics = client.get_run(version.run_id).data.metrics
        assert 0.05 <= metrics["held_out_threshold"] <= 0.95
        artifacts = {item.path for item in client.list_artifacts(version.run_id)}
        assert {
            "validation_precision_recall.png",
            "validation_precision_recall.csv",
        } <= artifacts


def test_a_split_without_rows_is_refused(learned: PipelineContext, tmp_path: Path) -> None:
    place = again(learned, lakehouse__root=str(tmp_path / "lakehouse"))
    few = learned.lakehouse.read(EXAMPLES).where("split <> 'test'")
    place.lakehouse.replace(EXAMPLES, few, {})
    with pytest.raises(InputError, match="no test rows in what emo_pillars_contextless learns from"):
        run(place, emo_pillars_train_contextless)


def test_each_model_is_scored_on_the_test_sets_it_can_read(learned: PipelineContext) -> None:
    run(learned, emo_pillars_answer_tests)
    run(learned, emo_pillars_intra_dataset)
    answers = learned.lakehouse.read(TEST_ANSWERS)
    rows = {(row.learner, row.tested_on, row["class"]): row for row in learned.lakehouse.read(INTRA_DATASET).collect()}
    assert {key[:2] for key in rows} == {
        (LESS, "original"),
        (LESS, "contextual original"),
        (LESS, "contextual rewritten"),
        (FULL, "contextual original"),
        (FULL, "contextual rewritten"),
    }
    assert answers.count() == 5 * 9
    found = answers.where(f"learner = '{FULL}' AND tested_on = 'contextual original'").collect()
    names = sorted({label for row in found for label in (*row.labels, *row.given)})
    truth, given = ([[name in row[key] for name in names] for row in found] for key in ("labels", "given"))
    there = [number for number, name in enumerate(names) if any(row.labels.count(name) for row in found)]
    macro = rows[FULL, "contextual original", "macro"]
    assert macro.f1 == pytest.approx(f1_score(truth, given, labels=there, average="macro", zero_division=0), abs=1e-4)
    assert rows[FULL, "contextual original", "micro"].f1 == pytest.approx(
        f1_score(truth, given, average="micro", zero_division=0), abs=1e-4
    )
    for row in found:
        wanted = {name for name, p in zip(goemotions_labels(), row.probabilities, strict=True) if p >= row.threshold}
        assert set(row.given) == wanted
        assert row.f1 == pytest.approx(2 * len(wanted & set(row.labels)) / (len(wanted) + len(row.labels)))
    pairs = {
        row.learner: row
        for row in answers.where("tested_on = 'contextual original'")
        .groupBy("passage_id")
        .pivot("learner")
        .agg({"f1": "max"})
        .selectExpr("'all' AS learner", f"sum({FULL} - {LESS}) AS gain")
        .collect()
    }
    assert macro.pairs == 9
    assert pairs["all"].gain / 9 == pytest.approx(macro.gain, abs=1e-4)
    assert 0 <= macro.paired_t_test <= 1
    assert 0 <= macro.wilcoxon <= 1
    own = {
        row.learner: row.f1
        for row in answers.where("tested_on = 'contextual original'")
        .groupBy("learner")
        .avg("f1")
        .withColumnRenamed("avg(f1)", "f1")
        .collect()
    }
    assert macro.against == LESS
    assert macro.gain == pytest.approx(own[FULL] - own[LESS], abs=1e-4)
    assert rows[LESS, "original", "macro"].against is None


def test_plots_in_two_splits_are_refused(learned: PipelineContext, tmp_path: Path) -> None:
    store = f"sqlite:///{root_of(learned)}/mlflow.db"
    place = again(learned, lakehouse__root=str(tmp_path / "lakehouse"), mlflow__tracking_uri=store)
    for table in (EXAMPLES, CONTEXTUAL_EXAMPLES):
        place.lakehouse.replace(table, learned.lakehouse.read(table), {})
    rows = learned.lakehouse.read(CONTEXTUAL_EXAMPLES)
    leaking = rows.withColumn("split", F.expr("if(plot_id = 'p3', 'train', split)"))
    place.lakehouse.replace(CONTEXTUAL_EXAMPLES, leaking, {})
    with pytest.raises(InputError, match=r"1 plots are in several splits .* \(p3: test, train\)"):
        run(place, emo_pillars_answer_tests)


def arms(place: PipelineContext, stage: Stage, table: Table) -> set[tuple[Any, ...]]:
    """The trials of a stage, before any is done."""
    own = stage_run(place.spark, place.settings, model_folder(place.settings), stage, place.plan(stage).models)
    planned = stage.units_of_work([place.lakehouse.read(table)], place.settings, own)
    return {(row.model, row.tuned, row.variant) for row in planned.collect()}


def test_each_transfer_plans_its_trials(learned: PipelineContext) -> None:
    assert arms(learned, emo_pillars_transfer_emocontext, EMOCONTEXT) == {
        (PLAIN, True, "kept"),
        (FULL, False, None),
        (FULL, True, "kept"),
        (FULL, True, "relabelled"),
        (FULL, True, "typed"),
    }
    three = {(PLAIN, True, None), (LESS, True, None), (LESS, False, None)}
    assert arms(learned, emo_pillars_transfer_goemotions, GOEMOTIONS) == three
    alone = again(learned, emo_pillars__transfer__encoders=[])
    assert arms(alone, emo_pillars_compare_encoders, EXAMPLES) == {(PLAIN, True, None)}


@pytest.mark.long
def test_transfer_begins_without_a_model_and_goes_on_with_one(learned: PipelineContext) -> None:
    without = again(learned, models__emo_pillars_contextless=None)
    run(without, emo_pillars_transfer_goemotions)
    first = {row.trial: row.run_id for row in without.lakehouse.read(GOEMOTIONS_RESULTS).collect()}
    assert len(first) == 1
    run(learned, emo_pillars_transfer_goemotions)
    rows = learned.lakehouse.read(GOEMOTIONS_RESULTS).where("class = 'macro'").collect()
    assert {(row.model, row.tuned, row.seed) for row in rows} == {
        (PLAIN, True, 1),
        (LESS, True, 1),
        (LESS, False, None),
    }
    assert {(row.trial, row.run_id) for row in rows} >= set(first.items()), "the plain trial is not done again"
    untuned = next(row for row in rows if not row.tuned)
    assert (untuned.train_rows, untuned.epochs, untuned.test_rows) == (0, 0, 9)
    assert all(len(row.starts_from) > 10 for row in rows)
    register_views(learned, "emo_pillars_transfer_classes")
    classes = learned.spark.table("analysis.emo_pillars_transfer_classes").where("class = 'grief'").collect()
    assert {(row.paper_f1, row.goemotions_f1) for row in classes} == {(0.57, 0.0)}
    assert len(classes) == 3
    gains = {row.model: row.gain_over_plain for row in classes if row.tuned}
    assert gains[PLAIN] is None
    assert gains[LESS] is not None


@pytest.mark.long
def test_encoders_are_compared_on_the_synthetic_data(learned: PipelineContext, tmp_path: Path) -> None:
    other = f"file:{tiny_encoder(tmp_path / 'other')}"
    place = again(learned, emo_pillars__transfer__encoders=[other])
    run(place, emo_pillars_compare_encoders)
    rows = place.lakehouse.read(ENCODER_RESULTS).where("class = 'macro'").collect()
    assert {(row.model, row.tuned, row.test_rows) for row in rows} == {(PLAIN, True, 9), (other, True, 9)}
    assert len({row.trial for row in rows}) == 2
    assert all(0 <= row.f1 <= 1 for row in rows)
    register_views(place, "emo_pillars_transfer")
    shown = place.spark.table("analysis.emo_pillars_transfer").where("average = 'macro'")
    rows = shown.where("task = 'synthetic'").collect()
    assert {(row.model, row.paper_f1) for row in rows} == {(PLAIN, 0.81), (other, None), (None, 0.8), (None, 0.79)}


def test_an_isear_fold_is_held_out_and_all_reports_without_tuning(learned: PipelineContext) -> None:
    reports = learned.lakehouse.read(ISEAR)
    transfer = learned.settings.emo_pillars.transfer
    folds = {row.text: row.fold for row in reports.collect()}
    fold = isear_rows(reports, Arm(LESS, True, fold=1), transfer).rows
    assert {folds[passage.utterance] for passage, _ in fold["test"]} == {1}
    assert len(fold["test"]) == 18
    assert {folds[passage.utterance] for split in ("train", "validation") for passage, _ in fold[split]} == {0}
    assert len(isear_rows(reports, Arm(LESS, False), transfer).rows["test"]) == 36


@pytest.mark.long
def test_emocontext_is_learned_in_context_and_the_views_show_it(spark: SparkSession, learned: PipelineContext) -> None:
    need = learned.plan(emo_pillars_transfer_emocontext)
    stage = emo_pillars_transfer_emocontext
    settings = learned.settings
    own = stage_run(spark, settings, model_folder(settings), stage, need.models)
    dialogues = learned.lakehouse.read(EMOCONTEXT)
    planned = stage.units_of_work([dialogues], settings, own)
    some = planned.where("variant = 'typed' OR NOT tuned")
    results = called(stage, own, settings, some, dialogues)
    learned.lakehouse.replace(EMOCONTEXT_RESULTS, results, {})
    register_views(learned, "emo_pillars_transfer")
    shown = spark.table("analysis.emo_pillars_transfer").collect()
    ours = [row for row in shown if row.task == "emocontext" and row.model == FULL]
    assert {(row.tuned, row.variant, row.scored, row.paper_f1) for row in ours if row.average == "macro"} == {
        (False, None, "4 classes, strongest", 0.53),
        (False, None, "3 classes, strongest", None),
        (True, "typed", "4 classes, strongest", None),
        (True, "typed", "3 classes, strongest", None),
    }
    assert {row.trials for row in ours} == {1}
    assert sum(row.paper_model == "BERT (Demszky et al., 2020)" for row in shown) == 1
    found = {row["class"]: row.support for row in results.where("scored LIKE '4%' AND tuned").collect()}
    assert (found["happy"], found["others"], found["angry"], found["macro"]) == (3, 3, 0, 9)


@pytest.mark.long
def test_three_models_answer_a_comment_and_dialogues(learned: PipelineContext) -> None:
    run(learned, emo_pillars_train_emocontext)
    run(learned, emo_pillars_compare_predictions)
    rows = learned.lakehouse.read(PREDICTIONS).collect()
    tuned = "emo_pillars_emocontext"
    assert {row.learner for row in rows} == {LESS, FULL, tuned}
    assert len(rows) == 3 * (1 + 9)
    (comment,) = (row for row in rows if row.kind == "comment" and row.learner == tuned)
    assert comment.utterance == learned.settings.emo_pillars.analysis.comment
    assert comment.truth is None
    for row in rows:
        assert len(row.probabilities) == 28
        given = {name for name, p in zip(goemotions_labels(), row.probabilities, strict=True) if p >= row.threshold}
        assert set(row.given) == given
    assert {row.true_label for row in rows if row.truth == "happy"} == {"joy"}
    assert {row.true_label for row in rows if row.truth == "others"} == {None}


def test_others_are_learned_as_the_models_label_or_neutral(learned: PipelineContext) -> None:
    model = MultiLabelClassifier.load(learned.plan(emo_pillars_transfer_emocontext).models[FULL].path)
    neutral = model.labels.index("neutral")
    joy = model.labels.index("joy")
    other = (Passage("a dark ghost .", "what ?"), (neutral,))
    happy = (Passage("so happy !"), (joy,))
    rows = TaskRows({"train": [other, happy], "validation": [other], "test": [other]}, ["others"])
    answer = model.probabilities([other[0]], 1).numpy()[0]
    for least, label in ((0.0, int(answer.argmax())), (1.0, neutral)):
        found = relabelled(rows, model, least, 4).rows
        assert [labels for _, labels in found["train"]] == [(label,), (joy,)]
        assert found["validation"][0][1] == (label,)
        assert found["test"] == [other]
