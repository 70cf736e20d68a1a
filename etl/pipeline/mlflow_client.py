"""MLflow clients for a tracking store and a registry."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import mlflow
import requests
from mlflow import MlflowClient
from mlflow.environment_variables import MLFLOW_REGISTRY_URI

from conf.errors import InputError
from conf.redaction import without_user_info
from udfs.failures import untrusted

ANSWER_SECONDS = 10.0
"""How long a server may take for its first answer. MLflow's client asks eight times, and waits two minutes each."""


def client_of(tracking_uri: str | None, registry_uri: str | None = None) -> MlflowClient:
    """Return a client; without `registry_uri` the registry is the tracking store, or on Databricks its default."""
    return MlflowClient(tracking_uri, registry_uri or _registry_of(tracking_uri))


def _registry_of(tracking_uri: str | None) -> str | None:
    return None if tracking_uri is None or tracking_uri.startswith("databricks") else tracking_uri


def require_server(tracking_uri: str | None, registry_uri: str | None = None) -> None:
    """Raise an InputError where one of the stores is a server that does not answer; others are not opened."""
    tracking = tracking_uri or os.environ.get("MLFLOW_TRACKING_URI")
    for key, uri in (("mlflow.tracking_uri", tracking), ("mlflow.registry_uri", registry_uri)):
        if not uri or not uri.startswith(("http://", "https://")):
            continue
        try:
            requests.get(f"{uri.rstrip('/')}/health", timeout=ANSWER_SECONDS)
        except requests.RequestException as error:
            reason = untrusted(str(error), most=200)
            raise InputError(
                f"{key} {without_user_info(uri)} does not answer ({reason}): start the server, or name another"
            ) from None


@contextmanager
def mlflow_uris(tracking_uri: str | None, registry_uri: str | None = None) -> Iterator[None]:
    """Set MLflow's process-wide addresses, and restore them afterwards, for calls that ignore a client's."""
    tracking = mlflow.get_tracking_uri() if mlflow.is_tracking_uri_set() else None
    # MLflow writes its settings to the environment, which child processes inherit.
    registry = MLFLOW_REGISTRY_URI.get()
    inside = registry_uri or _registry_of(tracking_uri)
    if tracking_uri is not None:
        mlflow.set_tracking_uri(tracking_uri)
    if inside is not None:
        mlflow.set_registry_uri(inside)
    try:
        yield
    finally:
        mlflow.set_tracking_uri(tracking)  # type: ignore[arg-type]  # None: not set
        mlflow.set_registry_uri(registry)
        if registry is None:
            MLFLOW_REGISTRY_URI.unset()
