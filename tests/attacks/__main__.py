"""Attack the readers of subtitles with hostile inputs, and print what became of them.

    python -m tests.attacks [--inputs N] [--seed N]

The exit status is 1 if an input was not survived or the process took more than 1,500 MB.
"""

import argparse
import sys

from tests.attacks.suite import LARGE_FILES, SHARES, run, table

_MOST_MEGABYTES = 1_500


def main() -> int:
    """Attack, print the table and what was not survived."""
    parser = argparse.ArgumentParser(prog="python -m tests.attacks", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--inputs", type=int, default=150_000, help="apart from the large files (default 150,000)")
    parser.add_argument("--seed", type=int, default=0, help="other seeds make other inputs (default 0)")
    given = parser.parse_args()
    counts = {attack: round(given.inputs * share) for attack, share in SHARES.items()} | {"large files": LARGE_FILES}
    tallies = [run(attack, range(count), given.seed) for attack, count in counts.items()]
    print("\n".join(table(tallies)))
    failures = [failure for tally in tallies for failure in tally.failures]
    failures += [f"{tally.attack}: {tally.peak:,.0f} MB" for tally in tallies if tally.peak > _MOST_MEGABYTES]
    print(*failures[:50], sep="\n")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
