"""Figures of the stages' runs for Prometheus: a file that node_exporter collects, or a push gateway.

pipeline: {observers: {etl.extras.metrics: /var/lib/node_exporter/edos_lakehouse.prom}}
"""

import os
from collections.abc import Mapping
from datetime import UTC
from pathlib import Path

from prometheus_client import CollectorRegistry, Gauge, push_to_gateway, write_to_textfile

from conf.errors import InputError
from conf.places import local_path
from conf.redaction import without_user_info
from etl.pipeline.lineage import StageEvent, StageLog
from etl.pipeline.planner import PipelineContext, StagePlan
from etl.pipeline.stages import Stage

GATEWAYS = ("http://", "https://")
PREFIX = "edos_lakehouse_stage_"
STATES = ("done", "failed", "stopped")
TIMEOUT_SECONDS = 5.0
ROWS = {"in": "rows_in", "out": "rows_out", "dropped": "rows_dropped", "quarantined": "rows_quarantined"}


def observer(place: str, context: PipelineContext) -> "StageFigures":
    """Return what publishes the figures of all stages' last runs when a run is over.

    Raises:
        InputError: the place is neither a file of this machine nor the address of a gateway.
    """
    if not place.startswith(GATEWAYS) and local_path(place) is None:
        raise InputError(
            f"pipeline.observers: {without_user_info(place)} is neither a local file nor an http(s) address"
        )
    return StageFigures(place, context.settings.lakehouse.set)


class StageFigures:
    """Writes figures to a file, which is replaced at once, or sends them to a push gateway.

    Args:
        place: a path, or the http(s) address of a push gateway.
        of_set: ``lakehouse.set``; it groups the figures of a gateway, so that sets do not replace each other's.
    """

    def __init__(self, place: str, of_set: str) -> None:
        self.place = place
        self.of_set = of_set

    def started(self, stage: Stage, plan: StagePlan) -> None:
        """Do nothing: figures are those of the ledger."""

    def finished(self, stage: Stage, plan: StagePlan | None, result: StageEvent | BaseException) -> None:
        """Do nothing: figures are those of the ledger."""

    def closed(self, logs: Mapping[str, StageLog]) -> None:
        """Publish the figures of every stage that ever ran."""
        registry = collected(logs, self.of_set)
        if self.place.startswith(GATEWAYS):
            group = {"set": self.of_set} if self.of_set else {}
            push_to_gateway(self.place, "edos-lakehouse", registry, grouping_key=group, timeout=TIMEOUT_SECONDS)
            return
        path = Path(local_path(self.place) or self.place)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_to_textfile(os.fspath(path), registry)


def collected(logs: Mapping[str, StageLog], of_set: str) -> CollectorRegistry:
    """Return the figures of each stage that ever ran, with the labels ``stage`` and ``set``.

    Args:
        logs: the log that a stage's runs are in, by its name.
        of_set: the value of ``lakehouse.set``.
    """
    registry = CollectorRegistry()

    def gauge(name: str, meaning: str, *labels: str) -> Gauge:
        return Gauge(PREFIX + name, meaning, ("stage", "set", *labels), registry=registry)

    state = gauge("state", "1 for the state of the last run: done, failed, or stopped before its end", "state")
    runs = gauge("runs", "Runs so far, by how they ended: done, failed, or refused", "event")
    finished = gauge("finished_timestamp_seconds", "When the last finished run ended")
    seconds = gauge("duration_seconds", "What the last finished run took")
    tasks = gauge("task_seconds", "What the tasks of the last finished run took, all cores together")
    rows = gauge("rows", "Units of the last finished run: in, out, dropped or quarantined", "kind")
    for stage, log in logs.items():
        now = log.state(stage)
        if now == "never":
            continue
        for one in STATES:
            state.labels(stage, of_set, one).set(one == now)
        for event, count in log.counts(stage).items():
            runs.labels(stage, of_set, event).set(count)
        last = log.last(stage, "done")
        if last is None:
            continue
        finished.labels(stage, of_set).set(last.started.astimezone(UTC).timestamp() + last.seconds)
        seconds.labels(stage, of_set).set(last.seconds)
        if last.task_seconds is not None:
            tasks.labels(stage, of_set).set(last.task_seconds)
        for kind, column in ROWS.items():
            if (count := getattr(last, column)) is not None:
                rows.labels(stage, of_set, kind).set(count)
    return registry
