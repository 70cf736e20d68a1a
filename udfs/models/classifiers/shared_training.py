"""A dialogue classifier's training in processes of its own: start, rows and options pass through a folder."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import pyarrow as pa

from udfs.models.classifiers.dialogue_classifier import Turns, train_dialogue_classifier
from udfs.models.classifiers.training import EpochMetrics, TrainingOptions, TrainResult
from udfs.models.shared_job import MODEL, noted, read_facts, read_job, read_rows, write_facts, write_job, write_rows
from udfs.models.team import team_of_processes

SCHEMA = pa.schema([("turns", pa.list_(pa.string())), ("label", pa.int32())])
PARTS = ("train", "validation", "last")
LabelledTurns = Sequence[tuple[Turns, int]]


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

    def put(self, rows: Sequence[LabelledTurns], folder: Path) -> None:
        """Write all to `folder`; `rows` are (turns, label id): to train on, to validate on, and of the last epochs."""
        for name, some in zip(PARTS, rows, strict=True):
            write_rows([(list(turns), label) for turns, label in some], SCHEMA, folder / name)
        write_job(asdict(self), folder)

    @classmethod
    def load(cls, folder: Path) -> "SharedTraining":
        """Read what `put` wrote beside the rows.

        Raises:
            InputError: this machine does not see the folder.
        """
        job = read_job(folder)
        return cls(job["start"], tuple(job["labels"]), TrainingOptions(**job["options"]), job["weighted"])


def labelled_turns(turns: Sequence[str], label: int) -> tuple[tuple[str, ...], int]:
    """A row from its values in a shard."""
    return tuple(turns), label


def train_shared(folder: Path) -> None:
    """Train in this process with the others of its team; the one that leads writes model and result to `folder`.

    Every process reads all shards and draws the same batches, so that any number of them makes the same updates.
    """
    with noted(folder):
        job = SharedTraining.load(folder)
        with team_of_processes(job.options.device) as (team, device):
            train, valid, last = (read_rows(folder / name, SCHEMA, labelled_turns) for name in PARTS)
            result = train_dialogue_classifier(
                job.start, train, valid, job.labels, replace(job.options, device=device), folder / MODEL,
                weighted=job.weighted, team=team, last=last,
            )  # fmt: skip
            if team.leads:
                write_facts(folder, result)
            team.wait()


def read_result(folder: Path, options: TrainingOptions) -> TrainResult:
    """What came of the training in `folder`."""
    facts = read_facts(folder)
    history = tuple(EpochMetrics(**epoch) for epoch in facts.pop("history"))
    return TrainResult(folder / MODEL, history=history, options=options, **facts)
