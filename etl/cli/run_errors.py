"""Faults of a run as one line: the thing, the place, the cure. No name of the Java bridge is in it."""

import errno
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from pyspark.errors import PySparkException

from conf.redaction import without_user_info
from conf.settings import Settings
from etl.pipeline.locations import tracking_uri
from etl.pipeline.runner import StageError
from etl.tables import TABLES

AGAIN = "run again to go on"
_PATH = r"((?:[a-z0-9]+:)?/[^\s:'\",;)\]]+)"

FULL = ("ENOSPC", "EDQUOT")
DENIED = ("EACCES",)
REFUSED = (
    "EROFS",
    "EACCES",
    "EPERM",
    "ENOTDIR",
    "EEXIST",
    "AccessDeniedException",
    "AccessControlException",
    "DELTA_CANNOT_CREATE_LOG_PATH",
)
NO_FILE = (
    "FileNotFoundException",
    "SparkFileNotFoundException",
    "FAILED_READ_FILE",
    "DELTA_FILE_NOT_FOUND",
    "DELTA_CHANGE_DATA_FILE_NOT_FOUND",
    "DELTA_TRUNCATED_TRANSACTION_LOG",
)
BROKEN_LOG = (
    "DamagedLogError",
    "JsonParseException",
    "JsonEOFException",
    "MismatchedInputException",
    "MalformedInputException",
    "DELTA_STATE_RECOVER_ERROR",
    "DELTA_VERSIONS_NOT_CONTIGUOUS",
    "DELTA_MISSING_TRANSACTION_LOG",
)
OTHER_VERSION = (
    "UNRESOLVED_COLUMN",
    "CANNOT_UP_CAST",
    "SchemaMismatchError",
    "DeltaTableFeatureException",
    "InvalidProtocolVersionException",
    "DELTA_FAILED_TO_MERGE_FIELDS",
    "DELTA_INVALID_PROTOCOL",
    "DELTA_METADATA_MISMATCH",
    "DELTA_MISSING_NOT_NULL_COLUMN",
    "DELTA_NOT_NULL_CONSTRAINT",
    "DELTA_SCHEMA",
    "DELTA_UNSUPPORTED_FEATURES",
    "_LEGACY_ERROR_TEMP_DELTA_0007",  # the schemas of table and rows differ
)
BROKEN_STORE = ("SQLITE_NOTADB", "SQLITE_CORRUPT", "sqlite3.DatabaseError", "CommandError")
WORKER_GONE = ("OutOfMemoryError", "ExecutorLostFailure", "WORKER_GONE")
JAVA_GONE = ("Py4JNetworkError", "JAVA_GONE")
"""The conditions of each fault, as `conditions_of` finds them; the beginning of a name stands for all that go on."""

WITHOUT_CONDITION = {
    "Mkdirs failed to create": "EACCES",
    "is not a Parquet file": "DELTA_STATE_RECOVER_ERROR",
    "no such table: ": "SQLITE_CORRUPT",
    "out-of-date database schema": "SQLITE_CORRUPT",
    "Python worker exited unexpectedly": "WORKER_GONE",
    "Python worker failed to connect back": "WORKER_GONE",
    "Lost executor": "WORKER_GONE",
    "Executor heartbeat timed out": "WORKER_GONE",
    "exit code 137": "WORKER_GONE",
    "Answer from Java side is empty": "JAVA_GONE",
    "trying to connect to the Java server": "JAVA_GONE",
    "Java gateway process": "JAVA_GONE",
    "SparkContext was shut down": "JAVA_GONE",
    "on a stopped SparkContext": "JAVA_GONE",
}
"""What libraries say on the first line of errors to which they give no class, and the condition that it stands for."""

_BRIDGE_ERRORS = ("Py4JNetworkError", "ConnectionRefusedError", "ConnectionResetError", "BrokenPipeError")
_HEADING = re.compile(r"^(?:Caused by)?:? ?\(?(?:[A-Za-z]\w*[.$])*([A-Z]\w*(?:Exception|Error|Failure))\)?[: ] ?(.*)$")
_CONDITION = re.compile(r"^\[([A-Z_][A-Z0-9_.]+)\]")
_SYSTEM_ERROR = re.compile(r"\(os error (\d+)\)")
_SYSTEM_WORDS = {
    os.strerror(code): errno.errorcode[code]
    for code in (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOTDIR)
}
_OUR_WORDS = re.compile(r"(?ms)^Traceback \(most recent call last\).*?^(?:conf\.errors\.InputError|RuntimeError): ")
_PYTHON_ERROR = re.compile(r"^(?:[\w.]+\.)?(\w+(?:Error|Exception|Exit|Interrupt)): ?(.*)$")
_JAVA_ERROR = re.compile(r"^(?:Caused by|:)?:? ?(?:[a-z]\w*\.)+([A-Z]\w*(?:Exception|Error|Failure)): ?(.*)$")


class RunError(RuntimeError):
    """A run's failure: exit status 1, one line."""


def fault_line(error: BaseException, settings: Settings | None = None, stage: str | None = None) -> str:
    """Return what went wrong, where, and the cure, in one line.

    Args:
        error: any error; its causes are looked at too.
        settings: of the run, for the places that they name.
        stage: the stage that ran.
    """
    text = "\n".join(_texts(error))
    if isinstance(error, StageError) or _OUR_WORDS.search(text):
        return _own_words(error, text)
    during = f" in stage {stage}" if stage else ""
    places = _places(settings)
    found = conditions_of(error)
    for told, names in _FAULTS.items():
        if _among(found, names) and (line := told(error, text, places)):
            return f"{line}{during}: {_cure(told, text, places)}"
    if "StackOverflowError" in text:
        return (
            f"a text is too long for one of the expressions that read it: the stack of Java overflowed{during}. Please "
            "report it; with -Xss64m in spark.conf.spark.driver.extraJavaOptions (of a cluster's executors: "
            "spark.executor.extraJavaOptions) it fits"
        )
    if _among(found, JAVA_GONE) or _bridge_broke(error):
        return (
            f"Spark's Java process ended{during}, mostly by a signal or for lack of memory: {AGAIN}; if it ends again, "
            "`python -m jobs doctor` tells what it had: a heap that fits needs free memory beside it"
        )
    if _among(found, WORKER_GONE):
        return (
            f"a worker process ended{during}, mostly by a signal or for lack of memory: {AGAIN}, with fewer cores in "
            "spark.master or a smaller models.batch_size if it ends again"
        )
    return f"{_own_words(error, text)}{during and f' ({during.strip()})'}"


def is_bad_input(error: BaseException) -> bool:
    """Return whether a worker found the fault in what it was given: a model, a setting, a file."""
    found = _OUR_WORDS.search("\n".join(_texts(error)))
    return found is not None and found[0].rstrip().endswith("conf.errors.InputError:")


def _texts(error: BaseException | None) -> Iterator[str]:
    """Yield the messages of an error and of its causes; those that ask a lost Java process are empty."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        try:
            yield f"{type(error).__name__}: {error}"
        except Exception:  # the message is in the Java process, which is gone
            yield f"{type(error).__name__}: Answer from Java side is empty"
        error = error.__cause__ or error.__context__


def conditions_of(error: BaseException) -> set[str]:
    """Return what an error and its causes are: names of classes, conditions of Spark and Delta, and of the system.

    Of each error these are its type, its condition (``getCondition``, or ``getErrorClass`` before Spark 4), its errno
    and sqlite's code; and what the first lines of its message and of Java's causes in it name: a class, a condition in
    brackets, an error of the system.
    """
    found: set[str] = set()
    for one in _causes(error):
        found |= {type(one).__name__, str(getattr(one, "sqlite_errorname", ""))}
        if isinstance(one, OSError) and one.errno is not None:
            found.add(errno.errorcode.get(one.errno, ""))
        found.add(_spark_condition(one) or "")
    for text in _texts(error):
        found |= _told_conditions(text)
    return found - {""}


def _spark_condition(error: BaseException) -> str | None:
    if not isinstance(error, PySparkException):
        return None
    asked: Callable[[], str | None] = getattr(error, "getCondition", error.getErrorClass)
    try:
        return asked()
    except Exception:  # the answer is in the Java process, which is gone
        return None


def _told_conditions(text: str) -> set[str]:
    """Return what the first line of a message, and those of Java's causes in it, say."""
    found: set[str] = set()
    for number, line in enumerate(text.splitlines()):
        heading = _HEADING.match(line.strip())
        if heading is None and number > 0:
            continue
        said = heading[2] if heading else line
        if heading:
            found.add(heading[1])
        while inner := _HEADING.match(said):  # "Py4JJavaError: (sqlite3.DatabaseError) ..." and the like
            found |= {inner[1], "sqlite3.DatabaseError" if said.startswith("(sqlite3.DatabaseError)") else ""}
            said = inner[2]
        if condition := _CONDITION.match(said):
            found.add(condition[1])
        found |= {errno.errorcode.get(int(code), "") for code in _SYSTEM_ERROR.findall(said)}
        found |= {name for words, name in (_SYSTEM_WORDS | WITHOUT_CONDITION).items() if words in line}
    return found


def _among(found: set[str], names: tuple[str, ...]) -> bool:
    return any(one.startswith(names) for one in found)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _places(settings: Settings | None) -> Mapping[str, str]:
    """Return the folders that a run writes to, by what they are."""
    root = settings.lakehouse.root if settings is not None else "lakehouse"
    scratch = settings.spark.conf.get("spark.local.dir") if settings is not None else None
    places = {"lakehouse.root": root, "spark.conf.spark.local.dir": scratch or tempfile.gettempdir()}
    tracking = tracking_uri(settings) if settings is not None else None
    return places | ({"mlflow.tracking_uri": without_user_info(tracking)} if tracking else {})


def _disk(error: BaseException, text: str, places: Mapping[str, str]) -> str:
    free = {name: _free(path) for name, path in places.items()}
    least = min(free, key=lambda name: free[name])
    return f"no space is left on the disk of {_named(error) or f'{places[least]} ({least})'}"


def _free(path: str) -> float:
    place = Path(path.removeprefix("file:"))
    existing = next((one for one in (place, *place.parents) if one.exists()), None)
    return float("inf") if "://" in path or existing is None else shutil.disk_usage(existing).free


def _denied(error: BaseException, text: str, places: Mapping[str, str]) -> str | None:
    """Name a file or folder outside the run's places that the run may not read or write."""
    denied = any(isinstance(one, PermissionError) and one.errno == errno.EACCES for one in _causes(error))
    path = _named(error) if denied else None
    if path is None or any(Path(path).absolute().is_relative_to(Path(place).absolute()) for place in places.values()):
        return None
    return f"no permission for {path}"


def _writing(error: BaseException, text: str, places: Mapping[str, str]) -> str:
    kind = re.search(r"Read-only|Not a directory|File exists", text)
    reason = {"Read-only": "read-only", "Not a directory": "below a file", "File exists": "a file is there"}.get(
        kind[0] if kind else "", "no permission"
    )
    path = _named(error) or _path_refused(text) or places["lakehouse.root"]
    return f"cannot write to {path} ({reason})"


def _file(error: BaseException, text: str, places: Mapping[str, str]) -> str | None:
    path = _path_of(text, r"\.parquet|\.json|\.crc")
    table = _table_of(path)
    return f"table {table} lacks its file {_below(path, places)}" if path and table else None


def _log(error: BaseException, text: str, places: Mapping[str, str]) -> str | None:
    table = _table_in(text)
    return f"the log of table {table} is damaged ({places['lakehouse.root']})" if table else None


def _version(error: BaseException, text: str, places: Mapping[str, str]) -> str:
    table = _table_in(text)
    named = f"table {table}" if table else f"a table in {places['lakehouse.root']}"
    return f"{named} has other columns or features than this version of edos-lakehouse knows"


def _store(error: BaseException, text: str, places: Mapping[str, str]) -> str:
    return f"the MLflow store {_tracking(places)} is damaged"


_FAULTS: dict[Callable[[BaseException, str, Mapping[str, str]], str | None], tuple[str, ...]] = {
    _disk: FULL,
    _denied: DENIED,
    _writing: REFUSED,
    _file: NO_FILE,
    _log: BROKEN_LOG,
    _version: OTHER_VERSION,
    _store: BROKEN_STORE,
}
"""The faults that have a place and a cure, in the order in which they are looked for, with their conditions."""


def _tracking(places: Mapping[str, str]) -> str:
    return places.get("mlflow.tracking_uri", "of mlflow.tracking_uri")


def _cure(told: Callable[..., str | None], text: str, places: Mapping[str, str]) -> str:
    table = _table_in(text)
    folder = f"{places['lakehouse.root']}/{table.replace('.', '/')}" if table else places["lakehouse.root"]
    return {
        _disk: f"free some, and {AGAIN}",
        _denied: f"make it readable, or writable where it is an output, and {AGAIN}",
        _writing: f"make it writable or set lakehouse.root to another folder, and {AGAIN}",
        _file: f"restore the file, or delete {folder}, and {AGAIN}: its stage makes the table anew",
        _log: f"restore {folder}/_delta_log, or delete {folder}, and {AGAIN}: its stage makes the table anew",
        _store: f"restore it, or delete it, and {AGAIN}: trainings make their models anew",
        _version: "use the version that wrote it (package_version in ops.stage_runs), or another lakehouse.root",
    }[told]


def _bridge_broke(error: BaseException) -> bool:
    """Return whether the connection to the Java process broke."""
    return any(type(one).__name__ in _BRIDGE_ERRORS and _in_bridge(one) for one in _causes(error))


def _in_bridge(error: BaseException) -> bool:
    """Return whether an error was raised in the library that talks to Java, and not by another connection."""
    trace = error.__traceback__
    while trace is not None:
        if "py4j" in trace.tb_frame.f_code.co_filename:
            return True
        trace = trace.tb_next
    return type(error).__name__ == "Py4JNetworkError"


def _named(error: BaseException) -> str | None:
    found = (one.filename for one in _causes(error) if isinstance(one, OSError) and isinstance(one.filename, str))
    return next(found, None)


def _path_refused(text: str) -> str | None:
    """Return the first path on a line that tells of a refusal."""
    for line in text.splitlines():
        if _among(_told_conditions(line), REFUSED) and (path := re.search(_PATH, line)):
            return path[1].removeprefix("file:")
    return None


def _path_of(text: str, endings: str) -> str | None:
    found = re.search(rf"{_PATH[:-1]}(?:{endings}))(?![\w.])", text) or re.search(rf"(\S+(?:{endings}))\b", text)
    return re.sub(r"^file:/+", "/", found[1]) if found else None


def _table_of(path: str | None) -> str | None:
    """Return the table whose folder a path is in."""
    return next((name for name in TABLES if path and f"/{name.replace('.', '/')}/" in path), None)


def _table_in(text: str) -> str | None:
    """Return the table that a text names by its folder, or by its name."""
    by_folder = (name for name in TABLES if re.search(rf"/{name.replace('.', '/')}(?!\w)", text))
    by_name = (name for name in TABLES if re.search(rf"(?<![\w.]){re.escape(name)}(?![\w.])", text))
    return next(by_folder, None) or next(by_name, None)


def _below(path: str | None, places: Mapping[str, str]) -> str:
    root = places["lakehouse.root"].rstrip("/")
    return (path or "").partition(f"{root}/")[2] or (path or "")


def _own_words(error: BaseException, text: str) -> str:
    """Return the error that matters: of a worker's Python, of Java, or the error's own."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    python = None
    inside = False
    for line in lines:
        inside = inside or line.startswith("Traceback (most recent call last)")
        if inside and (match := _PYTHON_ERROR.match(line)) and not line.startswith(("org.", "java.", "scala.")):
            python = f"{match[1]}: {match[2]}"
            inside = False
            break
    if python is not None:
        return python.removeprefix("InputError: ").rstrip(": ")
    java = next((match for line in lines if (match := _JAVA_ERROR.match(line)) and match[2]), None)
    if type(error).__name__.startswith("Py4J"):
        return f"Spark failed: {java[1]}: {java[2]}" if java else "Spark failed without a message"
    first = lines[0] if lines else type(error).__name__
    return first if first.partition(": ")[2] else f"{first.rstrip(': ')}: no message"
