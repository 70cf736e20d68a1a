"""Resolution of model URIs, on the driver, to a local or shared folder that never changes."""

import csv
import hashlib
import importlib.metadata
import importlib.util
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from pathlib import Path

from conf.errors import InputError
from conf.places import local_path
from etl.pipeline.model_parts import join_parts, part_names, unpack_parts
from etl.pipeline.outside_files import file_digest
from udfs.llm_kinds import kind_of, kinds
from udfs.models.folders import filling

IN_FILES = ("hf:", "pkg:", "file:", "models:")
ANSWER_SECONDS = 10.0
"""How long the hub may take for its first answer."""
HUB_FILES = ["*.safetensors", "*.json", "*.txt", "*.model", "*.jinja"]
NO_MODEL = "none"
"""Identity of a model that the settings set to null."""
WEIGHTS = ("*.safetensors", "*.gguf")
# Weights that may be pickles are never read or copied.
PICKLES = ("*.bin", "*.pt", "*.pth", "*.pkl", "*.ckpt", "*.h5", "*.msgpack", "*.onnx")
# What is written about a model: its card, MLflow's record of the run that logged it, what serves it elsewhere.
# No answer depends on them.
RECORDS = (
    "README.md",
    "MLmodel",
    "registered_model_meta",
    "conda.yaml",
    "python_env.yaml",
    "requirements.txt",
    "input_example.json",
    "serving_input_example.json",
)
CODE = "code"
"""The folder of a registered model with the modules that read it."""
_REGISTERED = re.compile(r"(?P<model>.*models:/[^/#]+)/\d+(?P<digest>#sha256:[0-9a-f]+)")


@dataclass(frozen=True)
class ResolvedModel:
    """A model in a folder.

    Attributes:
        path: folder with safetensors or one GGUF file, readable from every worker.
        identity: scheme, name, immutable version and digest, independent of the folder. The digest of a folder or of a
            registered model is that of its weights and its configuration.
        former: the identity by which earlier versions of the program knew it, if another: its digest had all files.
    """

    path: Path
    identity: str
    former: str | None = field(default=None, kw_only=True)

    def known_as(self, known: Sequence[str]) -> "ResolvedModel":
        """Return the model under the identity that a lakehouse has for it, so that the same weights answer only once.

        That is its own, its former one, or that of another version of the registered model with the same content.

        Args:
            known: identities under which the lakehouse has used models of its name; the first that fits is taken.
        """
        if self.identity in known:
            return self
        own = _content(self.identity)
        fitting = (one for one in known if one == self.former or (own is not None and _content(one) == own))
        return replace(self, identity=next(fitting, self.identity))


def _content(identity: str) -> tuple[str, str] | None:
    """Return name and digest of a registered model's identity; None for other models."""
    found = _REGISTERED.fullmatch(identity)
    return None if found is None else (found["model"], found["digest"])


def resolve(
    uri: str | None,
    cache_dir: Path,
    tracking_uri: str | None = None,
    share: bool = False,
    registry_uri: str | None = None,
) -> ResolvedModel:
    """Return the model that `uri` names.

    Args:
        uri: `hf:NAME[@REVISION]`, `pkg:PACKAGE`, `pkg:PART_001..005` (a zip in numbered packages), `file:DIR`,
            `models:/NAME@ALIAS`, `models:/NAME/VERSION`, `openai:NAME` for a model of a server, or `recorded:FILE` for
            recorded answers. `gguf:` before one of the others names the same model, to be
            run by llama.cpp, by a server that workers start, or by vLLM within them.
        cache_dir: folder for downloads, in subfolders named by content; on a cluster a shared path.
        tracking_uri: MLflow's tracking store, for `models:/`.
        registry_uri: MLflow's registry, where it is not the tracking store.
        share: copy `pkg:` and `file:` folders to `cache_dir` too, for executors on other machines.

    Raises:
        InputError: the model does not exist, has no safetensors or GGUF, or its weights differ from the pinned ones.
    """
    if uri is None:
        raise InputError("this needs a model that is null in the settings: name one under models")
    scheme, separator, name = uri.partition(":")
    if not separator or not name:
        raise InputError(f"model {uri!r}: not a model URI: use {schemes()}")
    kind = kind_of(uri)
    if kind.locate is not None:
        return ResolvedModel(*kind.locate(name))
    if not kind.in_files:
        return ResolvedModel(Path(), uri)
    if kind.prefix:
        if kind_of(name).prefix:
            raise InputError(f"model {uri!r}: {scheme}: is followed by hf:, pkg:, file: or models:/")
        model = resolve(name, cache_dir, tracking_uri, share, registry_uri)
        if kind.check_files is not None:
            kind.check_files(model.path)
        former = None if model.former is None else f"{scheme}:{model.former}"
        return ResolvedModel(model.path, f"{scheme}:{model.identity}", former=former)
    if scheme == "pkg":
        parts = part_names(name)
        model = _from_package(uri, name) if parts is None else _from_parts(uri, parts, cache_dir)
    elif scheme == "file":
        folder = model_folder(uri)
        _require_weights(uri, folder)
        model = _by_content(folder, f"file:{folder.name}")
    elif scheme == "models":
        return _from_registry(uri, name, cache_dir, tracking_uri, registry_uri)
    elif scheme == "hf":
        return _from_hub(uri, name, cache_dir)
    else:
        raise InputError(f"model {uri!r}: unknown scheme {scheme!r}: use {schemes()}")
    return _shared(model, cache_dir) if share else model


def schemes() -> str:
    """Return the forms of URIs, for messages."""
    others = sorted(kinds(), key=lambda kind: kind.prefix)
    served = "".join(f", {kind.prefix}{'FILE' if kind.locate else 'NAME'}" for kind in others if not kind.in_files)
    before = " or ".join(kind.prefix for kind in others if kind.in_files and kind.prefix)
    return f"hf:NAME[@REVISION], pkg:PACKAGE, file:DIR, models:/NAME@ALIAS{served}, or {before} before one of them"


def is_uri(text: str) -> bool:
    """Return whether a text is the URI of a model in files, neither of a server nor another setting."""
    prefix = kind_of(text).prefix
    return text.startswith(IN_FILES) or (bool(prefix) and kind_of(text).in_files)


def is_installed(uri: str) -> bool:
    """Return whether a URI names a folder or a package of this machine."""
    return uri.removeprefix(kind_of(uri).prefix).startswith(("file:", "pkg:"))


def folder_digest(folder: Path) -> str:
    """Return the sha256 of names and contents of the folder's files, without pickles."""
    return _digest_of(_file_digests(folder))


def _by_content(folder: Path, name: str) -> ResolvedModel:
    """Return the model in a folder, named by the digest of its files without records and code; each is read once."""
    digests = _file_digests(folder)
    kept = {path: digest for path, digest in digests.items() if not _is_record(Path(path))}
    content = f"{name}#sha256:{_digest_of(kept)[:16]}"
    everything = f"{name}#sha256:{_digest_of(digests)[:16]}"
    return ResolvedModel(folder, content, former=None if everything == content else everything)


def _is_record(path: Path) -> bool:
    return path.name in RECORDS or path.parts[0] == CODE


def _file_digests(folder: Path) -> dict[str, str]:
    return {path.relative_to(folder).as_posix(): file_digest(path) for path in _model_files(folder)}


def _digest_of(digests: Mapping[str, str]) -> str:
    total = hashlib.sha256()
    for path, digest in digests.items():
        total.update(f"{path}\0{digest}\n".encode())
    return total.hexdigest()


def _model_files(folder: Path) -> list[Path]:
    """Return the files under `folder`, sorted by name, without pickles, hidden files and byte code."""
    hidden = re.compile(r"(^|/)(\.|__pycache__)")
    found = [path for path in folder.rglob("*") if path.is_file()]
    kept = [path for path in found if not hidden.search(path.relative_to(folder).as_posix())]
    return sorted(path for path in kept if not any(map(path.match, PICKLES)))


def model_folder(uri: str) -> Path:
    """Return the folder of a ``file:`` URI."""
    return Path(local_path(uri) or uri).resolve()


def _require_weights(uri: str, folder: Path) -> None:
    if folder.is_file():
        raise InputError(f"model {uri}: {folder} is a file: name the folder that it is in")
    if not folder.is_dir():
        raise InputError(f"model {uri}: no folder {folder}: check the path")
    if not _weights(folder):
        raise InputError(f"model {uri}: only safetensors and GGUF are read, and {folder} has neither")


def _weights(folder: Path) -> list[Path]:
    """Return the weights under `folder`, sorted by name."""
    return sorted(path for pattern in WEIGHTS for path in folder.rglob(pattern))


def _from_package(uri: str, name: str) -> ResolvedModel:
    module = name.replace("-", "_")
    if not module.isidentifier():
        raise InputError(f"model {uri}: {name!r} is not a package's name")
    # A top-level find_spec looks the package up without running any of its code.
    spec = importlib.util.find_spec(module)
    if spec is None or not spec.submodule_search_locations:
        raise _not_installed(uri, name)
    root = Path(next(iter(spec.submodule_search_locations)))
    _require_weights(uri, root)
    weights = _weights(root)
    # A GGUF file includes its configuration and its tokenizer.
    complete = [path for path in weights if path.suffix == ".gguf" or (path.parent / "config.json").is_file()]
    folders = sorted({path.parent for path in complete})
    if not folders:
        raise InputError(f"model {uri}: no config.json beside the weights in {root}")
    version = _package_version(module)
    found = {path.relative_to(root).as_posix(): file_digest(path) for path in weights}
    _check_pinned(uri, module, version, found)
    digest = next(iter(found.values())) if len(found) == 1 else folder_digest(folders[0])
    return ResolvedModel(folders[0], f"pkg:{module}=={version}#sha256:{digest[:16]}")


def _from_parts(uri: str, names: list[str], cache_dir: Path) -> ResolvedModel:
    """Return the model whose zip or GGUF file is split over several packages.

    Each part is pinned in conf/model_digests.csv; so is a GGUF file, under the parts' common name and ``*``, by its
    publisher's digest.
    """
    files = []
    versions = set()
    for name in names:
        package = name.replace("-", "_")
        try:
            distribution = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            raise _not_installed(uri, name, "--no-deps ") from None
        version = distribution.version
        pinned = [pin["file"] for pin in _pinned() if (pin["package"], pin["version"]) == (package, version)]
        if len(pinned) != 1:
            raise InputError(f"model {uri}: conf/model_digests.csv pins no part of {name} {version}")
        part = Path(str(distribution.locate_file(pinned[0])))
        _check_pinned(uri, package, version, {pinned[0]: file_digest(part) if part.is_file() else "no such file"})
        files.append(part)
        versions.add(version)
    stem = re.sub(r"(?:(?<!_)_+)?(?<!\d)\d+$", "", names[0].replace("-", "_"))
    whole = next((pin for pin in _pinned() if pin["package"] == f"{stem}*" and pin["version"] in versions), None)
    if whole is not None:
        path = join_parts(uri, files, cache_dir / "packages" / f"{stem}-{whole['sha256'][:16]}", whole)
        digest = whole["sha256"]
    else:
        path, digest = unpack_parts(uri, files, lambda digest: cache_dir / "packages" / f"{stem}-{digest[:16]}")
    return ResolvedModel(path, f"pkg:{stem}=={','.join(sorted(versions))}#sha256:{digest[:16]}")


def _not_installed(uri: str, name: str, options: str = "") -> InputError:
    return InputError(f"model {uri}: package {name} is not installed: pip install {options}{name.replace('_', '-')}")


def _package_version(module: str) -> str:
    try:
        return importlib.metadata.version(module)
    except importlib.metadata.PackageNotFoundError:
        # The distribution's name may differ from the module's. This reads every distribution's files.
        distributions = importlib.metadata.packages_distributions().get(module, [])
        return importlib.metadata.version(distributions[0]) if distributions else "unknown"


@cache
def _pinned() -> tuple[dict[str, str], ...]:
    with files("conf").joinpath("model_digests.csv").open(encoding="utf-8") as lines:
        return tuple(csv.DictReader(lines))


def _check_pinned(uri: str, module: str, version: str, found: dict[str, str]) -> None:
    """Raise an InputError where a package in conf/model_digests.csv has another version or other weights."""
    pins = [pin for pin in _pinned() if pin["package"] == module]
    if not pins:
        return
    for_version = [pin for pin in pins if pin["version"] == version]
    if not for_version:
        known = ", ".join(sorted({pin["version"] for pin in pins}))
        raise InputError(f"model {uri}: version {version} is installed, conf/model_digests.csv pins {known}")
    for pin in for_version:
        actual = found.get(pin["file"], "no such file")
        if actual != pin["sha256"]:
            raise InputError(
                f"model {uri}: {pin['file']} is {actual}, conf/model_digests.csv pins {pin['sha256']}: "
                "reinstall the package"
            )


def _from_registry(
    uri: str, name: str, cache_dir: Path, tracking_uri: str | None, registry_uri: str | None
) -> ResolvedModel:
    match = re.fullmatch(r"/([^/@]+)(?:@([^/@]+)|/(\d+))", name)
    if match is None:
        raise InputError(f"model {uri!r}: use models:/NAME@ALIAS or models:/NAME/VERSION")
    try:
        from mlflow.artifacts import download_artifacts
        from mlflow.exceptions import MlflowException
    except ModuleNotFoundError as error:
        raise InputError(f"model {uri}: {error.name} is not installed: pip install mlflow") from None
    from etl.pipeline.mlflow_client import client_of, mlflow_uris, require_server

    require_server(tracking_uri, registry_uri)
    model, alias, number = match.groups()
    client = client_of(tracking_uri, registry_uri)
    try:
        version = client.get_model_version_by_alias(model, alias) if alias else client.get_model_version(model, number)
        # Two stores may have the same name and version, so the cache's key includes the origin.
        source = f"{tracking_uri}\n{version.source}\n{version.run_id}\n{version.creation_timestamp}"
        key = hashlib.sha256(source.encode()).hexdigest()[:12]
        folder = cache_dir / "registry" / f"{model}-{version.version}-{key}"
        if not folder.is_dir():
            with filling(folder) as scratch, mlflow_uris(tracking_uri, registry_uri):
                got = download_artifacts(artifact_uri=f"models:/{model}/{version.version}", dst_path=str(scratch))
                _require_weights(uri, Path(got))
    except MlflowException as error:
        reason = str(error).splitlines()[0][:200]
        if "database is locked" in reason:
            raise
        raise InputError(f"model {uri}: not in the MLflow registry ({reason}): train it first") from None
    return _by_content(folder, f"models:/{model}/{version.version}")


def _from_hub(uri: str, name: str, cache_dir: Path) -> ResolvedModel:
    repository, _, wanted = name.partition("@")
    if not re.fullmatch(r"[\w.-]+(/[\w.-]+)?", repository):
        raise InputError(f"model {uri!r}: use hf:NAME or hf:NAME@REVISION")
    from huggingface_hub import HfApi, snapshot_download

    try:
        hub = cache_dir / "hub" / repository.replace("/", "--")
        if not re.fullmatch(r"[0-9a-f]{40}", wanted) or not (hub / wanted).is_dir():
            # Asked first because a download waits for ever for the first answer of a hub that says nothing.
            wanted = str(HfApi().model_info(repository, revision=wanted or None, timeout=ANSWER_SECONDS).sha)
        folder = hub / wanted
        if not folder.is_dir():
            with filling(folder) as scratch:
                snapshot_download(repository, revision=wanted, allow_patterns=HUB_FILES, local_dir=str(scratch))
                shutil.rmtree(scratch / ".cache", ignore_errors=True)
                _require_weights(uri, scratch)
    except InputError:
        raise
    except Exception as error:  # the client raises exceptions of httpx, of requests, OSError and others
        reason = (str(error).splitlines() or [type(error).__name__])[0][:200]
        raise InputError(f"model {uri}: cannot be downloaded ({reason}): use pkg: or file: offline") from None
    return ResolvedModel(folder, f"hf:{repository}@{wanted}")


def _shared(model: ResolvedModel, cache_dir: Path) -> ResolvedModel:
    """Copy a model to `cache_dir`, to a folder named by its content."""
    folder = cache_dir / "copies" / f"{model.path.name}-{folder_digest(model.path)[:16]}"
    if not folder.is_dir():
        with filling(folder) as scratch:
            for path in _model_files(model.path):
                target = scratch / path.relative_to(model.path)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, target)
    return replace(model, path=folder)
