"""The command line: ``python -m jobs``, the installed ``edos-lakehouse``, and each job file by spark-submit."""

import argparse
import os
import sys
from collections.abc import Sequence

from conf.errors import InputError
from conf.settings import PROFILES, Settings, load_settings
from etl.lakehouse.stage import Stage

COMMANDS = {
    "run": "run every stage that has work to do",
    "plan": "say which stages would run, and why",
    "status": "show each stage's last run",
    "estimate": "estimate the work ahead from what was measured",
    "sql": "open spark-sql with the tables and views by name",
    "chat": "talk with a support chatbot (AugESC), under supervision",
    "demo": "make the demo corpus and run the whole pipeline on it",
    "restore-text": "put the texts back into an export that has references to OPUS",
    "fetch-jars": "fetch the jars of local sessions (make install does)",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit status: 0 done, 2 bad settings or input, 1 failure."""
    try:
        return _main(list(sys.argv[1:] if arguments is None else arguments))
    except InputError as error:
        print(f"edos-lakehouse: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("edos-lakehouse: stopped; run again to go on", file=sys.stderr)
        return 1
    except Exception as error:
        if "--traceback" in (arguments or sys.argv):
            raise
        print(f"edos-lakehouse: {_first_line(error)} (--traceback tells more)", file=sys.stderr)
        return 1


def _main(arguments: list[str]) -> int:
    _one_distribution()
    options = _parser().parse_args(arguments)
    if options.command == "fetch-jars":
        from etl.lakehouse.class_archive import archive_path, make_archive
        from etl.lakehouse.jars import fetch_jars

        print(f"{fetch_jars()} jars at hand")
        if not archive_path().is_file() and not make_archive():
            print("no archive of their classes could be made: sessions start more slowly")
        return 0
    overrides = [text for group in options.set for text in group]
    if options.command == "demo":
        from etl.lakehouse.commands.demo import demo_settings

        settings = demo_settings(options.profile, options.config, overrides)
        options.command = "run"
    else:
        settings = load_settings(options.profile, options.config, overrides)
    if options.command == "chat":
        from etl.lakehouse.commands.chat import open_chat, typed_lines

        return open_chat(
            settings, options.bot, typed_lines(sys.stdin), options.model, options.save, options.pair
        )  # fmt: skip
    from etl.lakehouse.pipeline import all_stages, chosen

    stages = all_stages()
    if options.command not in COMMANDS:
        return _run(settings, chosen(stages, only=options.command), options.again)
    if options.command == "sql":
        from etl.lakehouse.commands.sql_shell import open_sql

        return open_sql(settings, options.execute)
    if options.command == "restore-text":
        from etl.lakehouse.publishing.dataset_export import restore_text

        return restore_text(settings)
    stages = chosen(stages, to=options.to, start=options.start, only=options.only)
    if options.command == "run":
        return _run(settings, stages, options.again)
    from etl.lakehouse.commands import overviews

    show = {"plan": overviews.plan, "status": overviews.status, "estimate": overviews.estimate}[options.command]
    return show(settings, stages)


def _run(settings: Settings, stages: list[Stage], again: bool) -> int:
    os.environ.setdefault("MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR", "false")
    os.environ.setdefault("MLFLOW_LOGGING_LEVEL", "WARNING")
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    from etl.lakehouse.pipeline import Workplace
    from etl.lakehouse.progress import Progress
    from etl.lakehouse.runner import run_stage
    from etl.lakehouse.session import close_session, spark_session

    spark = spark_session(settings)
    try:
        place = Workplace(spark, settings)
        progress = Progress(spark, len(stages))
        for stage in stages:
            given = place.is_given(stage)
            if given is not None and len(stages) > 1:
                with progress.stage(f"{stage.name} (model given: {given})", None):
                    continue
            need = place.need(stage, again)
            off = f" ({stage.when} is false)" if need.why is None and place.is_off(stage) else ""
            with progress.stage(stage.name + off, need.why):
                event = run_stage(place, stage, need, progress) if need.why is not None else None
            if event is not None:
                progress.done(event)
        return 0
    finally:
        close_session(spark, settings)


def _parser() -> argparse.ArgumentParser:
    names = "\n".join(f"  {name:14s}{text}" for name, text in COMMANDS.items())
    parser = argparse.ArgumentParser(
        prog="edos-lakehouse",
        description="Spark jobs from subtitle files to emotion-labelled dialogues.",
        epilog=f"commands:\n{names}\n  STAGE         run one stage (plan lists them)",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("command", metavar="COMMAND", help="a command below, or the name of a stage")
    parser.add_argument("--profile", default="local", help=f"one of {', '.join(PROFILES)} (default local)")
    parser.add_argument("--config", action="append", default=[], metavar="FILE", help="YAML over the profile")
    parser.add_argument(
        "--set",
        action="append",
        nargs="+",
        default=[],
        metavar="KEY=VALUE",
        help="section.key=value, in YAML",
    )
    parser.add_argument("--to", metavar="STAGE[,STAGE]", help="only these stages and those they need")
    parser.add_argument("--from", dest="start", metavar="STAGE", help="only this stage and those after it")
    parser.add_argument("--only", metavar="STAGE", help="only this stage")
    parser.add_argument("--again", action="store_true", help="do the chosen stages again from their inputs")
    parser.add_argument("--traceback", action="store_true", help="show where a failure came from")
    parser.add_argument(
        "--bot", choices=("esconv", "augesc"), default="esconv", help="with chat: which of the two bots"
    )
    parser.add_argument("--model", metavar="URI", help="with chat: another model, as models:/augesc-chatbot@champion")
    parser.add_argument("--save", metavar="FILE", help="with chat: add the talk to this file of JSON Lines")
    parser.add_argument("--pair", metavar="NAME", help="with chat --save: the participant's talks with both bots")
    parser.add_argument("-e", "--execute", metavar="SQL", help="with sql: run this and leave; several are parted by ;")
    return parser


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


def _first_line(error: Exception) -> str:
    text = str(error)
    for line in text.splitlines():
        if line.startswith(("conf.errors.InputError", "ValueError", "RuntimeError")):
            return line.strip()
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0] if lines else 'no message'}"
