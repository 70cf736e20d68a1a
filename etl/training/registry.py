"""The MLflow store of a lakehouse, and the metrics of its registered models."""

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from conf.errors import InputError
from conf.places import file_uri
from etl.pipeline.locations import Stored, _local_root, tracking_uri
from udfs.models.stores import is_store

if TYPE_CHECKING:
    from etl.training.tracking import ModelStore

PER_CLASS = "per_class.json"
"""Name of a run's file with a row for each class, mostly behind a prefix."""


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
    """Check that trainings can log, before hours of other stages have passed. Stores in local files are not opened.

    Raises:
        InputError: no MLflow server is named, or the one that is does not answer.
    """
    from etl.pipeline.mlflow_client import require_server

    require_server(model_store(settings).tracking_uri)


@dataclass(frozen=True)
class HeldOut:
    """What the run that trained a model says of held-out rows.

    Attributes:
        training: name of the run; "" if it is not known.
        size: what the model started from, and its epochs, in words; "" if they are not known.
        figures: metrics such as ``macro_f1``.
        classes: one row a class: label, precision, recall, f1, support.
    """

    training: str = ""
    figures: Mapping[str, float] = field(default_factory=dict)
    classes: Sequence[Mapping[str, Any]] = ()
    size: str = ""


def held_out(settings: Stored, identity: str) -> HeldOut:
    """Return what is known of a registered model's held-out rows; nothing if it is not registered.

    Args:
        identity: ``models:/NAME/VERSION#...`` of a resolved model.
    """
    named = re.match(r"models:/([^/]+)/(\d+)(?:#|$)", identity)
    if named is None:
        return HeldOut()
    from mlflow.exceptions import MlflowException

    from etl.pipeline.mlflow_client import client_of

    client = client_of(tracking_uri(settings), settings.mlflow.registry_uri)
    try:
        run = client.get_run(client.get_model_version(named[1], named[2]).run_id or "")
    except MlflowException:
        return HeldOut()
    prefix = "held_out_"
    figures = {key.removeprefix(prefix): value for key, value in run.data.metrics.items() if key.startswith(prefix)}
    start, epochs = (run.data.params.get(name, "") for name in ("starts_from", "epochs"))
    size = f"{start.partition('#')[0]}, {epochs} epochs" if start and epochs else ""
    return HeldOut(run.info.run_name or "", figures, _classes(client, run), size)


def _classes(client: Any, run: Any) -> Sequence[Mapping[str, Any]]:
    """Return the rows of a run's file of scores by class; none where it has no such file."""
    from mlflow.exceptions import MlflowException

    try:
        names = [one.path for one in client.list_artifacts(run.info.run_id) if one.path.endswith(PER_CLASS)]
        if not names:
            return ()
        with TemporaryDirectory() as scratch:
            file = Path(client.download_artifacts(run.info.run_id, names[0], scratch))
            return list(json.loads(file.read_text("utf-8"))["classes"])
    except (MlflowException, OSError, ValueError, LookupError):
        return ()
