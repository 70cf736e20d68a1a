"""A response generator's training in processes of its own: start, encoded rows and options pass through a folder."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

from conf.errors import InputError
from udfs.models.language.language_model import LanguageEpoch, LanguageOptions, LanguageResult
from udfs.models.language.reply_generator import EncodedReply, ReplyGenerator
from udfs.models.language.training import fit_language_model
from udfs.models.shared_training import JOB, MODEL, noted, read_facts, write_facts
from udfs.models.team import team_of_processes

START = "start"
SHARD_ROWS = 100_000
_IDS = pa.list_(pa.int32())
SCHEMA = pa.schema([("ids", _IDS), ("start", pa.int32()), ("reply", _IDS)])


@dataclass(frozen=True)
class SharedReplies:
    """What each process needs to know beside the start and the rows.

    Attributes:
        options: of the training; the device is each process's own.
        checkpoints: folder that all processes see.
    """

    options: LanguageOptions
    checkpoints: str

    def put(self, model: ReplyGenerator, rows: Sequence[Sequence[EncodedReply]], folder: Path) -> None:
        """Write all to `folder`; `rows` are those to train on and those to validate on."""
        model.save(folder / START)
        for name, some in zip(("train", "validation"), rows, strict=True):
            write_rows(some, folder / name)
        (folder / JOB).write_text(json.dumps(asdict(self)), encoding="utf-8")

    @classmethod
    def load(cls, folder: Path) -> "SharedReplies":
        """Read what `put` wrote.

        Raises:
            InputError: this machine does not see the folder.
        """
        try:
            job = json.loads((folder / JOB).read_text(encoding="utf-8"))
        except OSError as error:
            raise InputError(
                f"{folder} cannot be read here ({error.strerror}): set models.folder to a shared folder"
            ) from None
        options = {**job["options"], "betas": tuple(job["options"]["betas"])}
        return cls(LanguageOptions(**options), job["checkpoints"])


def write_rows(rows: Sequence[EncodedReply], folder: Path, shard_rows: int = SHARD_ROWS) -> None:
    """Write encoded rows to `folder` as Parquet files, named in the rows' order."""
    folder.mkdir(parents=True)
    for number, first in enumerate(range(0, len(rows), shard_rows)):
        columns = list(zip(*rows[first : first + shard_rows], strict=True))
        parquet.write_table(pa.table(columns, schema=SCHEMA), folder / f"{number:05d}.parquet")


def read_rows(folder: Path) -> list[EncodedReply]:
    """The rows that `write_rows` wrote, in the same order."""
    rows = []
    for shard in sorted(folder.glob("*.parquet")):
        columns = [column.to_pylist() for column in parquet.read_table(shard, schema=SCHEMA).columns]
        rows += [EncodedReply(tuple(ids), start, tuple(reply)) for ids, start, reply in zip(*columns, strict=True)]
    return rows


def train_shared(folder: Path) -> None:
    """Train in this process with the others of its team; the one that leads writes model and result to `folder`."""
    with noted(folder):
        job = SharedReplies.load(folder)
        with team_of_processes(job.options.device) as (team, device):
            # Its number aside, for a checkpoint is known by the options: each process has its own GPU by default.
            options = replace(job.options, device=device.partition(":")[0])
            result = fit_language_model(
                ReplyGenerator.load(folder / START), read_rows(folder / "train"), read_rows(folder / "validation"),
                options, folder / MODEL, team=team, checkpoints=Path(job.checkpoints),
            )  # fmt: skip
            if team.leads:
                write_facts(folder, result)


def read_result(folder: Path, options: LanguageOptions) -> LanguageResult:
    """What came of the training in `folder`."""
    facts = read_facts(folder)
    history = tuple(LanguageEpoch(**epoch) for epoch in facts.pop("history"))
    return LanguageResult(folder / MODEL, history=history, options=options, **facts)
