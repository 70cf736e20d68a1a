"""Resolve the locations of a lakehouse's models and MLflow store from the settings."""

from functools import lru_cache
from pathlib import Path
from typing import Protocol

from conf.places import local_path, sqlite_uri
from conf.settings import LakehouseSettings, MlflowSettings, Settings
from etl.pipeline.model_loader import ResolvedModel, resolve
from etl.pipeline.model_weights import check_weights
from udfs.models.stores import is_store, local_cache


class Stored(Protocol):
    """Settings with the locations of tables and MLflow: ``Settings``, or a ``StageRun``'s ``tracking``."""

    @property
    def lakehouse(self) -> LakehouseSettings: ...

    @property
    def mlflow(self) -> MlflowSettings: ...


def tracking_uri(settings: Stored) -> str | None:
    """Return ``mlflow.tracking_uri``, or a sqlite store beside local tables; None for MLflow's environment."""
    if settings.mlflow.tracking_uri is not None:
        return settings.mlflow.tracking_uri
    root = _local_root(settings)
    return None if root is None else sqlite_uri(root / "mlflow.db")


def model_at(uri: str | None, settings: Settings, share: bool = False) -> ResolvedModel:
    """Return the model at a URI, in the folder of the settings' models; see `resolved_in`."""
    return resolved_in(model_folder(settings), uri, settings, share)


def resolved_in(folder: str, uri: str | None, places: Stored, share: bool = False) -> ResolvedModel:
    """Return the model at a URI, see :func:`etl.pipeline.model_loader.resolve`. Stages and commands resolve here alone.

    Args:
        places: ``models:`` is a name in their MLflow.
        share: whether models are copied to the folder, for other machines.

    Raises:
        InputError: the model does not exist, or its files are damaged or lack weights.
    """
    model = resolve(uri, Path(folder), tracking_uri(places), share, places.mlflow.registry_uri)
    if model.path != Path():
        _check_once(model.path, model.identity)
    return model


@lru_cache(maxsize=256)
def _check_once(path: Path, identity: str) -> None:
    check_weights(path)


def model_folder(settings: Settings) -> str:
    """Return the folder of resolved models: one that all machines see, or the driver's own beside an object store."""
    return model_places(settings)[0]


def model_places(settings: Settings) -> tuple[str, str | None]:
    """Return `model_folder`, and the place of models and checkpoints in an object store where they are in one."""
    root = settings.lakehouse.root.rstrip("/")
    beside = f"/dbfs/{root[6:]}/_models" if root.startswith("dbfs:/") else f"{root}/_models"
    place = (settings.models.folder or beside).rstrip("/")
    return (str(local_cache()), place) if is_store(place) else (local_path(place) or place, None)


def _local_root(settings: Stored) -> Path | None:
    root = local_path(settings.lakehouse.root)
    return None if root is None else Path(root)
