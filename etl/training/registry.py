"""The MLflow store of a lakehouse, and the metrics of its registered models."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from conf.errors import InputError
from conf.places import file_uri
from conf.redaction import without_user_info
from etl.pipeline.locations import Stored, _local_root, tracking_uri
from udfs.failures import untrusted
from udfs.models.stores import is_store

if TYPE_CHECKING:
    from etl.training.tracking import ModelStore


def model_store(settings: Stored) -> "ModelStore":
    """Return the store that trainings log to; by default its artifacts are beside local tables.

    Raises:
        InputError: the tables are in an object store, and no MLflow server is named.
    """
    from etl.training.tracking import ModelStore

    root = _local_root(settings)
    artifacts = None
    nowhere = settings.mlflow.tracking_uri is None and not os.environ.get("MLFLOW_TRACKING_URI")
    if nowhere and is_store(settings.lakehouse.root):
        raise InputError(
            f"mlflow.tracking_uri is null and the tables are in {settings.lakehouse.root}: name an MLflow server"
        )
    if settings.mlflow.tracking_uri is None and root is not None:
        root.mkdir(parents=True, exist_ok=True)
        artifacts = file_uri(root / "_mlflow")
    mlflow = settings.mlflow
    return ModelStore(tracking_uri(settings), mlflow.experiment, artifacts, mlflow.registry_uri, settings.lakehouse)


def check_store(settings: Stored) -> None:
    """Look whether trainings can log, before hours of other stages have passed. Stores in local files are not opened.

    Raises:
        InputError: no MLflow server is named, or the one that is does not answer.
    """
    uri = model_store(settings).tracking_uri or os.environ.get("MLFLOW_TRACKING_URI") or ""
    if not uri.startswith(("http://", "https://")):
        return
    from etl.pipeline.mlflow_client import client_of

    try:
        with _one_attempt():
            client_of(uri, settings.mlflow.registry_uri).search_experiments(max_results=1)
    except Exception as error:  # MLflow's, or one of the library that it asks by
        reason = untrusted(str(error), most=200)
        shown = without_user_info(uri)
        raise InputError(
            f"mlflow.tracking_uri {shown} does not answer ({reason}): start the server, or name another"
        ) from None


@contextmanager
def _one_attempt() -> Iterator[None]:
    """Let MLflow ask a server once inside the block, for ten seconds; it would go on for minutes."""
    once = {"MLFLOW_HTTP_REQUEST_MAX_RETRIES": "0", "MLFLOW_HTTP_REQUEST_TIMEOUT": "10"}
    before = {name: os.environ.get(name) for name in once}
    os.environ.update(once)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def held_out_figures(settings: Stored, identity: str) -> dict[str, float]:
    """Return a registered model's metrics on held-out rows, such as ``macro_f1``; empty if it is not registered.

    Args:
        identity: ``models:/NAME/VERSION#...`` of a resolved model.
    """
    named = re.match(r"models:/([^/]+)/(\d+)(?:#|$)", identity)
    if named is None:
        return {}
    from mlflow.exceptions import MlflowException

    from etl.pipeline.mlflow_client import client_of

    client = client_of(tracking_uri(settings), settings.mlflow.registry_uri)
    try:
        metrics = client.get_run(client.get_model_version(named[1], named[2]).run_id or "").data.metrics
    except MlflowException:
        return {}
    prefix = "held_out_"
    return {name.removeprefix(prefix): value for name, value in metrics.items() if name.startswith(prefix)}
