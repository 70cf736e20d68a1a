"""What the machine or its container gives a process: memory, cores, a folder for scratch files."""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

CGROUPS = Path("/sys/fs/cgroup")
_NO_LIMIT = 1 << 60
"""A cgroup of version 1 without a limit has a number near the largest of 64 bits."""
LEAST_SCRATCH = 256_000_000
"""Free bytes below which a folder is not taken for scratch files while another one has more."""


def memory_bytes(root: Path = Path("/")) -> int | None:
    """Return the bytes of memory that this process may use: the least of the machine's and its containers' limits.

    Args:
        root: of the file system in which ``proc`` and ``sys`` are looked for.
    """
    found = [_machine_memory(root), *_cgroup_limits(root), *(_process_limits() if root == Path("/") else ())]
    known = [value for value in found if value is not None and 0 < value < _NO_LIMIT]
    return min(known, default=None)


def cores() -> int:
    """Return the number of cores that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _machine_memory(root: Path) -> int | None:
    with suppress(OSError):
        found = re.search(r"^MemTotal:\s+(\d+) kB", (root / "proc/meminfo").read_text(), re.MULTILINE)
        return int(found[1]) * 1024 if found else None
    with suppress(ValueError, OSError, AttributeError):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return None


def _cgroup_limits(root: Path) -> Iterator[int]:
    """Yield the limits of this process's control groups and of those above them, in both versions."""
    top = root / CGROUPS.relative_to("/")
    own: list[tuple[str, str]] = []
    with suppress(OSError):
        for line in (root / "proc/self/cgroup").read_text().splitlines():
            _, _, named = line.partition(":")
            controllers, _, path = named.partition(":")
            own.append((controllers, path.strip("/")))
    for controllers, path in [*own, ("", ""), ("memory", "")]:
        if controllers and "memory" not in controllers.split(","):
            continue
        base, file = (top / "memory", "memory.limit_in_bytes") if controllers else (top, "memory.max")
        folders = [base, *(base.joinpath(*path.split("/")[:depth]) for depth in range(1, path.count("/") + 2) if path)]
        for folder in folders:
            with suppress(OSError, ValueError):
                yield int((folder / file).read_text())


def _process_limits() -> Iterator[int]:
    """Yield the limit of this process's address space (``ulimit -v``)."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        soft, _ = resource.getrlimit(resource.RLIMIT_AS)
        if soft != resource.RLIM_INFINITY:
            yield soft


def scratch_folder(given: str | None, others: Iterable[str]) -> str | None:
    """Return the first folder that files can be written to, that programs can be run from, and that has room.

    Java unpacks libraries into its scratch folder and runs them, which a file system mounted ``noexec`` refuses.
    Without a folder that has all three, one that has the first two.

    Args:
        given: the folder that is used if it can be.
        others: folders to try after it.
    """
    usable = [folder for folder in dict.fromkeys(filter(None, (given, *others))) if _can_run_from(folder)]
    roomy = (folder for folder in usable if shutil.disk_usage(folder).free >= LEAST_SCRATCH)
    return next(roomy, None) or next(iter(usable), None)


def _can_run_from(folder: str) -> bool:
    path = None
    try:
        handle, path = tempfile.mkstemp(prefix="edos-", dir=folder)
        with os.fdopen(handle, "w") as file:
            file.write("#!/bin/sh\nexit 0\n")
        Path(path).chmod(0o700)
        if not Path("/bin/sh").exists():
            return True
        return subprocess.run([path], capture_output=True, check=False, timeout=10).returncode == 0
    except (OSError, subprocess.SubprocessError):
        return False
    finally:
        if path is not None:
            Path(path).unlink(missing_ok=True)
