"""OpenLineage events of stage runs: inputs, outputs, versions and counts, sent to a file or a server."""

import logging
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import attr
from openlineage.client import OpenLineageClient
from openlineage.client.event_v2 import InputDataset, Job, OutputDataset, Run, RunEvent, RunState, set_producer
from openlineage.client.facet_v2 import (
    RunFacet,
    dataset_version_dataset,
    documentation_job,
    error_message_run,
    job_type_job,
    output_statistics_output_dataset,
    processing_engine_run,
    symlinks_dataset,
)
from openlineage.client.uuid import generate_new_uuid

from conf.redaction import redacted, without_user_info
from conf.section import Counts
from conf.settings import Settings
from etl.pipeline.lakehouse import Lakehouse
from etl.pipeline.lineage import StageEvent, package_version
from etl.pipeline.model_loader import NO_MODEL
from etl.pipeline.planner import StagePlan
from etl.pipeline.stages import Model, Stage, setting
from etl.tables import Table
from etl.tables.ops import DROPPED

FACET = "edosLakehouse_stageRun"
COUNT = "count(*)"
AZURE = ("abfs://", "abfss://", "wasb://", "wasbs://")
TIMEOUT_SECONDS = 5.0


@attr.define(kw_only=True)
class StageRunFacet(RunFacet):
    """What ``ops.stage_runs`` says of a run; the counts are null until it has ended."""

    stageRunId: str  # noqa: N815
    stageVersion: int  # noqa: N815
    settingsHash: str  # noqa: N815
    models: dict[str, str]
    unit: str
    rowsIn: int | None = None  # noqa: N815
    rowsOut: int | None = None  # noqa: N815
    rowsDropped: int | None = None  # noqa: N815
    rowsQuarantined: int | None = None  # noqa: N815


@dataclass(frozen=True)
class Attempt:
    """One run of a stage, from its start to its end or failure.

    Attributes:
        run: id of the events; a stage that is run again after a failure has another.
        stage, plan: what runs.
    """

    run: str
    stage: Stage
    plan: StagePlan


class LineageEvents:
    """Sends an event when a stage starts, ends or fails.

    A server that cannot be reached, or a file that cannot be written, is told once and stops nothing.

    Args:
        settings: ``pipeline.open_lineage`` is where the events go, ``pipeline.open_lineage_namespace`` the namespace
            of the jobs, of models and of the tables of a catalog.
        lakehouse: whose tables are read and written.
        say: prints a line.
    """

    def __init__(self, settings: Settings, lakehouse: Lakehouse, say: Callable[[str], None]) -> None:
        self.settings = settings
        self.lakehouse = lakehouse
        self.say = say
        self.namespace = settings.pipeline.open_lineage_namespace
        self.place = str(settings.pipeline.open_lineage)
        self._client = OpenLineageClient(config={"transport": transport(self.place)})
        self._told = False
        set_producer(f"urn:edos-lakehouse:{package_version()}")
        logging.getLogger("openlineage").setLevel(logging.CRITICAL)

    def run(self, stage: Stage, plan: StagePlan, work: Callable[[], StageEvent]) -> StageEvent:
        """Run a stage by ``work`` between two events, and return what it returned."""
        attempt = Attempt(str(generate_new_uuid()), stage, plan)
        self._send(attempt, RunState.START)
        try:
            event = work()
        except BaseException as error:
            self._send(attempt, RunState.FAIL, error=error)
            raise
        self._send(attempt, RunState.COMPLETE, event)
        return event

    def failed(self, stage: Stage, error: BaseException) -> None:
        """Send the event of a stage that failed before its work began: its plan could not be made."""
        self._send(
            Attempt(str(generate_new_uuid()), stage, StagePlan(None, "", {}, "", {})), RunState.FAIL, error=error
        )

    def _send(
        self, attempt: Attempt, state: RunState, event: StageEvent | None = None, error: BaseException | None = None
    ) -> None:
        try:
            self._client.emit(self.message(attempt, state, event, error))
        except Exception as problem:
            if not self._told:
                self._told = True
                place = without_user_info(self.place)
                self.say(f"OpenLineage events are lost: {place}: {redacted(str(problem))[:200]}")

    def message(
        self, attempt: Attempt, state: RunState, event: StageEvent | None = None, error: BaseException | None = None
    ) -> RunEvent:
        """Return an event; ``event`` is the stage's own, once it has ended."""
        stage = attempt.stage
        facets: dict[str, RunFacet] = {
            FACET: _facet(attempt, event),
            "processing_engine": processing_engine_run.ProcessingEngineRunFacet(
                version=self.lakehouse.spark.version, name="spark"
            ),
        }
        if error is not None:
            line = redacted(f"{type(error).__name__}: {error}").partition("\n")[0][:500]
            facets["errorMessage"] = error_message_run.ErrorMessageRunFacet(line, "PYTHON")
        job = Job(
            self.namespace,
            stage.name,
            {
                "documentation": documentation_job.DocumentationJobFacet(stage.title),
                "jobType": job_type_job.JobTypeJobFacet("BATCH", "SPARK", "JOB"),
            },
        )
        return RunEvent(
            eventType=state,
            eventTime=datetime.now(UTC).isoformat(),
            run=Run(attempt.run, facets),
            job=job,
            inputs=list(self._inputs(attempt)),
            outputs=list(self._outputs(stage, event)),
        )

    def _inputs(self, attempt: Attempt) -> Iterator[InputDataset]:
        stage = attempt.stage
        plan = attempt.plan
        for table in stage.reads:
            yield self._table(InputDataset, table, plan.inputs.get(table.name))
        for name, model in plan.models.items():
            if model.identity != NO_MODEL:
                yield self._model(InputDataset, Model(name), model.identity)
        for path in dict.fromkeys(self._outside(stage)):
            yield InputDataset(*place_of(path))

    def _outside(self, stage: Stage) -> Iterator[str]:
        """Yield the labelled sets that a stage reads, and the sources of files."""
        keys = [
            *stage.keys(Counts.FILES),
            *(key for key in stage.keys(Counts.VALUE) if key.endswith(".sources") and stage.fingerprint),
        ]
        for key in keys:
            value = setting(self.settings, key)
            yield from [value] if isinstance(value, str) else map(str, value or ())

    def _outputs(self, stage: Stage, event: StageEvent | None) -> Iterator[OutputDataset]:
        writes = stage.writes
        version = None if event is None else event.output_version
        if isinstance(writes, Model):
            yield self._model(OutputDataset, writes, version)
        elif writes is not None:
            plain = stage.units.rows_out == COUNT and event is not None
            yield self._table(OutputDataset, writes, version, event.rows_out if plain and event else None)
        if event is not None and event.rows_dropped:
            yield self._table(OutputDataset, DROPPED, self.lakehouse.identity(DROPPED))
        if event is not None and event.rows_quarantined and (unread := stage.quarantine) is not None:
            yield self._table(OutputDataset, unread, self.lakehouse.identity(unread), event.rows_quarantined)

    def _table(self, kind: Any, table: Table, version: str | None, rows: int | None = None) -> Any:
        catalog = self.lakehouse.settings.catalog
        own = self.lakehouse.own_name(table)
        name = f"{catalog}.{self.lakehouse.prefix}{own}" if catalog else own
        place = (self.namespace, name) if catalog else place_of(self.lakehouse.path(table))
        dataset = kind(*place, facets=_version(version))
        if not catalog:
            known = symlinks_dataset.Identifier(self.namespace, name, "TABLE")
            dataset.facets["symlinks"] = symlinks_dataset.SymlinksDatasetFacet([known])
        if rows is not None:
            counted = output_statistics_output_dataset.OutputStatisticsOutputDatasetFacet(rowCount=rows)
            dataset.outputFacets["outputStatistics"] = counted
        return dataset

    def _model(self, kind: Any, model: Model, identity: str | None) -> Any:
        shown = None if identity is None else redacted(without_user_info(identity))
        return kind(self.namespace, f"models.{model.name}", facets=_version(shown))


def transport(place: str) -> dict[str, Any]:
    """Return the client's configuration for a file's path or a server's address.

    A server's key is in the variable ``OPENLINEAGE_API_KEY``.
    """
    if not place.startswith(("http://", "https://")):
        path = Path(place.removeprefix("file://"))
        path.parent.mkdir(parents=True, exist_ok=True)
        return {"type": "file", "log_file_path": str(path), "append": True}
    key = os.environ.get("OPENLINEAGE_API_KEY")
    auth = {"auth": {"type": "api_key", "apiKey": key}} if key else {}
    retry = {"total": 2, "connect": 1, "read": 1}
    return {"type": "http", "url": place, "timeout": TIMEOUT_SECONDS, "retry": retry, **auth}


def place_of(path: str) -> tuple[str, str]:
    """Return the namespace and name of a file or folder by OpenLineage's naming: ``s3://bucket`` and the key."""
    if "://" not in path:
        return "file", str(Path(path).resolve())
    # In Azure's addresses the container stands where others have a user's name.
    parts = urlsplit(path if path.startswith(AZURE) else without_user_info(path))
    if parts.scheme == "file":
        return "file", parts.path
    scheme = "s3" if parts.scheme in ("s3a", "s3n") else parts.scheme
    return f"{scheme}://{parts.netloc}", parts.path.strip("/") or "/"


def _version(version: str | None) -> dict[str, Any]:
    return {} if version is None else {"version": dataset_version_dataset.DatasetVersionDatasetFacet(version)}


def _facet(attempt: Attempt, event: StageEvent | None) -> StageRunFacet:
    plan = attempt.plan
    stage = attempt.stage
    facet = StageRunFacet(
        stageRunId=plan.run_id,
        stageVersion=stage.version,
        settingsHash=plan.settings_hash,
        models={name: redacted(model.identity) for name, model in plan.models.items()},
        unit=stage.units.name,
    )
    if event is None:
        return facet
    return attr.evolve(
        facet,
        rowsIn=event.rows_in,
        rowsOut=event.rows_out,
        rowsDropped=event.rows_dropped,
        rowsQuarantined=event.rows_quarantined,
    )
