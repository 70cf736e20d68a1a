"""``python -m jobs COMMAND|STAGE``."""

import sys

from etl.cli.command_line import main


def entry() -> None:
    """Run the command line, and raise SystemExit on failure for runtimes that ignore return values."""
    if status := main():
        raise SystemExit(status)


if __name__ == "__main__":
    sys.exit(main())
