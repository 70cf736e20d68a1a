"""Stages run in the test's own session."""

from collections.abc import Iterable

from etl.lakehouse.pipeline import Workplace
from etl.lakehouse.progress import Progress
from etl.lakehouse.runner import run_stage
from etl.lakehouse.stage import Stage


def run_stages(place: Workplace, stages: Iterable[Stage]) -> list[str]:
    """Run those that are switched on and have work, in the order given; the names of those that ran."""
    given = [stage for stage in stages if place.is_given(stage) is None]
    ran = []
    for stage in given:
        need = place.need(stage)
        if need.why is not None:
            run_stage(place, stage, need, Progress(place.spark, len(given)))
            ran.append(stage.name)
    return ran
