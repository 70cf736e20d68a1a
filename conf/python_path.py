"""Keep ``PYTHONPATH`` from hiding the environment's packages. Only the standard library is imported here."""

import os
import sys
import sysconfig
import zipfile
from collections.abc import Iterable, MutableMapping
from pathlib import Path

OWN = {"conf", "etl", "jobs", "udfs"}
COMMON = {"tests", "test", "docs", "examples", "scripts", "bin", "benchmarks", "tools"}
"""Names that some packages leave in an environment's folder by mistake."""


def without_hiding_entries(environ: MutableMapping[str, str], path: list[str]) -> list[str]:
    """Take the entries of ``PYTHONPATH`` that hide packages of the environment from it and from the import path.

    Such entries belong to another Spark or another Python: their modules come before the environment's and fail, or
    are other versions than those that were tested. Under ``spark-submit``, which sets ``PYTHONPATH`` itself, nothing
    changes.

    Args:
        environ: the environment's variables, changed in place.
        path: ``sys.path``, changed in place.

    Returns:
        The entries taken.
    """
    entries = [entry for entry in environ.get("PYTHONPATH", "").split(os.pathsep) if entry]
    if not entries or "PYSPARK_GATEWAY_PORT" in environ:
        return []
    folders = {Path(sysconfig.get_path(kind)) for kind in ("purelib", "platlib")}
    kept = set().union(*map(_modules, folders)) | set(sys.stdlib_module_names)
    hiding = [entry for entry in entries if Path(entry) not in folders and _modules(Path(entry)) & kept]
    if not hiding:
        return []
    left = [entry for entry in entries if entry not in hiding]
    if left:
        environ["PYTHONPATH"] = os.pathsep.join(left)
    else:
        del environ["PYTHONPATH"]
    places = {os.path.abspath(entry) for entry in hiding}  # noqa: PTH100 - as Python writes them on its path
    path[:] = [entry for entry in path if os.path.abspath(entry) not in places or entry == ""]  # noqa: PTH100
    return hiding


def _modules(place: Path) -> set[str]:
    """Return the names of the modules and packages in a folder or a zip, without our own."""
    try:
        if place.is_dir():
            names = [entry.name for entry in place.iterdir() if entry.suffix in (".py", ".so") or _is_package(entry)]
        elif zipfile.is_zipfile(place):
            with zipfile.ZipFile(place) as archive:
                names = [name.partition("/")[0] for name in archive.namelist() if name.endswith(".py")]
        else:
            return set()
    except (OSError, zipfile.BadZipFile):
        return set()
    return set(_stems(names)) - OWN - COMMON


def _is_package(entry: Path) -> bool:
    return (entry / "__init__.py").is_file()


def _stems(names: Iterable[str]) -> Iterable[str]:
    return (name.partition(".")[0] for name in names)
