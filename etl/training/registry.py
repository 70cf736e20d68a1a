"""The MLflow store of a lakehouse, and the figures of the models registered in it."""

import re
from typing import TYPE_CHECKING

from etl.pipeline.locations import Stored, _local_root, tracking_uri

if TYPE_CHECKING:
    from etl.training.tracking import Store


def model_store(settings: Stored) -> "Store":
    """The store that trainings log to; its artifacts lie beside local tables."""
    from etl.training.tracking import Store

    root = _local_root(settings)
    own = settings.mlflow.tracking_uri is None and root is not None
    if own and root is not None:
        root.mkdir(parents=True, exist_ok=True)
    artifacts = str(root / "_mlflow") if own and root is not None else None
    return Store(tracking_uri(settings), settings.mlflow.experiment, artifacts, settings.mlflow.registry_uri)


def held_out_figures(settings: Stored, identity: str) -> dict[str, float]:
    """A registered model's figures on held-out rows, as ``macro_f1``; none where it is not in the registry.

    Args:
        identity: of a resolved model: ``models:/NAME/VERSION#...``.
    """
    named = re.match(r"models:/([^/]+)/(\d+)(?:#|$)", identity)
    if named is None:
        return {}
    from mlflow.exceptions import MlflowException

    from udfs.models.mlflow_client import client_of

    client = client_of(tracking_uri(settings), settings.mlflow.registry_uri)
    try:
        metrics = client.get_run(client.get_model_version(named[1], named[2]).run_id or "").data.metrics
    except MlflowException:
        return {}
    prefix = "held_out_"
    return {name.removeprefix(prefix): value for name, value in metrics.items() if name.startswith(prefix)}
