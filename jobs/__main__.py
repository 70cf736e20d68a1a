"""``python -m jobs COMMAND|STAGE``."""

import sys

from etl.cli.command_line import main


def entry() -> None:
    """For runtimes that call an entry point and look at exceptions, not at what it returns."""
    status = main()
    if status:
        raise SystemExit(status)


if __name__ == "__main__":
    sys.exit(main())
