"""Disturb a tiny pipeline with faults from a seed, and print what became of its rows.

    python -m tests.chaos [--kills N] [--stops N] [--trials N] [--seed N] [--only NAME] [--memory]

The exit status is 1 if a trial did not end in the rows of an undisturbed run.
"""

import argparse
import os
import sys
import tempfile
from contextlib import nullcontext
from pathlib import Path

from etl.pipeline.session import spark_session
from tests.attacks.suite import table
from tests.chaos.attacks import ATTACKS, Field
from tests.chaos.tiny import Tiny
from tests.memory_tables import memory_tables


def main() -> int:
    """Disturb, print the table and what was not survived."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--kills", type=int, default=50, help="processes to kill (default 50)")
    parser.add_argument("--stops", type=int, default=1_000, help="most stops at a commit (default: at every commit)")
    parser.add_argument("--trials", type=int, default=10, help="most trials of every other fault (default 10)")
    parser.add_argument("--seed", type=int, default=0, help="other seeds choose other moments (default 0)")
    parser.add_argument("--only", action="append", default=[], help="an attack by its function's name, repeatable")
    parser.add_argument("--memory", action="store_true", help="tables in memory, two films: for --only stops")
    given = parser.parse_args()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    tallies = []
    tables = memory_tables() if given.memory else nullcontext()
    with tempfile.TemporaryDirectory() as folder, tables:
        tiny = Tiny.made(Path(folder, "tiny"), **({"films": 2} if given.memory else {}))
        here = {"spark.master": "local[2]", "spark.short_session": True}
        spark = spark_session(tiny.settings(Path(folder, "lake"), **here), "chaos")
        place = Field(tiny, Path(folder), spark)
        for attack in ATTACKS:
            if given.only and attack.__name__ not in given.only:
                continue
            most = {"kills": given.kills, "stops": given.stops}.get(attack.__name__, given.trials)
            if most:
                tallies.append(attack(place, most, given.seed))
                print("\n".join(table(tallies)), *tallies[-1].failures, sep="\n", flush=True)
    return 1 if any(tally.failures for tally in tallies) else 0


if __name__ == "__main__":
    sys.exit(main())
