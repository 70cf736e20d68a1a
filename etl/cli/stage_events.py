"""Publish a run: OpenLineage events of its stages, and change data feeds of tables."""

from collections.abc import Callable

from conf.errors import InputError
from conf.settings import Settings
from etl.pipeline.lineage import StageEvent
from etl.pipeline.planner import PipelineContext, StagePlan
from etl.pipeline.stages import Stage
from etl.tables import TABLES, Table

Work = Callable[[], StageEvent]
Recorder = Callable[[Stage, StagePlan, Work], StageEvent]


def recorder(settings: Settings, context: PipelineContext, say: Callable[[str], None]) -> Recorder:
    """Return a function that runs a stage's work, and sends events where the settings want them.

    Raises:
        InputError: the library that sends them is missing.
    """
    if settings.pipeline.open_lineage is None:
        return lambda stage, plan, work: work()
    try:
        from etl.publishing.open_lineage import LineageEvents
    except ModuleNotFoundError as error:
        raise InputError(
            f"pipeline.open_lineage needs the module {error.name}: pip install openlineage-python, or set it to null"
        ) from None
    return LineageEvents(settings, context.lakehouse, say).run


def followed(settings: Settings) -> list[Table]:
    """Return the tables of ``lakehouse.change_data_feed``.

    Raises:
        InputError: one is not a table.
    """
    names = settings.lakehouse.change_data_feed
    for name in names:
        if name not in TABLES:
            raise InputError(f"lakehouse.change_data_feed: {name!r} is not a table: docs/tables.md lists them")
    return [TABLES[name] for name in names]
