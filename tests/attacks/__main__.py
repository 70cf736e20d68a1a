"""Attack the reader of subtitle files with inputs from a seed, and print what became of them.

    python -m tests.attacks [--inputs N] [--seed N] [--processes N] [--markdown]

The exit status is 1 if an input was not survived. A process that dies, or takes 10 minutes for a part of an attack,
counts as one that survived none of it.
"""

import argparse
import faulthandler
import multiprocessing
import os
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection

from tests.attacks.suite import ATTACKS, LARGE_FILES, SHARES, Tally, run

_PART = 250
_LONGEST = 600
_HEADINGS = ("attack", "tried", "survived", "rows lost", "rows doubled", "slowest input, s", "peak memory, MB")


def parts(inputs: int, seed: int) -> Iterator[tuple[str, range, int]]:
    """Yield parts of all attacks, in the order of the table; large files one by one."""
    for attack, share in SHARES.items():
        count = round(inputs * share)
        for first in range(0, count, _PART):
            yield attack, range(first, min(first + _PART, count)), seed
    for kind in range(LARGE_FILES):
        yield "large files", range(kind, kind + 1), seed


def attacked(inputs: int, seed: int, processes: int) -> list[Tally]:
    """Try all inputs and return a tally for each attack; each part runs in a process of its own."""
    tallies = {attack: Tally(attack) for attack in ATTACKS}
    waiting = list(parts(inputs, seed))
    with ThreadPoolExecutor(processes) as pool:
        for number, tally in enumerate(pool.map(_in_a_process, waiting), 1):
            tallies[tally.attack].add(tally)
            print(f"\r{number} of {len(waiting)} parts", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return list(tallies.values())


def _in_a_process(part: tuple[str, range, int]) -> Tally:
    """Try a part of an attack; a process that dies or hangs survived none of it."""
    forking = multiprocessing.get_context("fork")
    ours, theirs = forking.Pipe(duplex=False)
    process = forking.Process(target=_send_tally, args=(theirs, part))
    process.start()
    theirs.close()
    try:
        tally: Tally = ours.recv() if ours.poll(_LONGEST) else _lost(part, f"hung for {_LONGEST} s")
    except EOFError:
        process.join()
        tally = _lost(part, f"died with exit status {process.exitcode}")
    process.kill()
    process.join()
    return tally


def _send_tally(sink: Connection, part: tuple[str, range, int]) -> None:
    faulthandler.enable()
    sink.send(run(*part))


def _lost(part: tuple[str, range, int], problem: str) -> Tally:
    attack, numbers, seed = part
    failure = f"{attack} {seed}/{numbers.start}..{numbers.stop - 1}: the process {problem}"
    return Tally(attack, tried=len(numbers), failures=[failure])


def table(tallies: list[Tally], markdown: bool) -> list[str]:
    """Return the lines of the table, with a last one for all attacks."""
    whole = Tally("all")
    for tally in tallies:
        whole.add(tally)
    rows = [
        (tally.attack, f"{tally.tried:,}", f"{tally.survived:,}", f"{tally.lost:,}", f"{tally.doubled:,}",
         f"{tally.slowest:.1f}", f"{tally.peak:,.0f}")
        for tally in (*tallies, whole)
    ]  # fmt: skip
    if markdown:
        ruler = "|---|" + "---:|" * (len(_HEADINGS) - 1)
        head, *body = ("| " + " | ".join(row) + " |" for row in (_HEADINGS, *rows))
        return [head, ruler, *body]
    widths = [max(map(len, column)) for column in zip(_HEADINGS, *rows, strict=True)]
    return [
        "  ".join(
            cell.rjust(width) if place else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in (_HEADINGS, *rows)
    ]


def main() -> int:
    """Attack, print the table and what was not survived."""
    parser = argparse.ArgumentParser(prog="python -m tests.attacks", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--inputs", type=int, default=100_000, help="inputs, apart from the large files (default 100,000)"
    )
    parser.add_argument("--seed", type=int, default=0, help="other seeds make other inputs (default 0)")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1, help="default: one a core")
    parser.add_argument("--markdown", action="store_true", help="print the table as Markdown")
    given = parser.parse_args()
    tallies = attacked(given.inputs, given.seed, given.processes)
    print("\n".join(table(tallies, given.markdown)))
    failures = [failure for tally in tallies for failure in tally.failures]
    for failure in failures[:50]:
        print(failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
