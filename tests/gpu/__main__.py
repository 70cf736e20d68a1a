"""Try all that runs on a GPU, and measure it: ``make gpu``.

    python -m tests.gpu [--seconds 8]

It needs no network and no weights: models are drawn in the papers' sizes. With a GPU it writes the measured part of
``docs/gpu.md`` and takes at most eight minutes. Without one it tries the path on the CPU with small models and writes
nothing. The exit status is 1 where a check fails.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import torch

from tests.gpu.checks import Bench, Check, checked
from tests.gpu.models import PAPERS, TRIAL
from tests.gpu.speeds import Speed, measured

PAGE = Path(__file__).resolve().parents[2] / "docs" / "gpu.md"
BEGIN = "<!-- measured by make gpu -->"
END = "<!-- end of what make gpu measured -->"


def check_lines(checks: Sequence[Check]) -> list[str]:
    """Return the table of checks."""
    verdicts = {True: "yes", False: "**no**", None: ""}
    rows = [f"| {one.what} | {one.found} | {one.wanted} | {verdicts[one.right]} |" for one in checks]
    return ["| check | found | wanted | right |", "|---|---|---|---|", *rows]


def speed_lines(speeds: Sequence[Speed]) -> list[str]:
    """Return the table of speeds."""
    rows = []
    for one in speeds:
        theirs = "" if one.theirs is None else f"{one.peer} {one.theirs:,.0f}"
        ratio = "" if not one.theirs else f"{one.ours / one.theirs:.2f}"
        share = "" if one.share is None else f"{one.share:.0%}"
        rows.append(f"| {one.work} | {found(one)} | {theirs} | {ratio} | {share} |")
    return ["| work | ours | peer | ratio | share of the peak |", "|---|---|---|---|---|", *rows]


def found(speed: Speed) -> str:
    """Return what was measured, with its unit."""
    digits = 1 if speed.ours < 100 else 0
    return f"{speed.ours:,.{digits}f} {speed.unit}"


def write_page(lines: Sequence[str]) -> None:
    """Replace the measured part of the page."""
    text = PAGE.read_text("utf-8")
    (before, _, rest) = text.partition(BEGIN)
    (_, _, after) = rest.partition(END)
    PAGE.write_text("\n".join([before + BEGIN, "", *lines, "", END]) + after, "utf-8")


def main() -> int:
    """Check, measure, print, and write the page where there is a GPU."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=8.0, help="of each measurement (default 8)")
    given = parser.parse_args()
    gpu = torch.cuda.is_available()
    began = time.monotonic()
    checks = []
    speeds = []
    with tempfile.TemporaryDirectory() as folder:
        device = torch.device("cuda", 0) if gpu else torch.device("cpu")
        bench = Bench(device, PAPERS if gpu else TRIAL, Path(folder), 4_000 if gpu else 400)
        for check in checked(bench):
            checks.append(check)
            print(f"{time.monotonic() - began:4.0f} s  {check.what}: {check.found}", file=sys.stderr, flush=True)
        for speed in measured(bench, given.seconds if gpu else 1.0):
            speeds.append(speed)
            print(f"{time.monotonic() - began:4.0f} s  {speed.work}: {found(speed)}", file=sys.stderr, flush=True)
    lines = [*check_lines(checks), "", *speed_lines(speeds)]
    print("\n".join(lines))
    if gpu:
        today = datetime.now(UTC).strftime("%Y-%m-%d")
        name = torch.cuda.get_device_name(0)
        write_page([f"`make gpu` on {today}: {name}, {time.monotonic() - began:.0f} s.", "", *lines])
    else:
        print("\nNo GPU: small models on the CPU, to try the path; these speeds say nothing, and no page is written.")
    return 1 if any(check.right is False for check in checks) else 0


if __name__ == "__main__":
    sys.exit(main())
