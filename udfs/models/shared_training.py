"""A training that processes of its own do: its rows as Parquet shards, what to do and what came of it as JSON."""

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from conf.errors import InputError
from udfs.models.classifiers.dialogue_classifier import Turns, train_dialogue_classifier
from udfs.models.classifiers.training import EpochMetrics, TrainingOptions, TrainResult
from udfs.models.language.language_model import LanguageResult
from udfs.models.team import team_of_processes

SHARD_ROWS = 10_000
SCHEMA = pa.schema([("turns", pa.list_(pa.string())), ("label", pa.int32())])
JOB, RESULT, MODEL, FAILED = "job.json", "result.json", "model", "failed"


@dataclass(frozen=True)
class SharedTraining:
    """What each process needs to know beside the rows.

    Attributes:
        start: folder of the encoder, readable from every process.
        labels: the taxonomy in id order.
        options: of the training; the device is each process's own.
        weighted: whether token embeddings are weighted (EDOS 3.3.1).
    """

    start: str
    labels: tuple[str, ...]
    options: TrainingOptions
    weighted: bool = True

    def save(self, folder: Path) -> None:
        """Write it to `folder`, beside the shards."""
        (folder / JOB).write_text(json.dumps(asdict(self)), encoding="utf-8")

    @classmethod
    def load(cls, folder: Path) -> "SharedTraining":
        """Read what `save` wrote.

        Raises:
            InputError: this machine does not see the folder.
        """
        try:
            job = json.loads((folder / JOB).read_text(encoding="utf-8"))
        except OSError as error:
            raise InputError(
                f"{folder} cannot be read here ({error.strerror}): set models.folder to a shared folder"
            ) from None
        return cls(job["start"], tuple(job["labels"]), TrainingOptions(**job["options"]), job["weighted"])


def write_shards(rows: Sequence[tuple[Turns, int]], folder: Path, shard_rows: int = SHARD_ROWS) -> None:
    """Write (turns, label id) rows to `folder` as Parquet files, named in the rows' order."""
    folder.mkdir(parents=True)
    for number, start in enumerate(range(0, len(rows), shard_rows)):
        piece = rows[start : start + shard_rows]
        columns = [[list(turns) for turns, _ in piece], [label for _, label in piece]]
        parquet.write_table(pa.table(columns, schema=SCHEMA), folder / f"{number:05d}.parquet")


def read_shards(folder: Path) -> list[tuple[tuple[str, ...], int]]:
    """The rows that `write_shards` wrote, in the same order."""
    rows = []
    for shard in sorted(folder.glob("*.parquet")):
        table = parquet.read_table(shard, schema=SCHEMA)
        turns, labels = (table.column(name).to_pylist() for name in SCHEMA.names)
        rows += [(tuple(one), label) for one, label in zip(turns, labels, strict=True)]
    return rows


def train_shared(folder: Path) -> None:
    """Train in this process with the others of its team; the one that leads writes model and result to `folder`.

    Every process reads all shards and draws the same batches, so that any number of them makes the same updates.
    One that fails leaves its reason in `folder`, for torchrun tells nobody.
    """
    with noted(folder):
        _train(folder)


@contextmanager
def noted(folder: Path) -> Iterator[None]:
    """What goes wrong inside leaves its reason in `folder`, for `failure`."""
    try:
        yield
    except Exception as error:
        kind = "input" if isinstance(error, InputError) else "failure"
        name = f"{FAILED}-{kind}-{os.environ.get('RANK', '0')}.txt"
        (folder / name).write_text(str(error) if kind == "input" else f"{type(error).__name__}: {error}", "utf-8")
        raise


def _train(folder: Path) -> None:
    job = SharedTraining.load(folder)
    with team_of_processes(job.options.device) as (team, device):
        result = train_dialogue_classifier(
            job.start, read_shards(folder / "train"), read_shards(folder / "validation"), job.labels,
            replace(job.options, device=device), folder / MODEL, weighted=job.weighted, team=team,
            last=read_shards(folder / "last"),
        )  # fmt: skip
        if team.leads:
            write_facts(folder, result)


def write_facts(folder: Path, result: TrainResult | LanguageResult) -> None:
    """What came of a training, for `read_facts`."""
    facts = {"metrics": result.metrics, "best_epoch": result.best_epoch, "seconds": result.seconds}
    facts["history"] = [asdict(epoch) for epoch in result.history]
    (folder / RESULT).write_text(json.dumps(facts), encoding="utf-8")


def failure(folder: Path) -> Exception:
    """Why the training in `folder` failed, in one line: bad input first, then the lowest rank's reason."""
    for kind, error in (("input", InputError), ("failure", RuntimeError)):
        for note in sorted(folder.glob(f"{FAILED}-{kind}-*.txt")):
            line = next(iter(note.read_text("utf-8").strip().splitlines()), "no reason given")[:500]
            return error(line if error is InputError else f"a training process failed: {line}")
    return RuntimeError(
        f"the training's processes left no word in {folder}: see their logs, and that all machines share models.folder"
    )


def read_result(folder: Path, options: TrainingOptions) -> TrainResult:
    """What came of the training in `folder`."""
    facts = read_facts(folder)
    history = tuple(EpochMetrics(**epoch) for epoch in facts.pop("history"))
    return TrainResult(folder / MODEL, history=history, options=options, **facts)


def read_facts(folder: Path) -> dict[str, Any]:
    """Metrics, best epoch, seconds and history, as JSON holds them.

    Raises:
        InputError: the leading process wrote it where this one does not see it.
    """
    try:
        return dict(json.loads((folder / RESULT).read_text(encoding="utf-8")))
    except OSError:
        raise InputError(f"no {RESULT} in {folder}: set models.folder to a folder that all machines share") from None
