"""Where MLflow keeps runs and models, from the settings."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from conf.errors import InputError
from conf.settings import LakehouseSettings, MlflowSettings, Settings

if TYPE_CHECKING:
    from udfs.models.tracking import Store


class Stored(Protocol):
    """Settings that say where tables and MLflow are: all of them, or a ``StageRun``'s ``tracking``."""

    @property
    def lakehouse(self) -> LakehouseSettings: ...

    @property
    def mlflow(self) -> MlflowSettings: ...


def tracking_uri(settings: Stored) -> str | None:
    """``mlflow.tracking_uri``, or a sqlite store beside local tables; None leaves it to MLflow's environment."""
    if settings.mlflow.tracking_uri is not None:
        return settings.mlflow.tracking_uri
    root = _local_root(settings)
    return None if root is None else f"sqlite:///{root}/mlflow.db"


def model_store(settings: Stored) -> "Store":
    """The store that trainings log to; its artifacts lie beside local tables."""
    from udfs.models.tracking import Store

    root = _local_root(settings)
    own = settings.mlflow.tracking_uri is None and root is not None
    if own and root is not None:
        root.mkdir(parents=True, exist_ok=True)
    artifacts = str(root / "_mlflow") if own and root is not None else None
    return Store(tracking_uri(settings), settings.mlflow.experiment, artifacts, settings.mlflow.registry_uri)


def model_folder(settings: Settings) -> str:
    """Where resolved models lie: a folder that the driver and every worker see under the same path.

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


def held_out_figures(settings: Stored, identity: str) -> dict[str, float]:
    """A registered model's figures on held-out rows, as ``macro_f1``; none where it is not in the registry.

    Args:
        identity: of a resolved model: ``models:/NAME/VERSION#...``.
    """
    named = re.match(r"models:/([^/]+)/(\d+)(?:#|$)", identity)
    if named is None:
        return {}
    from mlflow.exceptions import MlflowException

    from udfs.models.tracking import client_of

    client = client_of(tracking_uri(settings), settings.mlflow.registry_uri)
    try:
        metrics = client.get_run(client.get_model_version(named[1], named[2]).run_id or "").data.metrics
    except MlflowException:
        return {}
    prefix = "held_out_"
    return {name.removeprefix(prefix): value for name, value in metrics.items() if name.startswith(prefix)}


def _local_root(settings: Stored) -> Path | None:
    root = settings.lakehouse.root
    return None if ":" in root else Path(root).resolve()
