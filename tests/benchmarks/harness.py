"""What the benchmarks share: alternating rounds, medians, progress, results, the machine they ran on."""

import argparse
import hashlib
import importlib.metadata
import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[2]
SLOWING = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
"""Variables that make numpy take slower kernels than the machine has; benchmarks run without them."""
INSTRUCTIONS = {
    "avx2": "AVX2",
    "avx512f": "AVX-512",
    "avx512_vnni": "AVX512-VNNI",
    "avx512_bf16": "AVX512-BF16",
    "amx_bf16": "AMX-BF16",
}


def content_share(text: str) -> float:
    """Return a number in [0, 1) from the first 32 bits of the SHA-256 of a text."""
    return int(hashlib.sha256(text.encode()).hexdigest()[:8], 16) / 16**8


@dataclass(frozen=True)
class Row:
    """One comparison.

    Attributes:
        work: what was done.
        ours, theirs: figures with their unit, as the page shows them.
        peer: what ours is compared with.
        ratio: how many times as fast ours is, or another figure that the aim speaks of.
        least, most: the aim; None for a figure that is only reported.
        before: the same ratio or figure before this round of work.
    """

    work: str
    ours: str
    peer: str
    theirs: str
    ratio: float
    least: float | None = None
    most: float | None = None
    before: str = ""

    @property
    def aim(self) -> str:
        """The aim in words."""
        if self.least is not None:
            return f"at least {self.least:g}"
        return f"at most {self.most:g}" if self.most is not None else "report"

    @property
    def shown(self) -> str:
        """The ratio as the page shows it."""
        return f"{self.ratio:.2f}" if abs(self.ratio) >= 0.01 or self.ratio == 0 else f"{self.ratio:.1e}"

    @property
    def reached(self) -> bool | None:
        """Whether the ratio, as it is shown, meets the aim; None without one."""
        if self.least is None and self.most is None:
            return None
        shown = float(self.shown)
        return (self.least is None or shown >= self.least) and (self.most is None or shown <= self.most)


@dataclass
class Result:
    """All that the page says about one benchmark.

    Attributes:
        title: heading.
        measured: how, in one or two sentences.
        data: which data: real or made by the demo generator, and how many.
        rows: comparisons.
        cause: why an aim is missed; shown only when one is.
        peers: packages whose versions are of interest.
        command: that ran it.
    """

    title: str
    measured: str
    data: str
    rows: list[Row]
    cause: str = ""
    peers: Sequence[str] = ()
    command: str = ""
    date: str = field(default_factory=lambda: datetime.now(UTC).strftime("%Y-%m-%d"))
    machine: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain JSON values."""
        return asdict(self) | {"machine": self.machine or machine(self.peers)}

    @classmethod
    def from_json(cls, saved: Mapping[str, Any]) -> "Result":
        """Read what `to_json` returned."""
        return cls(**{**saved, "rows": [Row(**row) for row in saved["rows"]]})


class Progress:
    """A line on stderr after each step: how far, how long, how long still."""

    def __init__(self, name: str, steps: int) -> None:
        self.name = name
        self.steps = steps
        self.done = 0
        self.began = time.monotonic()

    def step(self, what: str) -> None:
        """Count a step and print the line."""
        self.done += 1
        took = time.monotonic() - self.began
        left = took / self.done * max(0, self.steps - self.done)
        print(
            f"{self.name}: {self.done} of {self.steps}, {what}, {took:.0f} s so far, about {left:.0f} s left",
            file=sys.stderr,
            flush=True,
        )


def alternate(
    works: Mapping[str, Callable[[], Any]],
    rounds: int,
    progress: Progress,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, float]:
    """Run the works in turn, so many rounds, and return each one's median seconds."""
    times: dict[str, list[float]] = {name: [] for name in works}
    for number in range(rounds):
        for name, work in works.items():
            began = clock()
            work()
            times[name].append(clock() - began)
            progress.step(f"{name} round {number + 1}: {times[name][-1]:.2f} s")
    return {name: statistics.median(found) for name, found in times.items()}


def machine(peers: Sequence[str] = ()) -> dict[str, Any]:
    """Describe the machine: processor, cores, instruction sets, memory, Python and the packages' versions."""
    cpu = _proc("/proc/cpuinfo")
    flags = cpu.get("flags", "").split()
    kilobytes = int(_proc("/proc/meminfo").get("MemTotal", "0 kB").split()[0])
    packages = ("torch", "numpy", "pyspark", *peers)
    return {
        "cpu": cpu.get("model name", platform.processor() or "unknown"),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "instructions": [name for flag, name in INSTRUCTIONS.items() if flag in flags],
        "memory_gib": round(kilobytes / 2**20),
        "python": platform.python_version(),
        "versions": {name: _version(name) for name in dict.fromkeys(packages)},
    }


def arguments(description: str | None, rounds: int = 5) -> argparse.ArgumentParser:
    """The options of every benchmark; a module adds its own."""
    parser = argparse.ArgumentParser(description=(description or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=rounds, help=f"alternating rounds (default {rounds})")
    parser.add_argument("--small", action="store_true", help="tiny sizes: to try the benchmark, not to measure")
    parser.add_argument("--json", type=Path, help="write the result there")
    return parser


def hand_in(result: Result, given: argparse.Namespace, name: str, more: Sequence[str] = ()) -> int:
    """Print the result, write it where asked, and return the exit status; ``more`` are the module's own options."""
    from tests.benchmarks.page import section

    # The command that repeats it, without where this call's result went.
    options = [option for option in ("small",) if getattr(given, option)]
    result.command = " ".join([f"python -m tests.benchmarks.{name}", *(f"--{option}" for option in options), *more])
    if given.rounds != 5:
        result.command += f" --rounds {given.rounds}"
    saved = result.to_json()
    print(section(Result.from_json(saved)))
    if given.json:
        given.json.write_text(json.dumps(saved, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return 0


def without_slowing_variables() -> None:
    """Start this process again without the variables of `SLOWING`, where they are set."""
    if any(name in os.environ for name in SLOWING):
        kept = {name: value for name, value in os.environ.items() if name not in SLOWING}
        os.execvpe(sys.executable, [sys.executable, *sys.orig_argv[1:]], kept)


def _proc(path: str) -> dict[str, str]:
    """The first value of each name in a file of /proc; nothing where there is no such file."""
    if not Path(path).is_file():
        return {}
    pairs = (line.partition(":") for line in reversed(Path(path).read_text().splitlines()))
    return {name.strip(): value.strip() for name, _, value in pairs}


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"
