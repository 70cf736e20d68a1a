"""Stages run in the test's own session."""

from collections.abc import Iterable

from etl.pipeline.planner import PipelineContext
from etl.pipeline.progress import Progress
from etl.pipeline.runner import run_stage
from etl.pipeline.stages import Stage


def run_stages(context: PipelineContext, stages: Iterable[Stage]) -> list[str]:
    """Run those that are switched on and have work, in the order given; the names of those that ran."""
    given = [stage for stage in stages if context.is_given(stage) is None]
    ran = []
    for stage in given:
        plan = context.plan(stage)
        if plan.why is not None:
            run_stage(context, stage, plan, Progress(context.spark, len(given)))
            ran.append(stage.name)
    return ran
