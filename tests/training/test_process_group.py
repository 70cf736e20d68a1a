"""What the processes of a training share out and pass to each other."""

import json

import pytest
import torch

from conf.errors import InputError
from etl.edos.settings import EmotionClassifierSettings
from etl.training.loop.process_group import ALONE, ProcessGroup, process_group
from etl.training.loop.process_job import (
    TrainingJob,
    failure,
    finished,
    read_result,
    read_rows,
    write_result,
    write_rows,
)
from udfs.models.classifiers.classifier import LabelledRow
from udfs.models.classifiers.dialogue_classifier import DialogueClassifier
from udfs.models.classifiers.multi_label_classifier import MultiLabelClassifier
from udfs.models.trainable import EncodedRows, TrainingResult

OPTIONS = EmotionClassifierSettings()
ROWS = [
    LabelledRow((3, 4, 3), (2 / 3, 2 / 3, 1 / 3), (), 0),
    LabelledRow((0,), (1.0,), (1,), 40),
    LabelledRow((7, 50_000, 2), (4 / 7, 2 / 7, 1 / 7), (0, 0, 1), 3),
    LabelledRow((9,) * 30, (0.1,) * 30, (), 7),
    LabelledRow((1,), (1.0,), (), 1),
]


@pytest.mark.parametrize("rows", [0, 1, 2, 3, 256, 257])
@pytest.mark.parametrize("size", [1, 2, 3, 8])
def test_a_group_shares_out_every_row_once(rows: int, size: int) -> None:
    parts = [list(ProcessGroup(rank, size).local_rows(rows)) for rank in range(size)]
    assert sorted(place for part in parts for place in part) == list(range(rows))
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


def test_alone_nothing_travels() -> None:
    model = torch.nn.Linear(2, 2)
    assert ALONE.wrap(model) is model
    assert ALONE.total(1.5, torch.device("cpu")) == 1.5
    assert ALONE.leads
    assert not ProcessGroup(1, 2).leads
    assert ALONE.gathered(3) == [3]


@pytest.mark.parametrize("shard_rows", [1, 2, 5, 100])
def test_shards_keep_rows_and_their_order(tmp_path, shard_rows: int) -> None:
    write_rows(ROWS, DialogueClassifier.schema, tmp_path / "train", shard_rows)
    assert len(list((tmp_path / "train").iterdir())) == -(-len(ROWS) // shard_rows)
    assert read_rows(tmp_path / "train", DialogueClassifier) == ROWS
    several = [row._replace(truth=(row.truth, 2)) for row in ROWS]
    write_rows(several, MultiLabelClassifier.schema, tmp_path / "several", shard_rows)
    assert read_rows(tmp_path / "several", MultiLabelClassifier) == several


def test_a_job_comes_back_as_it_was(tmp_path) -> None:
    options = EmotionClassifierSettings(seed=7, precision="bf16", weighted=False)
    job = TrainingJob("dialogue_classifier", "/models/start", options)
    rows = EncodedRows(ROWS, ROWS[:2], [])
    job.write(rows, tmp_path)
    assert TrainingJob.read(tmp_path) == (job, rows)
    assert json.loads((tmp_path / "job.json").read_text())["options"]["seed"] == 7


def test_a_folder_that_is_not_shared_is_named(tmp_path) -> None:
    with pytest.raises(InputError, match="to a shared folder"):
        TrainingJob.read(tmp_path / "elsewhere")
    with pytest.raises(InputError, match=r"no result\.json in .*: set models.folder"):
        read_result(tmp_path, OPTIONS)


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a GPU")
def test_more_processes_than_gpus_are_refused() -> None:
    with pytest.raises(InputError, match="this machine has 0"), process_group("cuda"):
        raise AssertionError("no group without a GPU")


@pytest.mark.parametrize(
    ("notes", "kind", "text"),
    [
        (
            {"failure-0": "RuntimeError: Connection closed by peer", "input-1": "label id 4 is outside the taxonomy"},
            InputError,
            "label id 4 is outside the taxonomy",
        ),
        (
            {"failure-1": "RuntimeError: peer", "failure-0": "ArithmeticError: the loss is nan\nand more"},
            RuntimeError,
            "a training process failed: ArithmeticError: the loss is nan",
        ),
        ({"failure-0": ""}, RuntimeError, "a training process failed: no reason given"),
    ],
)
def test_a_failed_process_tells_why_in_one_line(tmp_path, notes, kind, text) -> None:
    for name, note in notes.items():
        (tmp_path / f"failed-{name}.txt").write_text(note)
    error = failure(tmp_path)
    assert (type(error), str(error)) == (kind, text)


def test_what_goes_wrong_after_the_end_changes_nothing(tmp_path) -> None:
    assert not finished(tmp_path)
    write_result(tmp_path, TrainingResult(tmp_path, {"loss": 0.5}, (), 1, 2.0, OPTIONS))
    assert finished(tmp_path)
    assert read_result(tmp_path, OPTIONS).metrics == {"loss": 0.5}
    (tmp_path / "failed-failure-1.txt").write_text("OSError: no space")
    assert not finished(tmp_path)


def test_processes_that_leave_no_word_are_told_too(tmp_path) -> None:
    assert "wrote no reason" in str(failure(tmp_path))
