"""Attack the readers of subtitles, and print what became of the inputs.

    python -m tests.attacks [--inputs N] [--seed N] [--processes N] [--minutes N] [--markdown]

The exit status is 1 if an input was not survived or a process took more than 1,500 MB. A process that dies, or takes an
hour for a part of an attack, counts as one that survived none of it.
"""

import argparse
import faulthandler
import multiprocessing
import os
import sys
import time
from multiprocessing.connection import Connection, wait

from tests.attacks.suite import ATTACKS, LARGE_FILES, SHARES, Tally, run

_PART = 250
_LONGEST = 3600
_MOST_MEGABYTES = 1_500
_LINE_END = "\r" if sys.stderr.isatty() else "\n"
Part = tuple[str, range, int]
_HEADINGS = (
    "attack",
    "tried",
    "right",
    "named fault",
    "rows lost",
    "rows doubled",
    "crashed",
    "slowest input, CPU s",
    "peak memory, MB",
)


def parts(inputs: int, seed: int) -> list[Part]:
    """Return parts of all attacks, mixed so that a run that is cut short has tried the same share of each.

    Args:
        inputs: for the reader of subtitle files; the large files come on top, if there are any.
        seed: of the inputs.
    """
    found: list[tuple[float, Part]] = []
    counts = {attack: round(inputs * share) for attack, share in SHARES.items()}
    for attack, count in counts.items():
        for first in range(0, count, _PART):
            found.append((first / count, (attack, range(first, min(first + _PART, count)), seed)))
    for number in range(LARGE_FILES if inputs else 0):
        found.append((number / LARGE_FILES, ("large files", range(number, number + 1), seed)))
    return [part for _, part in sorted(found, key=lambda one: one[0])]


def attacked(inputs: int, seed: int, processes: int, until: float) -> list[Tally]:
    """Try all inputs, or those begun in time, and return a tally for each attack.

    Each part runs in a process of its own; one that dies or hangs survived none of it.
    """
    tallies = {attack: Tally(attack) for attack in ATTACKS}
    waiting = parts(inputs, seed)
    whole = len(waiting)
    done = 0
    running: list[_Trial] = []
    while waiting or running:
        while waiting and len(running) < processes:
            running.append(_Trial(waiting.pop(0)))
        wait([trial.answer for trial in running], timeout=10)
        for trial in [trial for trial in running if trial.is_over()]:
            running.remove(trial)
            tally = trial.tally()
            tallies[tally.attack].add(tally)
            done += 1
            if sys.stderr.isatty() or done % 50 == 0 or done == whole:
                print(f"{done} of {whole} parts", end=_LINE_END, file=sys.stderr, flush=True)
        if time.monotonic() > until:
            waiting.clear()
    print(file=sys.stderr)
    return [tally for tally in tallies.values() if tally.tried]


class _Trial:
    """A part of an attack that runs in a process."""

    def __init__(self, part: Part) -> None:
        self._part = part
        self._began = time.monotonic()
        forking = multiprocessing.get_context("fork")
        self.answer, theirs = forking.Pipe(duplex=False)
        self._process = forking.Process(target=_send_tally, args=(theirs, part))
        self._process.start()
        theirs.close()

    def is_over(self) -> bool:
        """Return whether the process has answered or ended, or has had its time."""
        return self.answer.poll() or time.monotonic() - self._began > _LONGEST

    def tally(self) -> Tally:
        """Return the answer, or that there is none, and end the process."""
        problem = f"hung for {_LONGEST} s"
        try:
            if self.answer.poll():
                tally: Tally = self.answer.recv()
                return tally
        except EOFError:
            self._process.join()
            problem = f"died with exit status {self._process.exitcode}"
        finally:
            self._process.kill()
            self._process.join()
            self.answer.close()
        attack, numbers, seed = self._part
        failure = f"{attack} {seed}/{numbers.start}..{numbers.stop - 1}: the process {problem}"
        return Tally(attack, tried=len(numbers), crashed=len(numbers), failures=[failure])


def _send_tally(sink: Connection, part: Part) -> None:
    faulthandler.enable()
    sink.send(run(*part))


def table(tallies: list[Tally], markdown: bool, columns: int = len(_HEADINGS)) -> list[str]:
    """Return the lines of the table's first columns, with a last one for all attacks."""
    whole = Tally("all")
    for tally in tallies:
        whole.add(tally)
    rows = [
        (
            tally.attack,
            f"{tally.tried:,}",
            f"{tally.survived - tally.named:,}",
            f"{tally.named:,}",
            f"{tally.lost:,}",
            f"{tally.doubled:,}",
            f"{tally.crashed:,}",
            f"{tally.slowest:.1f}",
            f"{tally.peak:,.0f}",
        )
        for tally in (*tallies, whole)
    ]
    rows = [row[:columns] for row in (_HEADINGS, *rows)]
    if markdown:
        ruler = "|---|" + "---:|" * (columns - 1)
        head, *body = ("| " + " | ".join(row) + " |" for row in rows)
        return [head, ruler, *body]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.rjust(width) if place else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]


def main() -> int:
    """Attack, print the table and what was not survived."""
    parser = argparse.ArgumentParser(prog="python -m tests.attacks", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--inputs", type=int, default=150_000, help="subtitles, apart from the large files (default 150,000)"
    )
    parser.add_argument("--seed", type=int, default=0, help="other seeds make other inputs (default 0)")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1, help="default: one a core")
    parser.add_argument(
        "--minutes", type=float, default=float("inf"), help="begin no input after so long (default: all)"
    )
    parser.add_argument("--markdown", action="store_true", help="print the table as Markdown")
    given = parser.parse_args()
    tallies = attacked(given.inputs, given.seed, given.processes, time.monotonic() + 60 * given.minutes)
    print("\n".join(table(tallies, given.markdown)))
    failures = [failure for tally in tallies for failure in tally.failures]
    failures += [f"{tally.attack}: {tally.peak:,.0f} MB" for tally in tallies if tally.peak > _MOST_MEGABYTES]
    for failure in failures[:50]:
        print(failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
