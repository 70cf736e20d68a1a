"""The command line: ``python -m jobs``, the installed ``edos-lakehouse``, and ``spark-submit jobs/__main__.py``."""

import os
import sys
import traceback
from collections.abc import Sequence

import click
from click.shell_completion import shell_complete

from conf.errors import InputError
from conf.telemetry import without_telemetry
from etl.cli.commands import COMPLETE, PROGRAM, VERBOSE, program, spread
from etl.cli.redacted_output import redacted_output
from udfs.text_files import is_unicode


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
    verbose = any(one in arguments for one in VERBOSE.opts)
    try:
        status = _main(arguments)
        sys.stdout.flush()
        return status
    except InputError as error:
        if verbose:
            traceback.print_exc()
        print(f"edos-lakehouse: {error}", file=sys.stderr)
        return error.status
    except KeyboardInterrupt as stop:
        print(f"edos-lakehouse: {' '.join(['stopped', *map(str, stop.args)])}; run again to continue", file=sys.stderr)
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
        print(f"edos-lakehouse: {line} (--verbose for details)", file=sys.stderr)
        return 1


def _main(arguments: list[str]) -> int:
    _require_unicode(arguments)
    _one_distribution()
    asked = os.environ.get(COMPLETE)
    if asked is not None:
        return shell_complete(program, {}, PROGRAM, COMPLETE, asked)
    if not arguments:
        raise InputError(f"name a command or a stage: {', '.join(program.commands)} (see {PROGRAM} --help)")
    try:
        with program.make_context(PROGRAM, list(spread(arguments))) as context:
            return int(program.invoke(context) or 0)
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.UsageError as error:
        at = error.ctx.command_path if error.ctx is not None else PROGRAM
        raise InputError(f"{error.format_message()} (see {at} --help)") from error


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
