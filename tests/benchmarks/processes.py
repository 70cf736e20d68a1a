"""Processor time, memory and bytes of a process and its descendants, from Linux's /proc."""

import os
import threading
from collections import defaultdict
from dataclasses import asdict, dataclass, replace
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass
class Use:
    """Resources that a process and its descendants used over an interval.

    Attributes:
        wall: seconds.
        cpu: seconds of processors, all processes together.
        driver, workers: most memory in GiB of the driver's Python and JVM together, and of Spark's Python workers.
        read, written: bytes of all processes' calls, from and to files and pipes, among them Spark's shuffles.
    """

    wall: float = 0.0
    cpu: float = 0.0
    driver: float = 0.0
    workers: float = 0.0
    read: float = 0.0
    written: float = 0.0

    def __add__(self, other: "Use") -> "Use":
        both = {name: value + getattr(other, name) for name, value in asdict(self).items()}
        most = {name: max(getattr(self, name), getattr(other, name)) for name in ("driver", "workers")}
        return Use(**both | most)


class Watch(threading.Thread):
    """Watches a process and those below it; a process that ends counts with what it had half a second before."""

    def __init__(self, process: int) -> None:
        super().__init__(daemon=True)
        self.process = process
        self.most = Use()
        self.over = threading.Event()
        self._totals: defaultdict[int, tuple[float, float, float]] = defaultdict(lambda: (0.0, 0.0, 0.0))

    def run(self) -> None:
        while not self.over.wait(0.5):
            self.look()

    def look(self) -> Use:
        """Return what was used since the beginning, and the most memory since the last `forget_memory`."""
        driver = workers = 0.0
        for process in (self.process, *children(self.process)):
            self._totals[process] = tuple(map(max, self._totals[process], _counted(process)))  # type: ignore[assignment]
            if process == self.process or command(process) == "java":
                driver += resident_gib(process)
            elif command(process).startswith("python"):  # not what the JVM forks, which shares its memory at first
                workers += resident_gib(process)
        cpu, read, written = (sum(column) for column in zip(*list(self._totals.values()), strict=True))
        self.most = Use(driver=max(self.most.driver, driver), workers=max(self.most.workers, workers))
        return replace(self.most, cpu=cpu, read=read, written=written)

    def forget_memory(self) -> None:
        """Begin to look for the most memory anew."""
        self.most = Use()

    def stop(self) -> None:
        """End the thread."""
        self.over.set()
        self.join()


def children(process: int) -> list[int]:
    """The processes below one, at any depth."""
    found: list[int] = []
    try:
        direct = [
            int(child)
            for task in Path(f"/proc/{process}/task").iterdir()
            for child in (task / "children").read_text().split()
        ]
    except OSError:
        return []
    for child in direct:
        found += [child, *children(child)]
    return found


def command(process: int) -> str:
    """A process's name; nothing where it has ended."""
    try:
        return Path(f"/proc/{process}/comm").read_text().strip()
    except OSError:
        return ""


def resident_gib(process: int) -> float:
    """Memory of a process in GiB."""
    try:
        pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    except OSError:
        return 0.0
    return pages * PAGE / 2**30


def _counted(process: int) -> tuple[float, float, float]:
    """Seconds of processors, bytes read and bytes written of a process, its own alone; 0 where it has ended."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        lines = Path(f"/proc/{process}/io").read_text().splitlines()
    except OSError:
        return 0.0, 0.0, 0.0
    io = dict(line.split(": ") for line in lines)
    return sum(map(int, fields[11:13])) / TICKS, float(io["rchar"]), float(io["wchar"])
