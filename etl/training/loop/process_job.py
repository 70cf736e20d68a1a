"""What a training passes to its processes, and they pass back, by a folder: rows as Parquet, all else as JSON."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from pydoc import locate
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from conf.errors import InputError
from conf.training_options import TrainingOptions
from etl.training.loop.process_group import process_group
from etl.training.loop.train import TrainingContext, train_model
from udfs.models.classifiers.dialogue_classifier import DialogueClassifier
from udfs.models.classifiers.multi_label_classifier import MultiLabelClassifier
from udfs.models.classifiers.turn_pair_classifier import TurnPairClassifier
from udfs.models.classifiers.weak_labeler import WeakLabeler
from udfs.models.language.causal_language_model import CausalLanguageModel
from udfs.models.language.reply_generator import ReplyGenerator
from udfs.models.trainable import EncodedRows, EpochMetrics, TrainableModel, TrainingResult

JOB, RESULT, UPDATES, START, MODEL, FAILED = "job.json", "result.json", "updates.json", "start", "model", "failed"
SHARD_ROWS = 100_000
KINDS: Mapping[str, type[TrainableModel]] = {
    model.kind: model
    for model in (
        DialogueClassifier, MultiLabelClassifier, TurnPairClassifier, WeakLabeler, CausalLanguageModel, ReplyGenerator,
    )
}  # fmt: skip


@dataclass(frozen=True)
class TrainingJob:
    """What each process needs to know beside the rows.

    Attributes:
        kind: of ``KINDS``.
        start: the model's folder, which all processes see.
        options: of the training; the device is each process's own.
        checkpoints: folder that all processes see, or None.
        told: what the kind's ``load`` is told beside the folder.
    """

    kind: str
    start: str
    options: TrainingOptions
    checkpoints: str | None = None
    told: Mapping[str, Any] = field(default_factory=dict)

    def write(self, rows: EncodedRows, folder: Path) -> None:
        """Write the job and its encoded rows to `folder`."""
        for name, some in rows._asdict().items():
            write_rows(some, KINDS[self.kind].schema, folder / name)
        options = type(self.options)
        own = {"class": f"{options.__module__}.{options.__qualname__}", **self.options.model_dump(mode="json")}
        (folder / JOB).write_text(json.dumps({**vars(self), "options": own}), encoding="utf-8")

    @classmethod
    def read(cls, folder: Path) -> tuple["TrainingJob", EncodedRows]:
        """Return what `write` wrote.

        Raises:
            InputError: this machine does not see the folder.
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
    """Write rows, a value a column of `schema`, to `folder` as Parquet files, named in the rows' order."""
    folder.mkdir(parents=True)
    for number, first in enumerate(range(0, len(rows), shard_rows)):
        columns = list(zip(*rows[first : first + shard_rows], strict=True))
        parquet.write_table(pa.table(columns, schema=schema), folder / f"{number:05d}.parquet")


def read_rows(folder: Path, model: type[TrainableModel]) -> list[Any]:
    """Return the rows of a kind of model that `write_rows` wrote, in the same order."""
    rows: list[Any] = []
    for shard in sorted(folder.glob("*.parquet")):
        columns = (column.to_pylist() for column in parquet.read_table(shard, schema=model.schema).columns)
        rows += [
            model.row(*(tuple(v) if isinstance(v, list) else v for v in row)) for row in zip(*columns, strict=True)
        ]
    return rows


def train_in_this_process(folder: Path) -> None:
    """Train in this process with the others of its group; the one that leads writes model and result to `folder`.

    Every process reads all rows and draws the same batches, so that any number of them makes the same updates.
    """
    with record_failure(folder):
        job, rows = TrainingJob.read(folder)
        model = KINDS[job.kind]
        with process_group(job.options.device) as (group, device):
            losses: dict[int, float] = {}
            context = TrainingContext(
                replace(group, sharded=model.sharded), Path(job.checkpoints) if job.checkpoints else None,
                on_update=losses.__setitem__,
            )  # fmt: skip
            # Without its number: each process has its own GPU by default.
            options = job.options.model_copy(update={"device": device.partition(":")[0]})
            result = train_model(
                lambda: model.load(Path(job.start), **job.told), rows, options, folder / MODEL, context
            )  # fmt: skip
            if group.leads:
                (folder / UPDATES).write_text(json.dumps(losses), encoding="utf-8")
                write_result(folder, result)
            group.barrier()


@contextmanager
def record_failure(folder: Path) -> Iterator[None]:
    """Leave the reason of an error inside in `folder`, for `failure`: torchrun tells nobody."""
    try:
        yield
    except Exception as error:
        kind = "input" if isinstance(error, InputError) else "failure"
        name = f"{FAILED}-{kind}-{os.environ.get('RANK', '0')}.txt"
        (folder / name).write_text(str(error) if kind == "input" else f"{type(error).__name__}: {error}", "utf-8")
        raise


def failure(folder: Path) -> Exception:
    """Return why the training in `folder` failed, in one line: bad input first, then the lowest rank's reason."""
    for kind, error in (("input", InputError), ("failure", RuntimeError)):
        for note in sorted(folder.glob(f"{FAILED}-{kind}-*.txt")):
            line = next(iter(note.read_text("utf-8").strip().splitlines()), "no reason given")[:500]
            return error(line if error is InputError else f"a training process failed: {line}")
    return RuntimeError(
        f"the training's processes left no word in {folder}: see their logs, and that all machines share models.folder"
    )


def write_result(folder: Path, result: TrainingResult) -> None:
    """Write what came of a training, for `read_result`: the last that is written."""
    facts: dict[str, Any] = {name: getattr(result, name) for name in ("metrics", "best_epoch", "seconds", "hardware")}
    facts["history"] = [asdict(epoch) for epoch in result.history]
    begun = folder / f"{RESULT}.begun"
    begun.write_text(json.dumps(facts), encoding="utf-8")
    begun.replace(folder / RESULT)


def finished(folder: Path) -> bool:
    """Return whether all was written and no process tells of a failure: what goes wrong afterwards changes nothing."""
    return (folder / RESULT).exists() and not any(folder.glob(f"{FAILED}-*.txt"))


def read_result(folder: Path, options: TrainingOptions) -> TrainingResult:
    """Return what came of the training in `folder`.

    Raises:
        InputError: the leading process wrote it where this one does not see it.
    """
    try:
        facts = json.loads((folder / RESULT).read_text(encoding="utf-8"))
    except OSError:
        raise InputError(f"no {RESULT} in {folder}: set models.folder to a folder that all machines share") from None
    history = tuple(EpochMetrics(**epoch) for epoch in facts.pop("history"))
    return TrainingResult(folder / MODEL, history=history, options=options, **facts)


def read_updates(folder: Path) -> dict[int, float]:
    """Return each update's number and mean loss; those before an interruption are not among them."""
    path = folder / UPDATES
    return {int(number): loss for number, loss in json.loads(path.read_text("utf-8")).items()} if path.is_file() else {}
