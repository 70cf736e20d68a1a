"""Models, checkpoints and trainings in an object store: an S3 server on this machine."""

import json
import stat
import subprocess
import sys
from collections.abc import Iterator
from multiprocessing import get_context
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import boto3
import pytest
import torch
from moto.server import ThreadedMotoServer

from conf.errors import InputError
from conf.settings import load_settings
from conf.training_options import TrainingOptions
from etl.pipeline.locations import model_folder, model_places
from etl.pipeline.model_loader import ResolvedModel
from etl.pipeline.stage_run import StageRun
from etl.training.loop.checkpoints import Checkpoints
from etl.training.loop.process_job import GIVEN, TrainingJob, collect, finished, read_result, train_at
from etl.training.registry import model_store
from tests.udfs.sharded_tuning import as_only_process
from tests.udfs.tiny_models import tiny_language_model
from udfs.models import stores
from udfs.models.language.causal_language_model import CausalLanguageModel
from udfs.models.language.language_model import perplexity
from udfs.models.stores import delete, fetched, folder_name, folders_in, get, is_store, load_once, put
from udfs.models.trainable import EncodedRows
from udfs.opus.files import filesystem

BUCKET = "s3a://models/lake/_models"


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    one = ThreadedMotoServer(port=0, verbose=False)
    one.start()
    host, port = one.get_host_and_port()
    yield f"http://{host}:{port}"
    one.stop()


@pytest.fixture
def bucket(server: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[str]:
    given = {
        "AWS_ENDPOINT_URL": server,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
        stores.CACHE: str(tmp_path / "cache"),
    }
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    filesystem.cache_clear()
    client = boto3.client("s3", endpoint_url=server)
    client.create_bucket(Bucket="models")
    yield BUCKET
    for entry in client.list_objects_v2(Bucket="models").get("Contents", []):
        client.delete_object(Bucket="models", Key=entry["Key"])
    filesystem.cache_clear()


def model(folder: Path) -> Path:
    (folder / "deep").mkdir(parents=True)
    (folder / "weights.safetensors").write_bytes(bytes(range(256)) * 40)
    (folder / "deep" / "config.json").write_text("{}")
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("s3://bucket/lake", True),
        ("s3a://bucket/lake", True),
        ("gs://bucket", True),
        ("abfss://c@a.net/x", True),
        ("hdfs://name/x", True),
        ("dbfs:/lake", False),
        ("file:///lake", False),
        ("/Volumes/main/edos", False),
        ("lakehouse", False),
    ],
)
def test_places_without_a_mount(place: str, expected: bool) -> None:
    assert is_store(place) is expected


@pytest.mark.parametrize(
    ("root", "folder", "expected"),
    [
        ("lake", None, ("HERE/lake/_models", None)),
        ("/mnt/lake/", None, ("/mnt/lake/_models", None)),
        ("dbfs:/lake", None, ("/dbfs/lake/_models", None)),
        ("s3a://bucket/lake", None, ("cache", "s3a://bucket/lake/_models")),
        ("s3://bucket/lake/", None, ("cache", "s3://bucket/lake/_models")),
        ("s3a://bucket/lake", "/mnt/models", ("/mnt/models", None)),
        ("s3a://bucket/lake", "s3a://other/models/", ("cache", "s3a://other/models")),
        ("lake", "s3a://other/models", ("cache", "s3a://other/models")),
    ],
)
def test_models_lie_beside_the_tables_or_where_the_settings_say(
    root: str, folder: str | None, expected: tuple[str, str | None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(stores.CACHE, "cache")
    settings = load_settings("emr", [], {"lakehouse.root": root, "models.folder": folder})
    assert model_places(settings) == (expected[0].replace("HERE", str(tmp_path)), expected[1])
    assert model_folder(settings) == expected[0].replace("HERE", str(tmp_path))


def test_trainings_on_an_object_store_need_an_mlflow_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    settings = load_settings("emr", [], {"lakehouse.root": "s3a://bucket/lake"})
    with pytest.raises(InputError, match=r"mlflow.tracking_uri is null .* s3a://bucket/lake: name an MLflow server"):
        model_store(settings)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://mlflow:5000")
    assert model_store(settings).tracking_uri is None


def test_the_default_cache_is_for_this_user_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(stores.CACHE, raising=False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    folder = stores.local_cache()
    assert folder.parent == tmp_path
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    folder.rmdir()
    (tmp_path / "elsewhere").mkdir()
    folder.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError, match="belongs to somebody else"):
        stores.local_cache()


def test_a_folder_name_for_each_identity() -> None:
    one = folder_name("models:/edos-weak-labeler/3#sha256:0123456789abcdef")
    assert one.startswith("models-edos-weak-labeler-3-")
    assert "/" not in one
    assert one != folder_name("models:/edos-weak-labeler/3#sha256:fedcba9876543210")
    assert folder_name("hf:org/name@" + "a" * 40) == folder_name("hf:org/name@" + "a" * 40)


def test_a_model_is_read_from_the_store_once(bucket: str, tmp_path: Path) -> None:
    made = model(tmp_path / "made")
    place = put(made, f"{bucket}/copies/{folder_name('file:made#sha256:1')}")
    first = fetched(place)
    assert contents(first) == contents(made)
    delete(place)
    assert fetched(place) == first, "a second call reads the machine's copy"
    loaded: list[str] = []
    load_once.cache_clear()
    for _ in range(2):
        load_once(place, loaded.append)
    assert loaded == [str(first)]
    assert fetched(str(made)) == made, "a local path is its own copy"


def test_a_model_in_a_volume_is_copied_to_the_machine_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(stores.CACHE, str(tmp_path / "cache"))
    monkeypatch.setattr(stores, "MOUNTED", (f"{tmp_path}/Volumes/",))
    made = model(tmp_path / "Volumes" / "main" / "made")
    first = fetched(str(made))
    assert first.parent == tmp_path / "cache" / "copies"
    assert contents(first) == contents(made)
    assert fetched(str(made)) == first
    (made / "more.json").write_text("{}")
    second = fetched(str(made))
    assert second != first
    assert contents(second) == contents(made)
    assert fetched(str(first)) == first


@pytest.mark.parametrize(
    ("master", "stored", "identity", "put_there"),
    [
        ("spark://master:7077", True, "file:made#sha256:1", True),
        ("yarn", True, "file:made#sha256:1", True),
        ("local[2]", True, "file:made#sha256:1", False),
        ("spark://master:7077", False, "file:made#sha256:1", False),
        ("spark://master:7077", True, "openai:served", False),
    ],
)
def test_workers_are_told_where_a_model_is(
    bucket: str, tmp_path: Path, master: str, stored: bool, identity: str, put_there: bool
) -> None:
    spark: Any = SimpleNamespace(sparkContext=SimpleNamespace(master=master))
    run = StageRun({}, spark, "unused", None, None, "", store=bucket if stored else None)  # type: ignore[arg-type]
    made = model(tmp_path / "made")
    path = run.worker_path(ResolvedModel(made, identity))
    assert path == (f"{bucket}/copies/{folder_name(identity)}" if put_there else str(made))
    assert contents(fetched(path)) == contents(made)
    assert folders_in(f"{bucket}/copies") == ([folder_name(identity)] if put_there else [])


def test_a_second_put_writes_nothing(bucket: str, tmp_path: Path) -> None:
    place = put(model(tmp_path / "made"), f"{bucket}/copies/one")
    other = tmp_path / "other"
    other.mkdir()
    (other / "more.json").write_text("{}")
    put(other, place)
    assert "more.json" not in contents(get(place, tmp_path / "read"))


@pytest.mark.slow
def test_processes_of_a_machine_copy_a_model_once(bucket: str, tmp_path: Path) -> None:
    place = put(model(tmp_path / "made"), f"{bucket}/copies/shared")
    with get_context("spawn").Pool(3) as pool:
        found = pool.map(_inode, [place] * 3)
    assert len(set(found)) == 1
    copies = tmp_path / "cache" / "copies"
    assert sorted(path.name for path in copies.iterdir()) == ["shared", "shared.lock"]


def _inode(place: str) -> int:
    return (fetched(place) / "weights.safetensors").stat().st_ino


def test_what_is_not_complete_is_refused(bucket: str, server: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be reached or is not complete"):
        fetched(f"{bucket}/copies/nothing")
    place = put(model(tmp_path / "made"), f"{bucket}/copies/cut")
    client = boto3.client("s3", endpoint_url=server)
    client.put_object(Bucket="models", Key="lake/_models/copies/cut/weights.safetensors", Body=b"cut")
    with pytest.raises(InputError, match="has another size"):
        fetched(place)
    client.put_object(
        Bucket="models", Key="lake/_models/copies/cut/complete.json", Body=json.dumps({"../out": 1}).encode()
    )
    with pytest.raises(InputError, match="names a file outside itself"):
        fetched(place)
    assert not (tmp_path / "cache" / "copies" / "cut").exists()


def test_checkpoints_in_a_store(bucket: str) -> None:
    kept = Checkpoints(f"{bucket}/checkpoints/one", "training")
    assert kept.newest() is None
    for epoch in (1, 2):
        kept.save(epoch, {"weights": {"w": torch.full((3,), float(epoch))}}, {"best": epoch})
    assert folders_in(f"{bucket}/checkpoints/one") == ["epoch-00002"]
    found = kept.newest()
    assert found is not None
    assert found[0]["best"] == 2
    assert found[1]["weights"]["w"].tolist() == [2.0, 2.0, 2.0]
    assert Checkpoints(f"{bucket}/checkpoints/one", "another").newest() is None
    kept.clear()
    assert kept.newest() is None
    assert folders_in(f"{bucket}/checkpoints/one") == []


def test_a_checkpoint_cut_short_is_passed_over(bucket: str) -> None:
    place = f"{bucket}/checkpoints/one"
    kept = Checkpoints(place, "training")
    kept.save(1, {"weights": {"w": torch.ones(2)}}, {})
    store, path = filesystem(place)
    with store.open_output_stream(f"{path}/epoch-00002/weights.safetensors") as cut:
        cut.write(b"cut")
    found = kept.newest()
    assert found is not None
    assert found[0]["epoch"] == 1


@pytest.mark.parametrize("processes", [1, pytest.param(2, marks=pytest.mark.long)])
def test_processes_train_from_a_job_in_the_store(
    bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, processes: int
) -> None:
    """No folder is shared: rows, initial model, checkpoints and result all go through the store."""
    start = tiny_language_model(tmp_path / "start")
    options = TrainingOptions(
        epochs=2, batch_size=1, effective_batch=2, learning_rate=1e-2, threads=1, device="cpu", precision="fp32"
    )
    model = CausalLanguageModel.load(start)
    rows = model.encode([[("you are so", False), (" happy and glad", True)]] * 3)
    job = tmp_path / "job"
    job.mkdir()
    initial = put(start, f"{bucket}/copies/start")
    checkpoints = f"{bucket}/checkpoints/one"
    TrainingJob(model.kind, initial, options, checkpoints).write(EncodedRows(rows, rows[:1]), job)
    put(job, f"{bucket}/trainings/one/{GIVEN}")
    if processes == 1:  # this one is a group by itself
        as_only_process(monkeypatch)
        train_at(f"{bucket}/trainings/one")
    else:
        launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", f"{processes}"]
        done = subprocess.run(
            [*launcher, "-m", "tests.udfs.sharded_tuning", f"{bucket}/trainings/one"],
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-5000:]
    collected = tmp_path / "collected"
    collected.mkdir()
    collect(f"{bucket}/trainings/one", collected)
    assert finished(collected)
    result = read_result(collected, options)
    assert [epoch.epoch for epoch in result.history] == [1, 2]
    assert perplexity(CausalLanguageModel.load(result.path), rows, 1) < perplexity(model, rows, 1)
    assert folders_in(checkpoints) == [], "deleted at the end, as in a folder"
