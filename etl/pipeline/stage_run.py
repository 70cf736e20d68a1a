"""The run of a stage as its function sees it: settings, models, session."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from conf.errors import InputError
from conf.settings import LakehouseSettings, MlflowSettings, Settings
from udfs.models.loader import NO_MODEL, SERVED
from udfs.models.stores import folder_name, put


@dataclass(frozen=True)
class Compute:
    """How models are called; none of it changes an answer.

    Attributes:
        threads: per worker.
        batch_size: texts per forward pass.
        partitions: concurrent tasks.
    """

    threads: int
    batch_size: int
    partitions: int


@dataclass(frozen=True)
class Tracking:
    """The settings of the MLflow store, for the functions of ``etl.training.registry``."""

    lakehouse: LakehouseSettings
    mlflow: MlflowSettings


@dataclass(frozen=True)
class StageRun:
    """The run of a stage as its function sees it: settings, models, session.

    Attributes:
        settings: the settings that the stage declares, as ``settings.section.key``.
        models: resolved models by name, each with ``path`` and ``identity``.
        spark: the session.
        folder: the folder of models, local or shared by driver and executors.
        store: the place in an object store where executors find them, and trainings their checkpoints, or None.
        all_settings: all settings, for ``etl.training`` only.
        inputs: the versions of the tables it reads, by name.
    """

    settings: Any
    models: Mapping[str, Any]
    spark: SparkSession
    folder: str
    all_settings: Settings
    say: Callable[[str], None] = print
    inputs: Mapping[str, str] = field(default_factory=dict)
    store: str | None = None

    @property
    def compute(self) -> Compute:
        """How models are called."""
        models = self.all_settings.models
        return Compute(models.threads, models.batch_size, self.spark.sparkContext.defaultParallelism)

    @property
    def tracking(self) -> Tracking:
        """Where runs are tracked and models registered."""
        return Tracking(self.all_settings.lakehouse, self.all_settings.mlflow)

    @property
    def lakehouse(self) -> LakehouseSettings:
        """Where the tables are."""
        return self.all_settings.lakehouse

    def has_model(self, name: str) -> bool:
        """Whether there is such a model: ``models.<name>: null`` leaves it out."""
        return bool(self.models[name].identity != NO_MODEL)

    def model(self, name: str) -> Any:
        """Return the model ``models.<name>``.

        Raises:
            InputError: it is null.
        """
        if not self.has_model(name):
            raise InputError(f"models.{name} is null: name a model, or leave out the stages that use it")
        return self.models[name]

    def rows_if_model(self, name: str, rows: DataFrame) -> DataFrame:
        """Return ``rows``, or none if the model is null."""
        return rows if self.has_model(name) else rows.limit(0)

    def model_arguments(self, name: str) -> dict[str, Any]:
        """Return the keyword arguments with which the functions of ``udfs.predict`` load and call a model."""
        model = self.model(name)
        return {"model_path": self.worker_path(model), "identity": model.identity, **vars(self.compute)}

    def worker_path(self, model: Any) -> str:
        """Return where executors find a resolved model, for `udfs.models.stores.fetched`; it is put there first."""
        local = str(self.spark.sparkContext.master).startswith("local")
        if self.store is None or local or model.identity.startswith(SERVED):
            return str(model.path)
        return put(model.path, f"{self.store}/copies/{folder_name(model.identity)}")
