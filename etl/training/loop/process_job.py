"""The files between a training's driver and its processes: rows as Parquet, job and result as JSON."""

import json
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from pydoc import locate
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from conf.errors import InputError
from conf.redaction import redacted
from conf.training_options import TrainingOptions
from etl.training.loop.process_group import process_group
from etl.training.loop.train import TrainingContext, train_model
from udfs.models.classifiers.dialogue_classifier import DialogueClassifier
from udfs.models.classifiers.multi_label_classifier import MultiLabelClassifier
from udfs.models.classifiers.turn_window_classifier import TurnWindowClassifier
from udfs.models.classifiers.weak_labeler import WeakLabeler
from udfs.models.language.causal_language_model import CausalLanguageModel
from udfs.models.language.causal_reply_generator import CausalReplyGenerator
from udfs.models.language.reply_generator import ReplyGenerator
from udfs.models.stores import delete, fetched, folders_in, get, is_store, put
from udfs.models.trainable import EncodedRows, EpochMetrics, TrainableModel, TrainingResult

GIVEN = "given"
WRITTEN = "written"
"""Folders of a training in an object store: what the driver writes, and what each process writes."""
JOB = "job.json"
RESULT = "result.json"
UPDATES = "updates.json"
START = "start"
MODEL = "model"
FAILED = "failed"
SHARD_ROWS = 100_000
KINDS: Mapping[str, type[TrainableModel]] = {
    model.kind: model
    for model in (
        DialogueClassifier,
        MultiLabelClassifier,
        TurnWindowClassifier,
        WeakLabeler,
        CausalLanguageModel,
        ReplyGenerator,
        CausalReplyGenerator,
    )
}


@dataclass(frozen=True)
class TrainingJob:
    """The description of a training for each process.

    Attributes:
        kind: key of ``KINDS``.
        start: folder of the initial model: shared by all processes, in an object store, or ``START`` beside the job.
        options: of the training; each process sets its device.
        checkpoints: folder or place in an object store shared by all processes, or None.
        load_options: keyword arguments of the model's ``load``.
        keep_checkpoint: as in ``TrainingContext``.
    """

    kind: str
    start: str
    options: TrainingOptions
    checkpoints: str | None = None
    load_options: Mapping[str, Any] = field(default_factory=dict)
    keep_checkpoint: bool = False

    def write(self, rows: EncodedRows, folder: Path) -> None:
        """Write the job and its encoded rows to `folder`."""
        for name, some in rows._asdict().items():
            write_rows(some, KINDS[self.kind].schema, folder / name)
        options = type(self.options)
        values = {"class": f"{options.__module__}.{options.__qualname__}", **self.options.model_dump(mode="json")}
        (folder / JOB).write_text(json.dumps({**vars(self), "options": values}), encoding="utf-8")

    @classmethod
    def read(cls, folder: Path) -> tuple["TrainingJob", EncodedRows]:
        """Read the job and the rows that `write` wrote.

        Raises:
            InputError: the folder cannot be read on this machine.
        """
        try:
            job = json.loads((folder / JOB).read_text(encoding="utf-8"))
        except OSError as error:
            raise InputError(
                f"{folder} cannot be read here ({error.strerror}): set models.folder to a shared folder"
            ) from None
        options: Any = locate(job["options"].pop("class"))
        model = KINDS[job["kind"]]
        rows = EncodedRows(*(read_rows(folder / name, model) for name in EncodedRows._fields))
        return cls(**{**job, "options": options(**job["options"])}), rows


def write_rows(rows: Sequence[Sequence[Any]], schema: pa.Schema, folder: Path, shard_rows: int = SHARD_ROWS) -> None:
    """Write rows with the columns of `schema` to `folder` as Parquet files, numbered in the rows' order."""
    folder.mkdir(parents=True)
    for number, first in enumerate(range(0, len(rows), shard_rows)):
        columns = list(zip(*rows[first : first + shard_rows], strict=True))
        parquet.write_table(pa.table(columns, schema=schema), folder / f"{number:05d}.parquet")


def read_rows(folder: Path, model: type[TrainableModel]) -> list[Any]:
    """Return the rows of a model that `write_rows` wrote, in the same order."""
    rows: list[Any] = []
    for shard in sorted(folder.glob("*.parquet")):
        columns = (column.to_pylist() for column in parquet.read_table(shard, schema=model.schema).columns)
        rows += [
            model.row(*(tuple(v) if isinstance(v, list) else v for v in row)) for row in zip(*columns, strict=True)
        ]
    return rows


def train_in_this_process(folder: Path) -> None:
    """Train in this process as a member of its group; the leading process writes model and result to `folder`.

    Every process reads all rows and draws the same batches, so the updates do not depend on the number of processes.
    """
    with record_failure(folder):
        job, rows = TrainingJob.read(folder)
        model = KINDS[job.kind]
        with process_group(job.options.device) as (group, device):
            losses: dict[int, float] = {}
            context = TrainingContext(
                replace(group, sharded=model.sharded),
                job.checkpoints,
                job.keep_checkpoint,
                on_update=losses.__setitem__,
            )
            # Without the GPU's number: the process has set its default GPU.
            options = job.options.model_copy(update={"device": device.partition(":")[0]})
            first = folder / START if job.start == START else fetched(job.start)
            start = partial(model.load, first, **job.load_options)
            result = train_model(start, rows, options, folder / MODEL, context)
            if group.leads:
                (folder / UPDATES).write_text(json.dumps(losses), encoding="utf-8")
                write_result(folder, result)
            group.barrier()


def train_at(place: str) -> None:
    """Train in this process; with a place in an object store, copy the job from it and what was written back to it."""
    if not is_store(place):
        train_in_this_process(Path(place))
        return
    with tempfile.TemporaryDirectory() as scratch:
        folder = get(f"{place}/{GIVEN}", Path(scratch))
        given = {path for path in folder.rglob("*") if path.is_file()}
        try:
            train_in_this_process(folder)
        finally:
            for path in given:
                path.unlink(missing_ok=True)
            own = f"{place}/{WRITTEN}/{os.environ.get('RANK', '0')}"
            delete(own)
            put(folder, own)


def collect(place: str, folder: Path) -> None:
    """Copy what the processes wrote to the driver's folder, if they wrote it to an object store."""
    if is_store(place):
        for rank in sorted(folders_in(f"{place}/{WRITTEN}"), reverse=True):
            get(f"{place}/{WRITTEN}/{rank}", folder)


@contextmanager
def record_failure(folder: Path) -> Iterator[None]:
    """Write an error's message to `folder`, where `failure` reads it: torchrun does not pass it on."""
    try:
        yield
    except Exception as error:
        kind = "input" if isinstance(error, InputError) else "failure"
        name = f"{FAILED}-{kind}-{os.environ.get('RANK', '0')}.txt"
        text = str(error) if kind == "input" else f"{type(error).__name__}: {error}"
        (folder / name).write_text(redacted(text), "utf-8")
        raise


def failure(folder: Path) -> Exception:
    """Return the error of a failed training with a one-line reason: bad input first, then the lowest rank's reason."""
    for kind, error in (("input", InputError), ("failure", RuntimeError)):
        for note in sorted(folder.glob(f"{FAILED}-{kind}-*.txt")):
            line = next(iter(note.read_text("utf-8").strip().splitlines()), "no reason given")[:500]
            return error(line if error is InputError else f"a training process failed: {line}")
    return RuntimeError(
        f"the training's processes wrote no reason to {folder}: check their logs, "
        "and that all machines share models.folder"
    )


def write_result(folder: Path, result: TrainingResult) -> None:
    """Write a training's result for `read_result`, after all other files."""
    facts: dict[str, Any] = {name: getattr(result, name) for name in ("metrics", "best_epoch", "seconds", "hardware")}
    facts["history"] = [asdict(epoch) for epoch in result.history]
    temporary = folder / f"{RESULT}.begun"
    temporary.write_text(json.dumps(facts), encoding="utf-8")
    temporary.replace(folder / RESULT)


def finished(folder: Path) -> bool:
    """Return whether the result was written and no process failed; later errors do not matter."""
    return (folder / RESULT).exists() and not any(folder.glob(f"{FAILED}-*.txt"))


def read_result(folder: Path, options: TrainingOptions) -> TrainingResult:
    """Return the result of the training in `folder`.

    Raises:
        InputError: the folder has no result, because the machines do not share it.
    """
    try:
        facts = json.loads((folder / RESULT).read_text(encoding="utf-8"))
    except OSError:
        raise InputError(f"no {RESULT} in {folder}: set models.folder to a folder that all machines share") from None
    history = tuple(EpochMetrics(**epoch) for epoch in facts.pop("history"))
    return TrainingResult(folder / MODEL, history=history, options=options, **facts)


def read_updates(folder: Path) -> dict[int, float]:
    """Return each update's number and mean loss, without the updates before an interruption."""
    path = folder / UPDATES
    return {int(number): loss for number, loss in json.loads(path.read_text("utf-8")).items()} if path.is_file() else {}
