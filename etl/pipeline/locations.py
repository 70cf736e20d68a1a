"""Where a lakehouse's models and MLflow store lie, from the settings."""

from pathlib import Path
from typing import Protocol

from conf.errors import InputError
from conf.settings import LakehouseSettings, MlflowSettings, Settings


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
    return None if root is None else f"sqlite:///{root}/mlflow.db"


def model_folder(settings: Settings) -> str:
    """Return the folder of resolved models, which the driver and every worker see under the same path.

    Raises:
        InputError: the tables are in an object store and ``models.folder`` is not set.
    """
    root = settings.lakehouse.root
    if settings.models.folder is not None:
        return settings.models.folder
    if root.startswith("dbfs:/"):
        return f"/dbfs/{root[6:]}/_models"
    if "://" in root:
        raise InputError(f"models cannot be read from {root}: set models.folder to a folder all workers share")
    return f"{root}/_models"


def _local_root(settings: Stored) -> Path | None:
    root = settings.lakehouse.root
    return None if ":" in root else Path(root).resolve()
