"""A language model that two processes tune, each with a part of it: the same model as one process makes."""

import subprocess
import sys
from pathlib import Path

import pytest

from conf.training_options import TrainingOptions
from etl.training.loop.process_job import TrainingJob, finished, read_result, read_rows, read_updates, write_rows
from etl.training.loop.train import TrainingContext, train_model
from tests.udfs.tiny_models import tiny_language_model
from udfs.models.language.causal_language_model import CausalLanguageModel, TokenRow
from udfs.models.language.language_model import perplexity
from udfs.models.trainable import EncodedRows, TrainingResult, TrainingRows

OPTIONS = TrainingOptions(
    epochs=3,
    batch_size=1,
    effective_batch=3,
    learning_rate=1e-2,
    warmup_steps=2,
    keep="last",
    threads=1,
    device="cpu",
    precision="fp32",
)
KIND = CausalLanguageModel.kind


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_language_model(tmp_path_factory.mktemp("base"))


def rows(start: Path) -> list[TokenRow]:
    talks = [("when did he", " thank my friend"), ("you are so", " happy and glad"), ("i am not", " alone")]
    pieces = [[(said, False), (reply, True)] for said, reply in talks]
    return CausalLanguageModel.load(start).encode([*pieces, pieces[1]])


def in_one_process(start: Path, folder: Path, options: TrainingOptions, **told: object) -> TrainingResult:
    context = TrainingContext(say=str, **told)  # type: ignore[arg-type]
    given = TrainingRows(rows(start), rows(start)[:2])
    return train_model(lambda: CausalLanguageModel.load(start), given, options, folder, context)


def in_two_processes(start: Path, folder: Path, options: TrainingOptions, *kill: str) -> str:
    """What they say where the training did not come to its end."""
    folder.mkdir()
    job = TrainingJob(KIND, str(start), options, str(folder.parent / "checkpoints"), {"gradient_checkpointing": True})
    job.write(EncodedRows(rows(start), rows(start)[:2]), folder)
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    asked = [*launcher, "-m", "tests.udfs.sharded_tuning", str(folder), *kill]
    done = subprocess.run(asked, capture_output=True, text=True, timeout=240, check=False)
    return "" if finished(folder) else done.stderr[-20_000:] or "nothing was said"


def test_rows_come_back_from_their_shards(start: Path, tmp_path: Path) -> None:
    write_rows(rows(start), CausalLanguageModel.schema, tmp_path / "rows", shard_rows=3)
    assert read_rows(tmp_path / "rows", CausalLanguageModel) == rows(start)


@pytest.mark.slow
@pytest.mark.parametrize("keep", ["last", "best"])
def test_parts_of_a_model_learn_what_the_whole_does(start: Path, tmp_path: Path, keep) -> None:
    options = OPTIONS.model_copy(update={"keep": keep})
    updates = {}
    one = in_one_process(start, tmp_path / "one", options, on_update=updates.__setitem__)
    assert in_two_processes(start, tmp_path / "two", options) == ""
    two = read_result(tmp_path / "two", options)
    for ours, theirs in zip(one.history, two.history, strict=True):
        assert theirs.train_loss == pytest.approx(ours.train_loss, rel=1e-4)
        assert theirs.validation_loss == pytest.approx(ours.validation_loss, rel=1e-4)
    assert read_updates(tmp_path / "two") == pytest.approx(updates, rel=1e-4)
    assert perplexity(CausalLanguageModel.load(two.path), rows(start), 2) == pytest.approx(
        perplexity(CausalLanguageModel.load(one.path), rows(start), 2), rel=1e-3
    )


@pytest.mark.slow
def test_parts_go_on_from_a_checkpoint_to_the_same_model(start: Path, tmp_path: Path) -> None:
    assert in_two_processes(start, tmp_path / "killed", OPTIONS, "2") != ""
    assert [path.name for path in (tmp_path / "checkpoints").iterdir()] == ["epoch-00002"]
    assert in_two_processes(start, tmp_path / "again", OPTIONS) == ""
    again = read_result(tmp_path / "again", OPTIONS)
    assert list(read_updates(tmp_path / "again")) == [5, 6]  # of the third epoch alone
    one = in_one_process(start, tmp_path / "one", OPTIONS)
    for ours, theirs in zip(one.history, again.history, strict=True):
        assert theirs.validation_loss == pytest.approx(ours.validation_loss, rel=1e-4)
    assert not (tmp_path / "checkpoints").exists()
