"""OpenLineage events of stage runs: inputs, outputs, versions and counts, sent to a file or a server.

pipeline: {observers: {etl.extras.lineage: "http://marquez.example:5000"}}    # or a file of JSON Lines
"""

import logging
import os
from collections.abc import Iterator, Mapping
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
    error_message_run,
    output_statistics_output_dataset,
)
from openlineage.client.uuid import generate_new_uuid

from conf.redaction import redacted, without_user_info
from conf.section import Counts
from etl.pipeline.lineage import StageEvent, StageLog, package_version
from etl.pipeline.model_loader import NO_MODEL
from etl.pipeline.planner import PipelineContext, StagePlan
from etl.pipeline.stages import Model, Stage, setting
from etl.pipeline.tables import Table
from etl.pipeline.tables.ops import DROPPED

FACET = "edosLakehouse_stageRun"
NAMESPACE = "edos-lakehouse"
"""Namespace of jobs, models, and the tables of a catalog."""
COUNT = "count(*)"
AZURE = ("abfs://", "abfss://", "wasb://", "wasbs://")
TIMEOUT_SECONDS = 5.0


def observer(place: str, context: PipelineContext) -> "LineageEvents":
    """Return what sends the events of a run to a file's path or a server's address."""
    return LineageEvents(place, context)


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


class LineageEvents:
    """Sends an event when a stage starts, ends or fails.

    Args:
        place: a file's path, or a server's address, whose key is in the variable ``OPENLINEAGE_API_KEY``.
        context: of the run, whose lakehouse is read and written.
    """

    def __init__(self, place: str, context: PipelineContext) -> None:
        self.settings = context.settings
        self.lakehouse = context.lakehouse
        self._client = OpenLineageClient(config={"transport": transport(place)})
        self._run = ""
        set_producer(f"urn:edos-lakehouse:{package_version()}")
        logging.getLogger("openlineage").setLevel(logging.CRITICAL)

    def started(self, stage: Stage, plan: StagePlan) -> None:
        """Send the event of a stage's start; a stage that runs again after a failure has another run id."""
        self._run = str(generate_new_uuid())
        self._client.emit(self._message(stage, plan, RunState.START, None))

    def finished(self, stage: Stage, plan: StagePlan | None, result: StageEvent | BaseException) -> None:
        """Send the event of a stage's end or failure, also of one that failed before its start."""
        if plan is None:
            self._run = str(generate_new_uuid())
            plan = StagePlan(None, "", {}, "", {})
        state = RunState.COMPLETE if isinstance(result, StageEvent) else RunState.FAIL
        self._client.emit(self._message(stage, plan, state, result))

    def closed(self, logs: Mapping[str, StageLog]) -> None:
        """Do nothing: every event is sent at once."""

    def _message(
        self, stage: Stage, plan: StagePlan, state: RunState, result: StageEvent | BaseException | None
    ) -> RunEvent:
        event = result if isinstance(result, StageEvent) else None
        facets: dict[str, RunFacet] = {FACET: _facet(stage, plan, event)}
        if isinstance(result, BaseException):
            line = redacted(f"{type(result).__name__}: {result}").partition("\n")[0][:500]
            facets["errorMessage"] = error_message_run.ErrorMessageRunFacet(line, "PYTHON")
        return RunEvent(
            eventType=state,
            eventTime=datetime.now(UTC).isoformat(),
            run=Run(self._run, facets),
            job=Job(NAMESPACE, stage.name),
            inputs=list(self._inputs(stage, plan)),
            outputs=list(self._outputs(stage, event)),
        )

    def _inputs(self, stage: Stage, plan: StagePlan) -> Iterator[InputDataset]:
        for table in stage.reads:
            yield self._table(InputDataset, table, plan.inputs.get(table.name))
        for name, model in plan.models.items():
            if model.identity != NO_MODEL:
                yield _model(InputDataset, Model(name), model.identity)
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
            yield _model(OutputDataset, writes, version)
        elif writes is not None:
            plain = stage.units.rows_out == COUNT and event is not None
            yield self._table(OutputDataset, writes, version, event.rows_out if plain and event else None)
        if event is not None and event.rows_dropped:
            yield self._table(OutputDataset, DROPPED, self.lakehouse.identity(DROPPED))
        if event is not None and event.rows_quarantined and (unread := stage.quarantine) is not None:
            yield self._table(OutputDataset, unread, self.lakehouse.identity(unread), event.rows_quarantined)

    def _table(self, kind: Any, table: Table, version: str | None, rows: int | None = None) -> Any:
        catalog = self.lakehouse.settings.catalog
        name = f"{catalog}.{self.lakehouse.prefix}{self.lakehouse.own_name(table)}"
        place = (NAMESPACE, name) if catalog else place_of(self.lakehouse.path(table))
        dataset = kind(*place, facets=_version(version))
        if rows is not None:
            counted = output_statistics_output_dataset.OutputStatisticsOutputDatasetFacet(rowCount=rows)
            dataset.outputFacets["outputStatistics"] = counted
        return dataset


def transport(place: str) -> dict[str, Any]:
    """Return the client's configuration for a file's path or a server's address."""
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


def _model(kind: Any, model: Model, identity: str | None) -> Any:
    shown = None if identity is None else redacted(without_user_info(identity))
    return kind(NAMESPACE, f"models.{model.name}", facets=_version(shown))


def _version(version: str | None) -> dict[str, Any]:
    return {} if version is None else {"version": dataset_version_dataset.DatasetVersionDatasetFacet(version)}


def _facet(stage: Stage, plan: StagePlan, event: StageEvent | None) -> StageRunFacet:
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
