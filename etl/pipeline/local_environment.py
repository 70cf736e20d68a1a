"""The environment of a local session: what it takes from its surroundings, and what it does not.

Shells carry variables of other programs: another Spark, another Java, a cluster's Hadoop. A session of the local
profile has all that it needs in the Python environment and in its settings, so such variables can only break it. On a
cluster, and under ``spark-submit``, the surroundings are the cluster's own and stay as they are.
"""

import os
import re
import socket
import sys
import tempfile
from collections.abc import Iterable, Mapping, MutableMapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from conf.errors import InputError
from conf.settings import Settings
from etl.pipeline.java_homes import java_found, java_version
from etl.pipeline.machine import memory_bytes, scratch_folder

FOREIGN_PREFIXES = ("SPARK_", "PYSPARK_", "HADOOP_", "YARN_", "HIVE_")
FOREIGN = (
    *("JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "CLASSPATH"),
    # Read by the shell that starts Java, which is a script.
    *("BASH_ENV", "ENV", "CDPATH"),
    # A Python worker would be another one, or stop at a warning.
    *("PYTHONHOME", "PYTHONWARNINGS", "PYTHONINSPECT", "PYTHONSTARTUP"),
    # A training would become a part of another one, or wait for it.
    *("MLFLOW_RUN_ID", "MLFLOW_EXPERIMENT_ID", "MLFLOW_EXPERIMENT_NAME"),
    *("RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "GROUP_RANK", "MASTER_ADDR", "MASTER_PORT"),
)
"""Variables of other programs that would change a local session."""
QUIET = {"PYTHONSTARTUP", "PYTHONINSPECT", "PYTHONWARNINGS", "ENV", "CDPATH", "HADOOP_USER_NAME", "SPARK_USER"}
"""Those that nobody expects to have an effect here: taken without a word."""

LOOPBACK = "127.0.0.1"
SYSTEM_PATH = ("/usr/bin", "/bin")
HEAP_SHARE = 0.5
"""Share of the memory that Java's heap may have; Python's workers and models need the rest."""
LEAST_HEAP = 512 << 20
MOST_FILES = 65_536


@dataclass
class LocalEnvironment:
    """What a local session changes in the environment's variables.

    Attributes:
        set: variables and their new values.
        ignored: variables that are taken away, by name.
        notes: one sentence for each change that somebody may wonder about.
        user: name for Hadoop where the user has none, else None.
        caches: folder for libraries' caches where the home folder cannot have them, else None.
    """

    set: dict[str, str] = field(default_factory=dict)
    ignored: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    user: str | None = None
    caches: Path | None = None


def local_environment(environ: Mapping[str, str], java_home: str | None, threads: int) -> LocalEnvironment:
    """Return what a local session changes in the environment's variables.

    Args:
        environ: the variables.
        java_home: ``spark.java_home``.
        threads: ``models.threads``.

    Raises:
        InputError: no fitting Java, or no folder for scratch files.
    """
    found = LocalEnvironment()
    java = java_found(environ, java_home)
    own = {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": LOOPBACK, "SPARK_LOCAL_HOSTNAME": "localhost"}
    found.ignored = [name for name in sorted(environ) if _is_foreign(name) and environ[name] != own.get(name)]
    told = [name for name in found.ignored if name not in QUIET | own.keys() - {"PYSPARK_PYTHON"} and environ[name]]
    if told:
        found.notes.append(f"not used by local sessions: {', '.join(told)}")
    outside = environ.get("JAVA_HOME")
    if outside and java.source not in ("JAVA_HOME", "spark.java_home") and java_version(Path(outside)) != java.version:
        found.notes.append(f"JAVA_HOME is {_java_told(outside)}: Java {java.version} of {java.source} is used")
    found.set |= own | {"JAVA_HOME": str(java.home)}
    # Models run one thread a worker unless the settings say more; OpenMP would take every core.
    found.set["OMP_NUM_THREADS"] = environ.get("OMP_NUM_THREADS") or str(threads)
    # Threads that wait must sleep: spinning, two on a busy core take seven times as long.
    found.set["OMP_WAIT_POLICY"] = environ.get("OMP_WAIT_POLICY") or "PASSIVE"
    found.set["TOKENIZERS_PARALLELISM"] = environ.get("TOKENIZERS_PARALLELISM") or "false"
    if sys.platform == "linux":
        # Java names files by the locale's encoding, and writes numbers and letters by its language.
        found.set["LC_ALL"] = "C.UTF-8"
    path = [entry for entry in environ.get("PATH", "").split(os.pathsep) if entry]
    found.set["PATH"] = os.pathsep.join([*path, *(one for one in SYSTEM_PATH if one not in path)])
    found.set |= _proxies(environ)
    _user(environ, found)
    _scratch(environ, found)
    return found


def _is_foreign(name: str) -> bool:
    return name in FOREIGN or name.startswith((*FOREIGN_PREFIXES, "BASH_FUNC_"))


def _java_told(home: str) -> str:
    version = java_version(Path(home))
    return f"Java {version}" if version else f"no Java ({home})"


def _proxies(environ: Mapping[str, str]) -> dict[str, str]:
    """Return ``NO_PROXY`` with this machine in it where a proxy is set: local servers are not behind it."""
    if not any(name.lower().endswith("_proxy") and name.lower() != "no_proxy" for name in environ):
        return {}
    given = environ.get("NO_PROXY") or environ.get("no_proxy") or ""
    hosts = [host for host in re.split(r"[,\s]+", given) if host]
    value = ",".join(dict.fromkeys([*hosts, "localhost", LOOPBACK, "::1"]))
    return {"NO_PROXY": value, "no_proxy": value}


def _user(environ: Mapping[str, str], found: LocalEnvironment) -> None:
    """Name a user id that has no name, as containers have, for Hadoop and for ``getpass``."""
    with suppress(ImportError):
        import pwd

        try:
            pwd.getpwuid(os.getuid())
        except KeyError:
            found.user = environ.get("USER") or f"user{os.getuid()}"
            found.set |= dict.fromkeys(("USER", "LOGNAME", "SPARK_USER"), found.user)


def _scratch(environ: Mapping[str, str], found: LocalEnvironment) -> None:
    """Choose a folder for scratch files, and libraries' caches in it where the home folder cannot have them."""
    home = environ.get("HOME", "")
    given = next((environ[name] for name in ("TMPDIR", "TEMP", "TMP") if environ.get(name)), None)
    folder = scratch_folder(given, ("/tmp", "/var/tmp", str(Path(home, ".cache")), os.curdir, sys.prefix))
    if folder is None:
        raise InputError(
            f"no folder for scratch files: {given or '/tmp'} cannot be written to, or programs cannot run from it: set "
            "TMPDIR to a folder on a local disk"
        )
    folder = os.path.abspath(folder)  # noqa: PTH100
    if given is not None and Path(given).absolute() != Path(folder):
        found.notes.append(f"{given} cannot hold scratch files (not there, read-only, full or noexec): {folder} does")
    if given is not None or folder != "/tmp":
        found.set["TMPDIR"] = folder
    if not home or not os.access(home, os.W_OK):
        found.caches = Path(folder, f"edos-lakehouse-caches-{os.getuid() if hasattr(os, 'getuid') else 0}")
        caches = str(found.caches)
        found.set |= {name: environ.get(name) or caches for name in ("MPLCONFIGDIR", "XDG_CACHE_HOME", "HF_HOME")}
        found.set["HOME"] = home or caches


def heap(asked: str | None, memory: int | None) -> tuple[str | None, str | None]:
    """Return the size of Java's heap, and why it is not the one asked for.

    Args:
        asked: ``spark.driver_memory``, such as ``4g``; None is Spark's own 1g.
        memory: bytes that the machine or the container has; None: unknown.
    """
    wanted = size_of(asked or "1g")
    if memory is None or wanted is None or wanted <= memory * HEAP_SHARE:
        return asked, None
    most = max(int(memory * HEAP_SHARE), LEAST_HEAP)
    if most >= wanted:
        return asked, None
    given = f"{most >> 20}m"
    had = f"{memory / (1 << 30):.1f} GiB"
    return given, f"Java's heap is {given} in place of spark.driver_memory={asked or '1g'}: there are {had} of memory"


def size_of(text: str) -> int | None:
    """Return the bytes of a size as Spark writes it, such as ``4g`` or ``512m``; without a unit it counts MiB."""
    found = re.fullmatch(r"\s*(\d+)\s*([kmgtp]?)b?\s*", text, re.IGNORECASE)
    if not found:
        return None
    return int(found[1]) << {"k": 10, "": 20, "m": 20, "g": 30, "t": 40, "p": 50}[found[2].lower()]


_said: set[str] = set()


def take_local_environment(settings: Settings, environ: MutableMapping[str, str] = os.environ) -> LocalEnvironment:
    """Change this process's environment for a local session; tell each change once, on standard error.

    Raises:
        InputError: no fitting Java, no folder for scratch files, or no current folder.
    """
    if "PYSPARK_GATEWAY_PORT" in environ:  # spark-submit has started Java with its own environment
        return LocalEnvironment()
    _current_folder()
    found = local_environment(environ, settings.spark.java_home, settings.models.threads)
    _, smaller = heap(settings.spark.driver_memory, memory_bytes())
    say_once([*found.notes, *filter(None, [smaller])])
    for name in found.ignored:
        del environ[name]
    environ.update(found.set)
    if "TMPDIR" in found.set:
        tempfile.tempdir = found.set["TMPDIR"]
    if found.caches is not None:
        found.caches.mkdir(mode=0o700, parents=True, exist_ok=True)
    _limits()
    return found


def say_once(notes: Iterable[str]) -> None:
    """Print notes that were not printed yet to standard error."""
    for note in notes:
        if note not in _said:
            _said.add(note)
            print(f"edos-lakehouse: {note}", file=sys.stderr)


def _current_folder() -> None:
    try:
        Path.cwd()
    except FileNotFoundError:
        raise InputError("the folder in which this was started is gone: change to another one (cd)") from None


def _limits() -> None:
    """Let this process write files that it can read, and open as many as it may."""
    mask = os.umask(0o022)
    os.umask(mask & 0o077)
    with suppress(ImportError, ValueError, OSError):
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        most = MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)
        if soft != resource.RLIM_INFINITY and soft < most:
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def loopback_works() -> bool:
    """Return whether a server can listen on this machine's loopback address."""
    try:
        with socket.socket() as server:
            server.bind((LOOPBACK, 0))
        return True
    except OSError:
        return False
