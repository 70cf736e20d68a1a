"""``python -m jobs COMMAND|STAGE``."""

import signal
import sys
import threading


def run() -> int:
    """Run the command line; return the exit status."""
    if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # a scheduler's stop ends as Ctrl+C does
    try:
        from etl.cli.command_line import main
    except ModuleNotFoundError as error:
        if str(error.name).partition(".")[0] in ("conf", "etl", "jobs", "udfs"):
            raise
        print(
            f"edos-lakehouse: package {error.name} is not in {sys.prefix}: run `make install` and activate .venv "
            "(`. .venv/bin/activate`)",
            file=sys.stderr,
        )
        return 2
    except KeyboardInterrupt:  # while modules are read, which takes some seconds
        print("edos-lakehouse: stopped", file=sys.stderr)
        return 1
    return main()


def entry() -> None:
    """Run the command line, and raise SystemExit on failure for runtimes that ignore return values."""
    if status := run():
        raise SystemExit(status)


if __name__ == "__main__":
    sys.exit(run())
