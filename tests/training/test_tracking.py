import json
import os
import re
import signal
import subprocess
import sys
import urllib.request
from dataclasses import replace
from functools import partial
from pathlib import Path

import mlflow
import pytest
import torch
from mlflow import MlflowClient
from mlflow.data import get_source
from mlflow.data.delta_dataset_source import DeltaDatasetSource
from mlflow.exceptions import MlflowException
from mlflow.protos.databricks_pb2 import TEMPORARILY_UNAVAILABLE

from conf.errors import InputError
from conf.settings import LakehouseSettings, load_settings
from conf.training_options import ClassifierOptions
from etl.cli.mlflow_pages import open_mlflow
from etl.edos.training.trials import ClassifierVariant
from etl.pipeline.model_loader import resolve
from etl.training.data_inputs import delta_inputs, file_input, rows_digest
from etl.training.experiment import SHARED_VIEW, describe_experiment, parent_run, title
from etl.training.held_out_classifiers import ClassifierTest
from etl.training.loop.train import TrainingContext, train_model
from etl.training.registry import model_store
from etl.training.tracking import (
    Candidate,
    ModelStore,
    champion_version,
    promote_if_better,
    tracked_run,
)
from tests.ports import free_port
from tests.udfs.tiny_models import tiny_encoder
from udfs.devices import chosen_precision
from udfs.models.classifiers.classifier import load_encoder
from udfs.models.classifiers.metrics import confusion_counts, per_class_metrics
from udfs.models.classifiers.weak_labeler import WeakLabeler
from udfs.models.pictures import confusion_chart
from udfs.models.trainable import TrainingRows

REPOSITORY = Path(__file__).resolve().parents[2]
LABELS = ("sad", "glad")
NAME = "edos-weak-labeler"
ROWS = [("i cry", 0), ("so happy", 1), ("sad and alone", 0), ("great joy", 1)]


@pytest.fixture(scope="module")
def mlflow_store(tmp_path_factory):
    root = tmp_path_factory.mktemp("mlflow")
    return ModelStore(f"sqlite:///{root / 'mlflow.db'}", "edos", (root / "artifacts").as_uri())


@pytest.fixture(scope="module")
def tracked_model(mlflow_store, tmp_path_factory):
    """A training tracked from its first parameter to the registry: (run id, version, its folder)."""
    folder = tmp_path_factory.mktemp("tracked")
    encoder = tiny_encoder(folder / "encoder")
    options = ClassifierOptions(epochs=2, batch_size=2, effective_batch=2, learning_rate=1e-3, threads=1, device="cpu")
    versions = {"data.edos.crowd_labels": "7"}
    with tracked_run(mlflow_store, "weak labeler", {"seed": 13, "epochs": 2}, versions) as run:
        start = partial(WeakLabeler.new, encoder, LABELS, options)
        context = TrainingContext(on_epoch=run.on_epoch)
        result = train_model(start, TrainingRows(ROWS, ROWS), options, folder / "model", context)
        truth = [label for _, label in ROWS]
        probabilities = WeakLabeler.load(result.path).probabilities([text for text, _ in ROWS], 2).numpy()
        run.log_history(result)
        run.log_metrics({"accuracy": 0.5}, "test_")
        run.log_classes(per_class_metrics(probabilities, truth, LABELS))
        run.log_chart(confusion_chart(confusion_counts(probabilities, truth), LABELS))
        version = run.register(NAME, run.log_model(result.path, WeakLabeler.kind), {"held_out": "x"})
    return run.run_id, version, result.path


def test_a_run_names_the_versions_of_its_tables(tmp_path):
    lakehouse = LakehouseSettings(root=str(tmp_path / "lake"))
    store = ModelStore(f"sqlite:///{tmp_path}/mlflow.db", "edos", str(tmp_path / "artifacts"), lakehouse=lakehouse)
    table_id = "0f1a4c52-9d3e-4b9e-8a5e-6a1c1e5b7d10"
    tags = {"data.edos.seeds": f"{table_id}:12", "data.edos.empathetic_turns": "off", "stage": "train"}
    with tracked_run(store, "training", {}, tags) as run:
        pass
    (one,) = store.client().get_run(run.run_id).inputs.dataset_inputs
    assert (one.dataset.name, one.dataset.digest) == ("edos.seeds", "v12-0f1a4c52")
    assert {tag.key: tag.value for tag in one.tags} == {"mlflow.data.context": "training"}
    source = get_source(one)
    assert isinstance(source, DeltaDatasetSource)
    assert (source.path, source.delta_table_version) == (f"{tmp_path}/lake/edos/seeds", 12)


def test_a_table_of_a_catalog_is_named_by_it():
    catalog = LakehouseSettings(catalog="main", schema_prefix="edos_lakehouse_")
    (one,) = delta_inputs({"data.edos.seeds": "id:3"}, catalog)
    assert DeltaDatasetSource.from_dict(json.loads(one.dataset.source)).delta_table_name == (
        "main.edos_lakehouse_edos.seeds"
    )


def test_a_run_holds_parameters_metrics_and_pictures(mlflow_store, tracked_model):
    client = mlflow_store.client()
    run = client.get_run(tracked_model[0])
    assert run.info.status == "FINISHED"
    hardware = {
        "computed_on": "cpu",
        "computed_in": chosen_precision("auto", torch.device("cpu")).name,
        "cpu_threads": "1",
    }
    assert run.data.params == {"seed": "13", "epochs": "2", **hardware}
    assert run.data.tags["data.edos.crowd_labels"] == "7"
    assert run.data.metrics["test_accuracy"] == 0.5
    assert {"best_epoch", "training_seconds", "best_validation_macro_f1"} <= set(run.data.metrics)
    assert [point.step for point in client.get_metric_history(tracked_model[0], "validation_loss")] == [1, 2]
    names = {item.path for item in client.list_artifacts(tracked_model[0])}
    assert {"per_class.json", "confusion.png", "confusion.csv"} <= names
    assert client.get_experiment_by_name("edos").artifact_location.endswith("artifacts")


def test_the_registered_model_comes_back_whole_and_without_pickles(mlflow_store, tracked_model, tmp_path):
    _, version, folder = tracked_model
    mlflow_store.client().set_registered_model_alias(NAME, "tried", version)
    model = resolve(f"models:/{NAME}@tried", tmp_path, mlflow_store.tracking_uri)
    assert model.identity.startswith(f"models:/{NAME}/{version}#sha256:")
    assert resolve(f"models:/{NAME}/{version}", tmp_path, mlflow_store.tracking_uri) == model
    assert (model.path / "MLmodel").is_file()
    assert not {path.suffix for path in model.path.rglob("*")} & {".pkl", ".bin", ".pt"}
    here = WeakLabeler.load(folder)
    there = WeakLabeler.load(model.path)
    assert torch.equal(here.probabilities(["so sad"], 1), there.probabilities(["so sad"], 1))


def test_a_registered_model_is_read_without_a_trace_in_the_process(mlflow_store, tracked_model, tmp_path, monkeypatch):
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    monkeypatch.delenv("MLFLOW_REGISTRY_URI", raising=False)
    resolve(f"models:/{NAME}/{tracked_model[1]}", tmp_path, mlflow_store.tracking_uri)
    assert not {"MLFLOW_TRACKING_URI", "MLFLOW_REGISTRY_URI"} & set(os.environ)
    assert not mlflow.is_tracking_uri_set()
    # An address once set would be the registry of every later client that was given another.
    other = f"sqlite:///{tmp_path / 'other.db'}"
    assert MlflowClient(other)._registry_uri == other


@pytest.mark.parametrize("uri", ["models:/nobody@champion", f"models:/{NAME}@nobody", f"models:/{NAME}/99"])
def test_a_model_that_is_not_registered_is_one_line(mlflow_store, tracked_model, tmp_path, uri):
    with pytest.raises(InputError, match="train it first") as error:
        resolve(uri, tmp_path, mlflow_store.tracking_uri)
    assert "\n" not in str(error.value)


def test_a_killed_run_is_closed_when_the_training_starts_again(mlflow_store):
    begun = [tracked_run(mlflow_store, "killed", {}, {"training": name}) for name in ("one", "other")]
    killed, other = (run.__enter__().run_id for run in begun)  # what a kill leaves: nobody ends them
    with tracked_run(mlflow_store, "killed", {}, {"training": "one"}) as again:
        status = {run: mlflow_store.client().get_run(run).info.status for run in (killed, other, again.run_id)}
    assert list(status.values()) == ["KILLED", "RUNNING", "RUNNING"]
    assert mlflow_store.client().get_run(again.run_id).info.status == "FINISHED"


def test_a_failed_training_is_marked_failed(mlflow_store):
    with pytest.raises(ArithmeticError), tracked_run(mlflow_store, "fails", {}) as run:
        raise ArithmeticError("the loss is nan")
    assert mlflow_store.client().get_run(run.run_id).info.status == "FAILED"


def registered(store, folder, seed, name):
    torch.manual_seed(seed)
    encoder = tiny_encoder(folder / f"encoder{seed}", seed=seed)
    model = WeakLabeler(*load_encoder(encoder), LABELS).save(folder / f"model{seed}")
    with tracked_run(store, f"seed {seed}", {}) as run:
        return run.register(name, run.log_model(model, WeakLabeler.kind))


def test_the_alias_moves_only_to_a_better_model_on_the_same_rows(mlflow_store, tmp_path):
    name = "edos-promoted"
    cache = tmp_path / "cache"
    figures = {"1": 0.5, "2": 0.4, "3": 0.5, "4": 0.6}
    asked = []

    def score(folder):
        WeakLabeler.load(folder)
        version = folder.name.split("-")[-2]
        asked.append(version)
        return figures[version]

    def promote(seed):
        version = registered(mlflow_store, tmp_path, seed, name)
        mine = figures[version]
        candidate = Candidate(name, version, "macro_f1", mine, rows_digest(ROWS))
        return promote_if_better(mlflow_store, candidate, score, cache)

    assert champion_version(mlflow_store, name) is None
    first, worse, equal, better = (promote(seed) for seed in (1, 2, 3, 4))
    assert [one.promoted for one in (first, worse, equal, better)] == [True, False, False, True]
    assert [one.champion_score for one in (first, worse, equal, better)] == [None, 0.5, 0.5, 0.5]
    assert first.in_words == "version 1, the first, is in use"
    assert equal.in_words == "version 1 is in use: macro_f1 0.5000 does not beat version 1's 0.5000"
    assert better.in_words == "version 4 is in use: macro_f1 0.6000 beats version 1's 0.5000"
    assert asked == ["1", "1", "1"]
    assert champion_version(mlflow_store, name) == better.version == "4"
    tags = mlflow_store.client().get_model_version(name, "2").tags
    assert tags["held_out"] == rows_digest(ROWS)
    assert tags["macro_f1"] == "0.400000"
    assert "does not beat version 1" in tags["promotion"]
    client = mlflow_store.client()
    runs = [client.get_run(str(client.get_model_version(name, str(number)).run_id)) for number in (1, 2, 3, 4)]
    assert [run.data.tags["champion"] for run in runs] == ["no: replaced by version 4", "no", "no", "yes"]
    assert runs[0].data.tags["promotion"] == "there was none before"
    assert "does not beat version 1" in runs[1].data.tags["promotion"]
    assert promote_if_better(mlflow_store, Candidate(name, "4", "macro_f1", 0.6, "x"), score, cache).promoted
    assert asked == ["1", "1", "1"]


# films of the champion's corpus and of the candidate's, the candidate's score beside the champion's 0.5, and whether it
# is promoted
PILOTS = {
    "a pilot that seems better": (1_000, 10, 0.9, False),
    "one that learned from no film": (1_000, 0, 0.9, False),
    "the whole, after a pilot that seems better": (10, 1_000, 0.1, True),
    "the whole, after a model of no film": (0, 1_000, 0.1, True),
    "a corpus that lost some films, better": (1_000, 900, 0.9, True),
    "a corpus that lost some films, worse": (1_000, 900, 0.1, False),
    "a corpus that grew a little, worse": (900, 1_000, 0.1, False),
    "two models of no film": (0, 0, 0.9, True),
    "a champion of an earlier version": (None, 10, 0.9, True),
    "a model whose films do not count": (1_000, None, 0.9, True),
}


@pytest.mark.parametrize("what", PILOTS)
def test_the_model_of_a_pilot_is_no_champion_of_the_whole(what, mlflow_store, tracked_model, tmp_path):
    before, films, score, promoted = PILOTS[what]
    name = f"edos-pilot-{list(PILOTS).index(what)}"
    client = mlflow_store.client()
    source = client.get_model_version(NAME, tracked_model[1]).source
    client.create_registered_model(name)
    first, second = (str(client.create_model_version(name, source, tracked_model[0]).version) for _ in range(2))
    cache = tmp_path / "cache"
    champion = Candidate(name, first, "accuracy", 0.5, "x", films=before)
    assert promote_if_better(mlflow_store, champion, lambda folder: 0.5, cache).promoted
    candidate = Candidate(name, second, "accuracy", score, "x", films=films)
    found = promote_if_better(mlflow_store, candidate, lambda folder: 0.5, cache)
    assert found.promoted is promoted
    assert champion_version(mlflow_store, name) == (second if promoted else first)
    tags = mlflow_store.client().get_model_version(name, second).tags
    assert tags.get("films") == (None if films is None else str(films))


def test_a_champion_that_cannot_be_read_gives_way(mlflow_store, tmp_path):
    name = "edos-unreadable"
    first = registered(mlflow_store, tmp_path, 1, name)
    before = Candidate(name, first, "macro_f1", 0.9, "x")
    promote_if_better(mlflow_store, before, lambda folder: 0.9, tmp_path / "cache")
    second = registered(mlflow_store, tmp_path, 2, name)

    def score(folder):
        if f"-{first}-" in folder.name:
            raise InputError("other labels")
        return 0.1

    candidate = Candidate(name, second, "macro_f1", 0.1, "x")
    promotion = promote_if_better(mlflow_store, candidate, score, tmp_path / "cache")
    assert promotion.promoted
    assert "other labels" in promotion.reason


def test_a_registry_that_fails_is_no_registry_without_a_champion(mlflow_store, monkeypatch):
    def failing(self, name, alias):
        raise MlflowException("timed out", error_code=TEMPORARILY_UNAVAILABLE)

    monkeypatch.setattr(MlflowClient, "get_model_version_by_alias", failing)
    with pytest.raises(MlflowException, match="timed out"):
        champion_version(mlflow_store, "edos-any")


def test_a_champion_of_other_labels_is_not_compared(tmp_path):
    class Other:
        labels = ("sad", "glad")

        @classmethod
        def load_to_answer(cls, folder):
            return cls()

        def to(self, device):
            return self

    with pytest.raises(InputError, match="it has other labels"):
        ClassifierTest(Other, [(("hi",), 1)], "macro_f1", ["glad", "sad"], "cpu").score(tmp_path)


def test_a_run_whose_parameters_are_refused_is_closed(mlflow_store):
    with (
        pytest.raises(MlflowException),
        tracked_run(mlflow_store, "refused", {"no/such//key\x00": "1"}, {"probe": "refused"}),
    ):
        pass
    (run,) = mlflow_store.client().search_runs([mlflow_store.experiment_id()], "tags.probe = 'refused'")
    assert run.info.status == "FAILED"


def test_another_store_with_the_same_name_and_version_is_another_folder(mlflow_store, tracked_model, tmp_path):
    other = replace(mlflow_store, tracking_uri=f"sqlite:///{tmp_path / 'other.db'}", artifact_root=tmp_path.as_uri())
    version = registered(other, tmp_path, 9, NAME)
    assert version == tracked_model[1] == "1"
    one, two = (resolve(f"models:/{NAME}/1", tmp_path, store.tracking_uri) for store in (mlflow_store, other))
    assert one.path != two.path
    assert one.identity != two.identity


def test_the_digest_of_held_out_rows_does_not_depend_on_their_order():
    assert rows_digest(ROWS) == rows_digest(ROWS[::-1]) != rows_digest(ROWS[:3])


def test_the_experiment_says_what_it_holds_and_has_columns(mlflow_store, tracked_model):
    client = mlflow_store.client()
    tags = client.get_experiment(mlflow_store.experiment_id()).tags
    assert tags["mlflow.experimentKind"] == "custom_model_development"
    assert "named by its model and what differs" in tags["mlflow.note.content"]
    view = json.loads(tags[SHARED_VIEW])
    assert {"metrics.`held_out_macro_f1`", "params.`computed_in`"} <= set(view["selectedColumns"])
    client.set_experiment_tag(mlflow_store.experiment_id(), "mlflow.note.content", "mine")
    describe_experiment(client, mlflow_store.experiment_id())
    assert client.get_experiment(mlflow_store.experiment_id()).tags["mlflow.note.content"] == "mine"


def test_an_experiment_of_before_is_described_too(tmp_path):
    store = ModelStore(f"sqlite:///{tmp_path}/mlflow.db", "old", (tmp_path / "artifacts").as_uri())
    store.client().create_experiment("old")
    with tracked_run(store, "one", {}):
        pass
    assert store.client().get_experiment_by_name("old").tags["mlflow.experimentKind"] == "custom_model_development"


def test_a_run_names_its_code_and_the_tables_that_it_read(mlflow_store):
    tags = {"data.edos.training_dialogues": "7c2f4c77-afb9-40e4-ba32-1ba80eea8173:12"}
    lake = LakehouseSettings(root="s3://user:secret@bucket/lake")
    with tracked_run(replace(mlflow_store, lakehouse=lake), "reads", {}, tags) as run:
        run.log_inputs([file_input("files of train_weak_labeler", "a" * 64, 5)])
        run.log_inputs([])
    found = mlflow_store.client().get_run(run.run_id)
    table, file = sorted(found.inputs.dataset_inputs, key=lambda one: one.dataset.name)
    assert (table.dataset.name, table.dataset.digest) == ("edos.training_dialogues", "v12-7c2f4c77")
    source = json.loads(table.dataset.source)
    assert source["delta_table_version"] == 12
    assert source["path"].endswith("/lake/edos/training_dialogues")
    assert "secret" not in table.dataset.source
    assert json.loads(file.dataset.profile) == {"num_rows": 5}
    assert found.data.tags["mlflow.source.name"].startswith("edos-lakehouse")
    if (REPOSITORY / ".git").exists():
        assert re.fullmatch("[0-9a-f]{40}", found.data.tags["mlflow.source.git.commit"])


def test_trials_have_one_parent(mlflow_store):
    client = mlflow_store.client()
    experiment = mlflow_store.experiment_id()
    first, again, other = (
        parent_run(client, experiment, "comparison", {"comparison": value, "stage": "s"}, "comparison")
        for value in ("a", "a", "b")
    )
    assert first == again != other
    assert client.get_run(first).info.status == "FINISHED"
    assert client.get_run(first).data.tags["kind"] == "comparison"


def test_titles_say_what_differs():
    assert ClassifierVariant(True, ("crowd", "similar")).title(13) == "crowd+similar, seed 13, weighted"
    assert title("edos-weak-labeler", "", "seed 13", None) == "edos-weak-labeler, seed 13"


def test_the_link_leads_to_the_columns(tmp_path, capsys):
    settings = load_settings("local", [], {"lakehouse.root": str(tmp_path)})
    with pytest.raises(InputError, match="no trainings in sqlite"):
        open_mlflow(settings, 5099, link_only=True)
    with tracked_run(model_store(settings), "one", {}):
        pass
    assert open_mlflow(settings, 5099, link_only=True) == 0
    link = capsys.readouterr().out.strip()
    assert link.endswith(":5099/#/experiments/1/runs?workflowType=machine_learning&viewStateShareKey=comparison")


@pytest.mark.slow
def test_the_server_answers_and_its_link_is_printed(tmp_path):
    with tracked_run(model_store(load_settings("local", [], {"lakehouse.root": str(tmp_path)})), "one", {}):
        pass
    port = free_port()
    command = [sys.executable, "-m", "jobs", "mlflow", "--port", str(port), "--set", f"lakehouse.root={tmp_path}"]
    serving = subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        line = next((line for line in serving.stdout if "side by side" in line), "")  # the server prints, too
        link = re.search(r"http://127\.0\.0\.1:\d+", line)
        assert link
        assert "viewStateShareKey=comparison" in line
        assert urllib.request.urlopen(link[0], timeout=60).status == 200
    finally:
        serving.send_signal(signal.SIGINT)
        serving.wait(60)
