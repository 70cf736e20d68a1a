"""Faults of a run as one line: the thing, the place, the cure. No name of the Java bridge is in it."""

import re
import shutil
import tempfile
import traceback
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from conf.redaction import without_user_info
from conf.settings import Settings
from etl.pipeline.idle_cluster import NoExecutorError
from etl.pipeline.locations import tracking_uri
from etl.pipeline.runner import StageError
from etl.pipeline.tables import TABLES

AGAIN = "run again to continue"
SCRATCH = "spark.conf.spark.local.dir"
STORE = "mlflow.tracking_uri"


@dataclass(frozen=True)
class KnownError:
    """A fault that has a place and a cure.

    Attributes:
        message: the line; ``{path}`` and the like are filled in, and where one is not known, the fault is another one.
    """

    signs: str
    message: str
    cure: str


_LOST_TASK = r"\(TID \d+\) \((\S+) executor (\d+)\)"
_REFUSED = (
    r"Read-only file system|Permission denied|Operation not permitted|Not a directory|File exists|AccessDenied"
    r"|AccessControlException|DELTA_CANNOT_CREATE_LOG_PATH|Mkdirs failed to create|os error (1|13|20|30)\b"
)
FAULTS = (
    KnownError(
        rf"{_LOST_TASK}(?s:.*)(No space left on device|Disk quota exceeded)",
        "no space left on the disk of the worker {worker}",
        f"free some in its folder and in its spark.local.dir, and {AGAIN}",
    ),
    KnownError(
        r"No space left on device|Disk quota exceeded|os error (28|122)\b",
        "no space left on the disk of {full}",
        f"free some, and {AGAIN}",
    ),
    KnownError(
        r"Permission denied|os error 13\b",
        "no permission for {elsewhere}",
        f"make it readable, or writable where it is an output, and {AGAIN}",
    ),
    KnownError(
        _REFUSED,
        "cannot write to {path} ({reason})",
        f"make it writable or set lakehouse.root to another folder, and {AGAIN}",
    ),
    KnownError(
        r"FileNotFoundException|FAILED_READ_FILE|DELTA_(FILE|CHANGE_DATA_FILE)_NOT_FOUND|DELTA_TRUNCATED_TRANS",
        "table {table} lacks its file {file}",
        f"restore the file, or delete {{folder}}, and {AGAIN}: its stage makes the table again",
    ),
    KnownError(
        r"DamagedLogError|Json(Parse|EOF)Exception|M(ismatched|alformed)InputException|is not a Parquet file"
        r"|DELTA_(STATE_RECOVER_ERROR|VERSIONS_NOT_CONTIGUOUS|MISSING_TRANSACTION_LOG)",
        "the log of table {table} is damaged ({root})",
        f"restore {{folder}}/_delta_log, or delete {{folder}}, and {AGAIN}: its stage makes the table again",
    ),
    KnownError(
        r"UNRESOLVED_COLUMN|CANNOT_UP_CAST|SchemaMismatchError|DeltaTableFeatureException|InvalidProtocolVersion"
        r"|_LEGACY_ERROR_TEMP_DELTA_0007|DELTA_(FAILED_TO_MERGE_FIELDS|INVALID_PROTOCOL|METADATA_MISMATCH|SCHEMA"
        r"|MISSING_NOT_NULL_COLUMN|NOT_NULL_CONSTRAINT|UNSUPPORTED_FEATURES)",
        "{a_table} has other columns or features than this version of edos-lakehouse knows",
        "use the version that wrote it (package_version in ops.stage_runs), or another lakehouse.root",
    ),
    KnownError(
        r"SQLITE_NOTADB|SQLITE_CORRUPT|sqlite3\.DatabaseError|^CommandError|no such table: |out-of-date database",
        "the MLflow store {store} is damaged",
        f"restore it, or delete it, and {AGAIN}: trainings make their models again",
    ),
    KnownError(
        r"database is locked",
        "the MLflow store {store} is locked by another process",
        f"end that one, or wait until it has ended, and {AGAIN}",
    ),
    KnownError(
        r"Another instance of Derby may have already booted",
        "the catalog's metastore {metastore} is locked by another process",
        f"end that one (a shell, a notebook, another run), and {AGAIN}",
    ),
    KnownError(
        r"Unable to instantiate \S*HiveMetaStoreClient|HiveException: org\.apache\.thrift\.transport\.TTransport",
        "the catalog's Hive metastore does not answer",
        "check its address (hive.metastore.uris or javax.jdo.option.ConnectionURL, in hive-site.xml or after "
        f"spark.conf.spark.hadoop.) and that its server runs, and {AGAIN}",
    ),
    KnownError(
        r"cancelled as part of cancellation of all jobs",
        "no executor worked on the waiting tasks for too long (pipeline.idle_minutes)",
        f"the run's last line names the one that was lost; {AGAIN}",
    ),
    KnownError(
        r"StackOverflowError",
        "a text is too long for one of the expressions that read it: the stack of Java overflowed",
        "please report it; with -Xss64m in spark.conf.spark.driver.extraJavaOptions (of a cluster's executors: "
        "spark.executor.extraJavaOptions) it fits",
    ),
    KnownError(
        r"Py4JNetworkError|Answer from Java side is empty|trying to connect to the Java server|Java gateway process"
        r"|SparkContext was shut down|on a stopped SparkContext",
        "Spark's Java process ended",
        f"usually a signal or lack of memory ends it; {AGAIN}; if it ends again, `python -m jobs doctor` shows the "
        "memory: Java needs some beside its heap",
    ),
    KnownError(
        rf"{_LOST_TASK}: ExecutorLostFailure",
        "executors were lost again and again, the last one of the worker {worker}",
        f"its log says why, usually a signal or lack of memory; {AGAIN}, with more spark.executor.memory or fewer "
        "spark.executor.cores if it ends again",
    ),
    KnownError(
        r"OutOfMemoryError|ExecutorLostFailure|Python worker (exited unexpectedly|failed to connect back)"
        r"|Lost executor|Executor heartbeat timed out|exit code 137",
        "a worker process ended",
        f"usually a signal or lack of memory ends it; {AGAIN}, with fewer cores in spark.master or a smaller "
        "models.batch_size if it ends again",
    ),
)
"""In the order in which they are looked for."""

_PATH = r"(?:file:)?(/[^\s:'\",;`)\]]+)"
_REASONS = {"Read-only": "read-only", "Not a directory": "below a file", "File exists": "a file is there"}
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
    """
    text = "\n".join(_texts(error))
    if isinstance(error, StageError) or _OUR_WORDS.search(text):
        return _own_words(error, text)
    during = f" in stage {stage}" if stage else ""
    behind = during and f" ({during.strip()})"
    if isinstance(error, NoExecutorError):
        return f"{error}{behind}"
    facts: dict[str, str] | None = None
    for fault in FAULTS:
        if re.search(fault.signs, text, re.MULTILINE):
            facts = facts or _facts(error, text, settings)
            if set(re.findall(r"{(\w+)}", fault.message + fault.cure)) <= facts.keys():
                return f"{fault.message.format_map(facts)}{during}: {fault.cure.format_map(facts)}"
    return f"{_own_words(error, text)}{behind}"


def is_bad_input(error: BaseException) -> bool:
    """Return whether a worker found the fault in what it was given: a model, a setting, a file."""
    found = _OUR_WORDS.search("\n".join(_texts(error)))
    return found is not None and found[0].rstrip().endswith("conf.errors.InputError:")


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _texts(error: BaseException) -> Iterator[str]:
    """Yield the messages of an error and of its causes."""
    for one in _causes(error):
        try:
            yield f"{type(one).__name__}: {one}"
        except Exception:  # the message is in the Java process, which is gone
            yield f"{type(one).__name__}: Answer from Java side is empty"
        frames = traceback.extract_tb(one.__traceback__) if isinstance(one, ConnectionError) else ()
        if any("py4j" in frame.filename for frame in frames):  # not a connection to a server
            yield "Py4JNetworkError"


def _facts(error: BaseException, text: str, settings: Settings | None) -> dict[str, str]:
    """Return what is known of a fault's place, by the names in ``KnownError.message``."""
    places = _places(settings)
    root = places["lakehouse.root"]
    filename = next(
        (one.filename for one in _causes(error) if isinstance(one, OSError) and isinstance(one.filename, str)), None
    )
    least = min(places, key=lambda name: _free(places[name]))
    refused = (line for line in text.splitlines() if re.search(_REFUSED, line))
    in_text = next((found[1] for line in refused if (found := re.search(_PATH, line))), None)
    kind = next((words for words in _REASONS if words in text), "")
    table = _table_in(text)
    facts = {
        "root": root,
        "store": places.get(STORE, f"of {STORE}"),
        "full": filename or f"{places[least]} ({least})",
        "path": filename or in_text or root,
        "reason": _REASONS.get(kind, "no permission"),
        "a_table": f"table {table}" if table else f"a table in {root}",
    }
    if worker := re.search(_LOST_TASK, text):
        facts["worker"] = f"{worker[1]} (executor {worker[2]})"
    if derby := re.search(r"already booted the database (/\S+?)\.?$", text, re.MULTILINE):
        facts["metastore"] = derby[1]
    if filename and not any(Path(filename).absolute().is_relative_to(Path(one).absolute()) for one in places.values()):
        facts["elsewhere"] = filename
    if table:
        facts |= {"table": table, "folder": f"{root}/{table.replace('.', '/')}"}
        if file := re.search(rf"{re.escape(table.replace('.', '/'))}/\S+?\.(?:parquet|json|crc)", text):
            facts["file"] = file[0]
    return facts


def _places(settings: Settings | None) -> Mapping[str, str]:
    """Return the folders that a run writes to, by what they are."""
    if settings is None:
        return {"lakehouse.root": "lakehouse", SCRATCH: tempfile.gettempdir()}
    scratch = settings.spark.conf.get("spark.local.dir") or tempfile.gettempdir()
    places = {"lakehouse.root": settings.lakehouse.root, SCRATCH: scratch}
    tracking = tracking_uri(settings)
    return places | ({STORE: without_user_info(tracking)} if tracking else {})


def _free(path: str) -> float:
    place = Path(path.removeprefix("file:"))
    existing = next((one for one in (place, *place.parents) if one.exists()), None)
    return float("inf") if "://" in path or existing is None else shutil.disk_usage(existing).free


def _table_in(text: str) -> str | None:
    """Return the table that a text names by its folder, or by its name."""
    by_folder = (name for name in TABLES if re.search(rf"/{name.replace('.', '/')}(?!\w)", text))
    by_name = (name for name in TABLES if re.search(rf"(?<![\w.]){re.escape(name)}(?![\w.])", text))
    return next(by_folder, None) or next(by_name, None)


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
