"""Write the demo corpus: ``python -m etl.demo --to FOLDER [--films N] [--seed N]``."""

import argparse
import sys
from pathlib import Path

from conf.errors import InputError
from etl.demo.corpus import write_demo


def main(arguments: list[str] | None = None) -> int:
    """Write the corpus and print its contents; return 2 on bad arguments."""
    parser = argparse.ArgumentParser(prog="python -m etl.demo", description=__doc__)
    parser.add_argument("--to", type=Path, required=True, help="folder to write to")
    parser.add_argument("--films", type=int, default=300)
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args(arguments)
    try:
        facts = write_demo(options.to, options.films, options.seed)
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    print(f"{facts} in {options.to}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
