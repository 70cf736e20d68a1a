"""Stages run in the test's own session."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from conf.settings import Settings
from conf.taxonomy import load_taxonomy
from etl.pipeline.planner import PipelineContext
from etl.pipeline.progress import Progress
from etl.pipeline.runner import run_stage
from etl.pipeline.signatures import Receiver
from etl.pipeline.stage_run import Compute, StageRun, Tracking
from etl.pipeline.stages import Stage
from etl.publishing.views import all_views, named_in


def run_stages(context: PipelineContext, stages: Iterable[Stage]) -> list[str]:
    """Run those that are switched on and have work, in the order given; the names of those that ran."""
    given = [stage for stage in stages if context.given_model(stage) is None]
    ran = []
    for stage in given:
        plan = context.plan(stage)
        if plan.why is not None:
            run_stage(context, stage, plan, Progress(context.spark, len(given)))
            ran.append(stage.name)
    return ran


def stage_run(
    spark: SparkSession,
    settings: Settings,
    folder: str | Path = "unused",
    stage: Stage | None = None,
    models: Mapping[str, Any] | None = None,
    say: Callable[[str], None] = lambda line: None,
) -> StageRun:
    """Return the run that a stage's function gets."""
    compute = Compute.of(settings, spark)
    tracking = Tracking(settings.lakehouse, settings.mlflow)
    name = "" if stage is None else stage.name
    return StageRun(models or {}, spark, str(folder), compute, tracking, name, say)


def called(stage: Stage, run: StageRun, settings: Settings, *frames: DataFrame) -> Any:
    """Return the result of a stage's function, which gets its own settings alone."""
    return stage.call(frames, settings, run)


def untyped(function: Callable[..., Any]) -> Receiver:
    """Return the receiver of a function that takes all tables and the run, and no settings."""
    return Receiver(function, (), lambda frames, settings, run: function(*frames, run))


def register_views(place: PipelineContext, *names: str) -> None:
    """Register views, of the schema ``analysis`` where none is given, and what they read."""
    wanted = [name if "." in name else f"analysis.{name}" for name in names]
    place.lakehouse.register(*named_in(wanted, all_views(load_taxonomy("edos"))))
