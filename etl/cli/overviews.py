"""``python -m jobs plan`` and ``status``."""

from conf.errors import InputError
from conf.settings import Settings
from etl.pipeline.planner import PipelineContext, feeds
from etl.pipeline.session import close_session, spark_session
from etl.pipeline.stages import Stage


def plan(settings: Settings, stages: list[Stage]) -> int:
    """Print each stage with what it would do and why."""
    spark = spark_session(settings)
    try:
        context = PipelineContext(spark, settings)
        running: list[Stage] = []
        for number, stage in enumerate(stages, start=1):
            before = [first.name for first in running if feeds(first, stage)]
            given = context.is_given(stage)
            if given is not None:
                text = f"skip  model given: {given}"
            elif context.is_off(stage) and context.log.last(stage.name, "done") is None:
                text = f"off   {stage.enabled_if} is false"
            elif before:
                text, running = f"run   after {', '.join(before)}", [*running, stage]
            else:
                try:
                    why = context.plan(stage).why
                except InputError as error:
                    why = str(error)
                text = f"run   {why}" if why else "-     up to date"
                running = [*running, stage] if why else running
            print(f"{number:3d}  {stage.name:28s} {text}")
        return 0
    finally:
        close_session(spark, settings)


def status(settings: Settings, stages: list[Stage]) -> int:
    """Print each stage's last finished run and its account."""
    spark = spark_session(settings)
    try:
        context = PipelineContext(spark, settings)
        print(
            f"{'stage':28s} {'finished':17s} {'in':>12s} {'out':>12s} {'dropped':>12s} {'quarant.':>9s} {'s':>8s}  unit"
        )
        for stage in stages:
            last = context.log.last(stage.name, "done")
            if last is None:
                state = "stopped midway" if context.log.unfinished(stage.name) else "never ran"
                print(f"{stage.name:28s} {state}")
                continue
            numbers = (last.rows_in, last.rows_out, last.rows_dropped, last.rows_quarantined)
            shown = [f"{number:,}" if number is not None else "" for number in numbers]
            print(
                f"{stage.name:28s} {last.started:%Y-%m-%d %H:%M}  {shown[0]:>12s} {shown[1]:>12s} {shown[2]:>12s} "
                f"{shown[3]:>9s} {last.seconds:8.1f}  {last.unit}"
            )
        return 0
    finally:
        close_session(spark, settings)
