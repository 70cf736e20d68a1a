"""The command line: ``python -m jobs``, the installed ``edos-lakehouse``, and ``spark-submit jobs/__main__.py``."""

import argparse
import os
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from conf.errors import InputError
from conf.settings import Settings, load_settings
from etl.cli.options import COMMANDS, parsed
from etl.cli.redacted_output import redacted_output
from etl.pipeline.stages import Stage

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit status: 0 done, 2 bad settings or input, 1 failure."""
    with redacted_output():
        return _guarded(list(sys.argv[1:] if arguments is None else arguments))


def _guarded(arguments: list[str]) -> int:
    try:
        return _main(arguments)
    except InputError as error:
        print(f"edos-lakehouse: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("edos-lakehouse: stopped; run again to go on", file=sys.stderr)
        return 1
    except Exception as error:
        if "--traceback" in arguments:
            traceback.print_exc()
            return 1
        from etl.cli.faults import fault_line

        line = str(error) if isinstance(error, RunError) else fault_line(error)
        print(f"edos-lakehouse: {line} (--traceback tells more)", file=sys.stderr)
        return 1


def _main(arguments: list[str]) -> int:
    _one_distribution()
    options = parsed(arguments)
    if options.command == "fetch-jars":
        from etl.cli.class_archive import make_archive
        from etl.cli.jars import fetch_jars
        from etl.pipeline.jars import archive_path

        print(f"{fetch_jars()} jars at hand")
        if not archive_path().is_file() and not make_archive():
            print("no archive of their classes could be made: sessions start more slowly")
        return 0
    if options.command == "completion":
        from etl.cli.completion import script

        print(script(options.shell), end="")
        return 0
    settings = _settings(options)
    if options.command in ("reply", "chat"):
        return _talk(options, settings)
    if options.command == "sql":
        from etl.cli.sql_shell import open_sql

        return open_sql(settings, options.execute, options.csv)
    if options.command == "register":
        from etl.cli.register import register

        return register(settings, options.catalog)
    if options.command == "read":
        from etl.cli.read_shell import open_read

        return open_read(settings, options.film, options.n)
    if options.command == "trace":
        from etl.cli.trace import trace

        return trace(settings, options.dialogue_id)
    from etl.pipeline.planner import chosen
    from jobs import all_stages

    stages = all_stages()
    if options.command == "restore-text":
        from etl.publishing.dataset_export import restore_text

        return restore_text(settings)
    if options.command not in COMMANDS:
        return _run(settings, chosen(stages, only=options.command), options.again)
    stages = chosen(stages, to=options.to, start=options.start, only=options.only)
    if options.command in ("run", "demo"):
        return _run(settings, stages, options.again)
    if options.command == "estimate":
        from etl.cli.estimate import estimate

        return estimate(settings, stages, options.files)
    from etl.cli import overviews

    show = {"plan": overviews.plan, "status": overviews.status}[options.command]
    return show(settings, stages, options.json)


def _settings(options: argparse.Namespace) -> Settings:
    overrides = [text for group in options.set for text in group]
    if options.command != "demo":
        return load_settings(options.profile, options.config, overrides)
    from etl.cli.demo import demo_settings

    return demo_settings(options.profile, options.config, overrides)


def _talk(options: argparse.Namespace, settings: Settings) -> int:
    if options.command == "reply":
        from etl.cli.reply_shell import open_replies

        return open_replies(settings, options.model, options.intent)
    from etl.cli.chat import open_chat, typed_lines

    return open_chat(settings, options.bot, typed_lines(sys.stdin), options.model, options.save, options.pair)


class RunError(RuntimeError):
    """A run's failure: exit status 1, one line."""


def _run(settings: Settings, stages: list[Stage], again: bool) -> int:
    os.environ.setdefault("MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR", "false")
    os.environ.setdefault("MLFLOW_LOGGING_LEVEL", "WARNING")
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    from etl.cli.faults import fault_line
    from etl.pipeline.session import close_session, spark_session

    running: list[str] = []
    try:
        spark = spark_session(settings)
        try:
            _run_stages(spark, settings, stages, again, running)
        finally:
            with suppress(Exception):  # a lost Java process cannot be stopped, and its loss is told already
                close_session(spark, settings)
    except InputError:
        raise
    except Exception as error:
        raise RunError(fault_line(error, settings, *running[-1:])) from error
    return 0


def _run_stages(
    spark: "SparkSession", settings: Settings, stages: list[Stage], again: bool, running: list[str]
) -> None:
    """Run the stages that have work, and add the name of each to ``running`` before."""
    from etl.cli.lease import events, leased
    from etl.cli.stage_events import followed, recorder
    from etl.pipeline.planner import PipelineContext
    from etl.pipeline.progress import Progress
    from etl.pipeline.runner import run_stage

    known, context = events(spark, settings), PipelineContext(spark, settings)
    for table in followed(settings):
        context.lakehouse.feed_changes(table)
    progress = Progress(spark, len(stages))
    ran = recorder(settings, context, progress.say)
    for stage in stages:
        running.append(stage.name)
        given = context.is_given(stage)
        if given is not None and len(stages) > 1:
            with progress.stage(f"{stage.name} (model given: {given})", None):
                continue
        plan = context.plan(stage, again)
        if plan.why is None:
            with progress.stage(
                stage.name + (f" ({stage.enabled_if} is false)" if context.is_off(stage) else ""), None
            ):
                continue
        with leased(spark, settings, stage.name):
            if events(spark, settings) != known:  # another run has done something meanwhile
                context = PipelineContext(spark, settings)
                plan = context.plan(stage, again)
            work = partial(run_stage, context, stage, plan, progress)
            with progress.stage(stage.name, plan.why):
                event = ran(stage, plan, work) if plan.why is not None else None
        known = events(spark, settings)
        if event is not None:
            progress.done(event)


def _one_distribution() -> None:
    """The four packages have common names: refuse to start on a mix of ours and somebody else's."""
    import conf
    import etl
    import jobs
    import udfs

    packages = (conf, etl, jobs, udfs)
    homes = {str(next(iter(package.__path__))).rsplit("/", 1)[0]: package.__name__ for package in packages}
    if len(homes) > 1:
        places = ", ".join(f"{name} from {home}" for home, name in homes.items())
        raise InputError(f"packages come from different places ({places}): keep one on the Python path")
