"""The run of a stage as its function sees it: models, session, places."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import SparkSession

from conf.errors import InputError
from conf.settings import LakehouseSettings, MlflowSettings, Settings
from etl.pipeline.locations import resolved_in
from etl.pipeline.model_loader import NO_MODEL, ResolvedModel
from etl.pipeline.spark_api import cores, is_local
from udfs.llm_kinds import kind_of
from udfs.models.stores import folder_name, put


@dataclass(frozen=True)
class Compute:
    """Resources with which models are called and trained; they change no result.

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
        folder: the folder of models, local or shared by driver and executors.
        tracking: where the tables are, where runs are tracked and models registered.
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

    def model(self, of: str) -> "UsedModel":
        """Return a model: one that the stage declares, or one to start from.

        Args:
            of: the key under ``models``; or the URI of a model that is no stage's output.

        Raises:
            InputError: there is no model at the URI.
        """
        found = self.models.get(of) or resolved_in(self.folder, of, self.tracking, self.compute.share)
        return UsedModel(found.path, found.identity, of, self)

    def worker_path(self, model: ResolvedModel) -> str:
        """Return where executors find a model's folder, for `udfs.models.stores.fetched`; it is put there first."""
        if self.store is None or is_local(self.spark) or not kind_of(model.identity).in_files:
            return str(model.path)
        return put(model.path, f"{self.store}/copies/{folder_name(model.identity)}")


@dataclass(frozen=True)
class UsedModel(ResolvedModel):
    """A model as the function of a stage uses it: its folder and identity, and how it is called.

    Attributes:
        key: under ``models``, or the URI.
        run: of the stage.
    """

    key: str
    run: StageRun = field(repr=False, compare=False)

    @property
    def given(self) -> bool:
        """Whether there is such a model: ``models.<key>: null`` leaves it out."""
        return self.identity != NO_MODEL

    @property
    def required(self) -> "UsedModel":
        """The model, which must be there.

        Raises:
            InputError: it is null.
        """
        if not self.given:
            raise InputError(f"models.{self.key} is null: name a model, or leave out the stages that use it")
        return self

    @property
    def arguments(self) -> dict[str, Any]:
        """The keyword arguments with which the functions of ``udfs.predict`` load and call the model.

        Raises:
            InputError: it is null.
        """
        compute = self.run.compute
        return {
            "model_path": self.run.worker_path(self.required),
            "identity": self.identity,
            "threads": compute.threads,
            "batch_size": compute.batch_size,
            "partitions": compute.partitions,
        }
