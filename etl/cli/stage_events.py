"""Publish a run: OpenLineage events of its stages, and figures for Prometheus."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from conf.errors import InputError, reason_of
from conf.redaction import without_user_info
from conf.settings import Settings
from etl.pipeline.lineage import StageEvent
from etl.pipeline.planner import PipelineContext, StagePlan
from etl.pipeline.stages import REGISTRY, Stage

if TYPE_CHECKING:
    from etl.publishing.open_lineage import LineageEvents

Work = Callable[[], StageEvent]


class Recorder:
    """Runs the work of stages, and sends nothing."""

    def run(self, stage: Stage, plan: StagePlan, work: Work) -> StageEvent:
        """Return what the work returns."""
        return work()

    def failed(self, stage: Stage, error: BaseException) -> None:
        """Note a stage that failed before its work began."""


def recorder(settings: Settings, context: PipelineContext, say: Callable[[str], None]) -> "Recorder | LineageEvents":
    """Return what runs a stage's work, and sends events where the settings want them.

    Raises:
        InputError: the library that sends them is missing.
    """
    if settings.pipeline.open_lineage is None:
        return Recorder()
    try:
        from etl.publishing.open_lineage import LineageEvents
    except ModuleNotFoundError as error:
        raise InputError(
            f"pipeline.open_lineage needs the module {error.name}: pip install openlineage-python, or set it to null"
        ) from None
    return LineageEvents(settings, context.lakehouse, say)


def publisher(settings: Settings, say: Callable[[str], None]) -> Callable[[PipelineContext], None]:
    """Return a function that publishes the figures of all stages' last runs, where the settings want them.

    A file that cannot be written, or a gateway that does not answer, is told and stops nothing.

    Raises:
        InputError: the library that makes them is missing, or ``pipeline.metrics`` is neither a file nor an address.
    """
    place = settings.pipeline.metrics
    if place is None:
        return lambda context: None
    try:
        from etl.publishing import metrics
    except ModuleNotFoundError as error:
        raise InputError(
            f"pipeline.metrics needs the module {error.name}: pip install prometheus-client, or set it to null"
        ) from None
    metrics.require_place(place)

    def publish(context: PipelineContext) -> None:
        logs = {stage.name: context.of(stage).log for stage in REGISTRY.values()}
        try:
            metrics.publish(metrics.collected(logs, settings.lakehouse.set), place, settings.lakehouse.set)
        except Exception as error:  # of the file system, or of the network
            say(f"figures for Prometheus are lost: {without_user_info(place)}: {reason_of(error)}")

    return publish
