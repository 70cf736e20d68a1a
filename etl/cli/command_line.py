"""The command line: ``python -m jobs``, the installed ``edos-lakehouse``, and ``spark-submit jobs/__main__.py``."""

import argparse
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from conf.errors import InputError
from conf.settings import Settings, load_settings
from conf.telemetry import without_telemetry
from etl.cli.options import COMMANDS, TRACE, parsed
from etl.cli.redacted_output import redacted_output
from udfs.text_files import is_unicode

if TYPE_CHECKING:
    from etl.pipeline.stages import Stage


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit status.

    0: done. 1: a failure. 2: bad settings or input. 3: a stage would lose too many rows. 4: in use by another run.
    5: `check` found a fault.
    """
    os.environ.setdefault("MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR", "false")
    os.environ.setdefault("MLFLOW_LOGGING_LEVEL", "WARNING")
    without_telemetry()
    with redacted_output():
        return _guarded(list(sys.argv[1:] if arguments is None else arguments))


def _guarded(arguments: list[str]) -> int:
    verbose = any(one in arguments for one in TRACE)
    try:
        status = _main(arguments)
        sys.stdout.flush()
        return status
    except InputError as error:
        if verbose:
            traceback.print_exc()
        print(f"edos-lakehouse: {error}", file=sys.stderr)
        return error.status
    except KeyboardInterrupt:
        print("edos-lakehouse: stopped; run again to go on", file=sys.stderr)
        return 1
    except BrokenPipeError:  # who reads the output, such as head, has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:
        if verbose:
            traceback.print_exc()
            return 1
        from etl.cli.run_errors import RunError, fault_line

        line = str(error) if isinstance(error, RunError) else fault_line(error)
        print(f"edos-lakehouse: {line} (--verbose tells more)", file=sys.stderr)
        return 1


def _main(arguments: list[str]) -> int:  # noqa: PLR0911
    _require_unicode(arguments)
    _one_distribution()
    options = parsed(arguments)
    if options.command == "fetch-jars":
        from etl.cli.jars import fetch_jars, make_archive
        from etl.pipeline.java_homes import java_home

        print(f"{fetch_jars()} jars at hand")
        if not make_archive(java_home()):
            print("no archive of their classes could be made: sessions start more slowly")
        return 0
    if options.command == "fetch-data":
        from etl.cli.fetch_data import Wanted, fetch_data

        out = Path(options.out)
        write = Path(options.write) if options.write else out / "settings.yaml"
        source = None if options.source is None else Path(options.source)
        return fetch_data(Wanted(options.names, out, write, options.language, source, options.address, options.accept))
    if options.command == "completion":
        from etl.cli.completion import script

        print(script(options.shell), end="")
        return 0
    settings = _settings(options)
    opened = _opened(options, settings)
    if opened is not None:
        return opened
    from etl.cli.running import run
    from etl.pipeline.planner import chosen
    from jobs import all_stages

    stages = [stage.under(settings) for stage in all_stages()]
    if options.command not in COMMANDS:
        return run(settings, _of_the_set(chosen(stages, only=options.command), settings), options.again)
    if options.command == "withdraw":
        from etl.cli.withdraw import withdraw

        return withdraw(settings, stages, {"film": options.film, "file": options.file}, options.reason, options.undo)
    if options.command == "maintain":
        from etl.cli.maintain import maintain

        return maintain(settings, [stage.name for stage in stages], options.dry_run)
    stages = _of_the_set(_chosen(stages, options), settings)
    if options.command in ("run", "demo"):
        return run(settings, stages, options.again)
    if options.command == "estimate":
        from etl.cli.estimate import estimate

        return estimate(settings, stages, options.files, options.pilot)
    if options.command == "check":
        from etl.cli.check import check

        return check(settings, stages, options.json)
    from etl.cli import overviews

    show = {"plan": overviews.plan, "status": overviews.status}[options.command]
    return show(settings, stages, options.json)


def _chosen(stages: "list[Stage]", options: argparse.Namespace) -> "list[Stage]":
    """Return the stages that ``--to``, ``--from`` and ``--only`` select; without them, those that always run.

    The demo has more that always run.
    """
    from etl.cli.demo import demo_stages
    from etl.pipeline.planner import chosen

    if _is_demo(options) and not (options.to or options.start or options.only):
        return demo_stages(stages)
    return chosen(stages, to=options.to, start=options.start, only=options.only)


def _of_the_set(stages: "list[Stage]", settings: Settings) -> "list[Stage]":
    """Return the stages; with ``lakehouse.set``, those that make this set."""
    from etl.pipeline.planner import in_sets

    return in_sets(stages) if settings.lakehouse.set else stages


def _opened(options: argparse.Namespace, settings: Settings) -> int | None:
    """Run a command that runs no stages, and return its exit status; None for another one."""
    command = _COMMANDS.get(options.command)
    return None if command is None else command(options, settings)


def _sql(options: argparse.Namespace, settings: Settings) -> int:
    from etl.cli.sql_shell import open_sql

    return open_sql(settings, options.execute and ";\n".join(options.execute), options.csv, options.engine)


def _check_tables(options: argparse.Namespace, settings: Settings) -> int:
    from etl.cli.check_tables import check_tables

    return check_tables(settings, options.set_aside)


def _convokit(options: argparse.Namespace, settings: Settings) -> int:
    from etl.cli.convokit import open_convokit

    return open_convokit(settings, options.export, options.out)


def _mlflow(options: argparse.Namespace, settings: Settings) -> int:
    from etl.cli.mlflow_pages import open_mlflow

    return open_mlflow(settings, options.port, options.link)


def _register(options: argparse.Namespace, settings: Settings) -> int:
    from etl.cli.register import register

    return register(settings, options.catalog)


def _export_model(options: argparse.Namespace, settings: Settings) -> int:
    from etl.cli.model_export import open_export

    return open_export(settings, options.name, options.out)


def _doctor(options: argparse.Namespace, settings: Settings) -> int:
    from etl.cli.doctor import doctor

    return doctor(settings)


def _read(options: argparse.Namespace, settings: Settings) -> int:
    from etl.cli.read_shell import open_read

    return open_read(settings, options.film, options.n, label=options.label, reason=options.reason, seed=options.seed)


def _trace(options: argparse.Namespace, settings: Settings) -> int:
    from etl.cli.trace import trace

    return trace(settings, options.dialogue_id)


def _restore_text(options: argparse.Namespace, settings: Settings) -> int:
    from etl.publishing.dataset_export import restore_text

    return restore_text(settings)


def _reply(options: argparse.Namespace, settings: Settings) -> int:
    from etl.cli.reply_shell import open_replies

    return open_replies(settings, options.model, options.intent)


def _chat(options: argparse.Namespace, settings: Settings) -> int:
    from etl.cli.chat import open_chat, typed_lines

    return open_chat(settings, options.bot, typed_lines(sys.stdin), options.model, options.save, options.pair)


_COMMANDS: dict[str, Callable[[argparse.Namespace, Settings], int]] = {
    "sql": _sql,
    "check-tables": _check_tables,
    "convokit": _convokit,
    "mlflow": _mlflow,
    "register": _register,
    "doctor": _doctor,
    "export-model": _export_model,
    "read": _read,
    "trace": _trace,
    "restore-text": _restore_text,
    "reply": _reply,
    "chat": _chat,
}
"""The commands that run no stages; each imports what it needs, for others start faster without it."""


def _settings(options: argparse.Namespace) -> Settings:
    overrides = [text for group in options.set for text in group]
    if not _is_demo(options):
        return load_settings(options.profile, options.config, overrides)
    from etl.cli.demo import demo_corpus, demo_settings

    if options.command == "demo":
        demo_corpus()
    return demo_settings(options.profile, options.config, overrides)


def _is_demo(options: argparse.Namespace) -> bool:
    return options.command == "demo" or bool(options.demo)


def _require_unicode(arguments: Sequence[str]) -> None:
    """Raise an InputError where an argument, or the folder that relative paths begin in, is not UTF-8.

    Python reads such bytes as lone surrogates; Java cannot take them, and YAML, JSON and tables neither.
    """
    for what, text in (*(("the argument", one) for one in arguments), ("the folder that you are in", os.getcwd())):  # noqa: PTH109
        if not is_unicode(text):
            known = text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
            raise InputError(f"{what} {known!r} is not UTF-8, which Spark cannot take: rename the file or folder")


def _one_distribution() -> None:
    """Raise an InputError where the four packages, which have common names, come from different places."""
    import conf
    import etl
    import jobs
    import udfs

    packages = (conf, etl, jobs, udfs)
    homes = {str(next(iter(package.__path__))).rsplit("/", 1)[0]: package.__name__ for package in packages}
    if len(homes) > 1:
        places = ", ".join(f"{name} from {home}" for home, name in homes.items())
        raise InputError(f"packages come from different places ({places}): keep one on the Python path")
