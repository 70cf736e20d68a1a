"""What plan, status and estimate show."""

from conf.errors import InputError
from conf.settings import Settings
from etl.pipeline.planner import PipelineContext, feeds
from etl.pipeline.session import close_session, spark_session
from etl.pipeline.stage import Stage


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


def estimate(settings: Settings, stages: list[Stage]) -> int:
    """Print how long a film took in each stage here, and what the whole of OpenSubtitles would take.

    From ``ops.stage_runs``: seconds times cores over the unit's count of each stage's last run, so run a
    pilot first (``--set subtitles.sample=0.01``). Trainings count once.
    """
    spark = spark_session(settings)
    try:
        context = PipelineContext(spark, settings)
        cores = spark.sparkContext.defaultParallelism
        files = context.log.last("ingest_subtitles", "done")
        if files is None or not files.rows_in:
            raise InputError("nothing measured yet: run a pilot, e.g. run --set subtitles.sample=0.01")
        target = 446_612  # English files of OpenSubtitles v2018
        factor = target / files.rows_in
        print(f"measured on {files.rows_in:,} files with {cores} cores; scaled to {target:,} English files")
        total = 0.0
        for stage in stages:
            last = context.log.last(stage.name, "done")
            if last is None:
                continue
            grows = stage.incremental is not None or any(feeds(other, stage) for other in stages if other.incremental)
            hours = last.seconds * cores / 3600 * (factor if grows and not stage.name.startswith("train_") else 1)
            total += hours
            print(f"{stage.name:28s} {last.seconds:8.1f} s here  {hours:10.1f} core-hours")
        print(f"{'all':28s} {'':15s}  {total:10.1f} core-hours")
        return 0
    finally:
        close_session(spark, settings)
