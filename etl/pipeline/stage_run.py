"""The run of a stage as its function sees it: models, session, places."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from conf.errors import InputError
from conf.settings import LakehouseSettings, MlflowSettings, Settings
from etl.pipeline.locations import resolved_in
from etl.pipeline.spark_api import cores, is_local
from udfs.models.loader import NO_MODEL, SERVED, ResolvedModel
from udfs.models.stores import folder_name, put


@dataclass(frozen=True)
class Compute:
    """How models are called and trained; none of it changes an answer.

    Attributes:
        threads: per worker.
        batch_size: texts per forward pass.
        partitions: concurrent tasks.
        share: whether models are copied to the shared folder, for other machines.
        processes: of a training.
    """

    threads: int
    batch_size: int
    partitions: int
    share: bool
    processes: int

    @classmethod
    def of(cls, settings: Settings, spark: SparkSession) -> "Compute":
        """Return what ``models`` and ``training.processes`` say."""
        models = settings.models
        partitions = cores(spark)
        return cls(models.threads, models.batch_size, partitions, models.share, settings.training.processes)


@dataclass(frozen=True)
class Tracking:
    """The settings of the MLflow store, for the functions of ``etl.training.registry``."""

    lakehouse: LakehouseSettings
    mlflow: MlflowSettings


@dataclass(frozen=True)
class StageRun:
    """The run of a stage as its function sees it: models, session, places.

    Attributes:
        models: resolved models by name, each with ``path`` and ``identity``.
        spark: the session.
        folder: the folder of models, local or shared by driver and executors.
        compute: how models are called and trained.
        tracking: where the tables are, where runs are tracked and models registered.
        stage: the stage's name.
        say: prints a line of progress.
        inputs: the versions of the tables it reads, by name.
        store: the place of models and checkpoints in an object store, or None.
    """

    models: Mapping[str, ResolvedModel]
    spark: SparkSession
    folder: str
    compute: Compute
    tracking: Tracking
    stage: str
    say: Callable[[str], None] = print
    inputs: Mapping[str, str] = field(default_factory=dict)
    store: str | None = None

    @property
    def lakehouse(self) -> LakehouseSettings:
        """Where the tables are."""
        return self.tracking.lakehouse

    def has_model(self, name: str) -> bool:
        """Whether there is such a model: ``models.<name>: null`` leaves it out."""
        return bool(self.models[name].identity != NO_MODEL)

    def model(self, name: str) -> ResolvedModel:
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
        called = {name: getattr(self.compute, name) for name in ("threads", "batch_size", "partitions")}
        return {"model_path": self.worker_path(model), "identity": model.identity, **called}

    def resolved(self, uri: str) -> ResolvedModel:
        """Return the model at a URI that is no stage's output: an encoder or a language model to start from.

        Raises:
            InputError: it is not there.
        """
        return resolved_in(self.folder, uri, self.tracking, self.compute.share)

    def worker_path(self, model: ResolvedModel) -> str:
        """Return where executors find a resolved model, for `udfs.models.stores.fetched`; it is put there first."""
        if self.store is None or is_local(self.spark) or model.identity.startswith(SERVED):
            return str(model.path)
        return put(model.path, f"{self.store}/copies/{folder_name(model.identity)}")
