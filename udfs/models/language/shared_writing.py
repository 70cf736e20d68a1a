"""A training of a model that writes, in processes of its own: start, rows and options pass through a folder."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from udfs.models.language.causal_language_model import CausalLanguageModel, TokenRow
from udfs.models.language.language_model import LanguageEpoch, LanguageModel, LanguageOptions, LanguageResult
from udfs.models.language.reply_generator import EncodedReply, ReplyGenerator
from udfs.models.language.training import fit_language_model
from udfs.models.shared_job import MODEL, noted, read_facts, read_job, read_rows, write_facts, write_job, write_rows
from udfs.models.team import team_of_processes

UPDATES = "updates.json"
PARTS = ("train", "validation")
_IDS = pa.list_(pa.int32())


class Kind(NamedTuple):
    """A kind of model: how it is read, its encoded rows, and whether the processes hold a part of it each.

    Attributes:
        load: from the start's folder and the job's ``own``.
        row: one encoded row from a list a column of ``schema``.
        sharded: large models are cut up; small ones are whole in every process, which is faster.
    """

    load: Callable[..., LanguageModel]
    schema: pa.Schema
    row: Callable[..., Any]
    sharded: bool


KINDS: Mapping[str, Kind] = {
    ReplyGenerator.kind: Kind(
        ReplyGenerator.load,
        pa.schema([("ids", _IDS), ("start", pa.int32()), ("reply", _IDS)]),
        lambda ids, start, reply: EncodedReply(tuple(ids), start, tuple(reply)),
        sharded=False,
    ),
    CausalLanguageModel.kind: Kind(
        CausalLanguageModel.load,
        pa.schema([("ids", _IDS), ("learned", pa.list_(pa.bool_()))]),
        lambda ids, learned: TokenRow(tuple(ids), tuple(learned)),
        sharded=True,
    ),
}


@dataclass(frozen=True)
class SharedWriting:
    """What each process needs to know beside the rows.

    Attributes:
        kind: of ``KINDS``.
        start: the model's folder, which all processes see.
        options: of the training; the device is each process's own.
        checkpoints: folder that all processes see.
        own: what the kind's ``load`` is told beside the folder.
    """

    kind: str
    start: str
    options: LanguageOptions
    checkpoints: str
    own: Mapping[str, Any] = field(default_factory=dict)

    def put(self, rows: Sequence[Sequence[Any]], folder: Path) -> None:
        """Write all to `folder`; `rows` are those to train on and those to validate on."""
        for name, some in zip(PARTS, rows, strict=True):
            write_rows(some, KINDS[self.kind].schema, folder / name)
        write_job(asdict(self), folder)

    @classmethod
    def load(cls, folder: Path) -> "SharedWriting":
        """Read what `put` wrote beside the rows.

        Raises:
            InputError: this machine does not see the folder.
        """
        job = read_job(folder)
        options = {**job["options"], "betas": tuple(job["options"]["betas"])}
        return cls(**{**job, "options": LanguageOptions(**options)})


def train_shared(folder: Path) -> None:
    """Train in this process with the others of its team; the one that leads writes model and result to `folder`."""
    with noted(folder):
        job = SharedWriting.load(folder)
        kind = KINDS[job.kind]
        with team_of_processes(job.options.device) as (team, device):
            # Its number aside, for a checkpoint is known by the options: each process has its own GPU by default.
            options = replace(job.options, device=device.partition(":")[0])
            losses: dict[int, float] = {}
            train, valid = (read_rows(folder / name, kind.schema, kind.row) for name in PARTS)
            result = fit_language_model(
                kind.load(Path(job.start), **job.own), train, valid, options, folder / MODEL,
                team=replace(team, sharded=kind.sharded), checkpoints=Path(job.checkpoints),
                on_update=losses.__setitem__,
            )  # fmt: skip
            if team.leads:
                (folder / UPDATES).write_text(json.dumps(losses), encoding="utf-8")
                write_facts(folder, result)
            team.wait()


def read_result(folder: Path, options: LanguageOptions) -> LanguageResult:
    """What came of the training in `folder`."""
    facts = read_facts(folder)
    history = tuple(LanguageEpoch(**epoch) for epoch in facts.pop("history"))
    return LanguageResult(folder / MODEL, history=history, options=options, **facts)


def read_updates(folder: Path) -> dict[int, float]:
    """Each update's number and the mean loss of its tokens; those before an interruption are not among them."""
    return {int(number): loss for number, loss in json.loads((folder / UPDATES).read_text("utf-8")).items()}
